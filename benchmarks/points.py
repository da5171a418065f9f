"""Which point of a paper's page the table across papers takes: `python benchmarks/points.py`.

Of each method that trades CIDEr for distinctiveness, every weight that the committed learning curves have with three
seeds: CIDEr and R@10 of greedy captions of val, means of the last three epochs over seeds. Of those that lose at most 2
of CIDEr against the start of the same seeds and are within one point of their best R@10, named is the one of most
CIDEr."""

import re
from pathlib import Path

import pandas as pd

LOSS = 0.02  # of CIDEr
TIE = 0.01  # of R@10
LEAST_SEEDS = 3
PURPOSE = "val_R@10"
CURVES = Path("reports/psst/results/curves.csv")
# Run of papers/across/runs.yaml -> the names of PSST's own runs.
METHODS = {
    "across_psst": r"multinomial_w\d+",
    "across_st": r"st_w\d+",
    "across_reinforce": r"reinforce_w\d+",
    "across_luo": r"luo_w\d+",
}


def points(curves: pd.DataFrame, names: str) -> pd.DataFrame:
    """A row per run: CIDEr at the end and at the start, and R@10 at the end."""
    rows = {}
    for name, its in curves.groupby("run"):
        if not re.fullmatch(names, str(name)):
            continue
        lines = its.pivot_table(index="step", columns=["quantity", "seed"], values="value")
        cider, recall = lines["val_cider"].dropna(), lines[PURPOSE].dropna()
        rows[name] = {
            "CIDEr": cider.to_numpy()[-3:].mean(),
            "start": cider.to_numpy()[0].mean(),
            PURPOSE: recall.to_numpy()[-3:].mean(),
            "seeds": cider.shape[1],
        }
    return pd.DataFrame(rows).T


def chosen(found: pd.DataFrame) -> str:
    """The name of the point that the table takes."""
    kept = found[(found["CIDEr"] >= found["start"] - LOSS) & (found["seeds"] >= LEAST_SEEDS)]
    tied = kept[kept[PURPOSE] >= kept[PURPOSE].max() - TIE]
    return str(tied["CIDEr"].idxmax()) if len(tied) else "none"


def main() -> None:
    curves = pd.read_csv(CURVES)
    for run, names in METHODS.items():
        found = points(curves, names)
        print(f"{run}: {chosen(found)}\n{found.round(3).to_string()}\n")


if __name__ == "__main__":
    main()
