"""Which point of a paper's page the table across papers takes: `python benchmarks/points.py`.

Of each method that trades CIDEr for something else, every weight that the committed learning curves have: CIDEr of
greedy captions of val and what the method is for, means of the last three epochs over seeds. Named is the best of those
that lose at most 2 of CIDEr against the start of the same seeds."""

import re
from pathlib import Path

import pandas as pd

LOSS = 0.02  # of CIDEr
# Run of papers/across/runs.yaml -> paper, the names of its runs, and what it is for.
METHODS = {
    "across_psst": ("psst", r"multinomial_w\d+", "val_R@10"),
    "across_st": ("psst", r"st_w\d+", "val_R@10"),
    "across_reinforce": ("psst", r"reinforce_w\d+", "val_R@10"),
    "across_luo": ("psst", r"luo_w\d+", "val_R@10"),
    "across_sll_sle": ("sle", r"sll_sle|sll_sle_\d+|sweep_pairwise_\d+", "val_distinct"),
}


def points(paper: str, names: str, purpose: str) -> pd.DataFrame:
    """A row per run: CIDEr at the end and at the start, and its purpose at the end."""
    curves = pd.read_csv(Path("reports") / paper / "results/curves.csv")
    rows = {}
    for name, its in curves.groupby("run"):
        if not re.fullmatch(names, str(name)):
            continue
        lines = its.pivot_table(index="step", columns=["quantity", "seed"], values="value")
        cider, good = lines["val_cider"].dropna(), lines[purpose].dropna()
        rows[name] = {
            "CIDEr": cider.to_numpy()[-3:].mean(),
            "start": cider.to_numpy()[0].mean(),
            purpose: good.to_numpy()[-3:].mean(),
            "seeds": cider.shape[1],
        }
    return pd.DataFrame(rows).T


def main() -> None:
    for run, declared in METHODS.items():
        found = points(*declared)
        kept = found[found["CIDEr"] >= found["start"] - LOSS]
        best = kept[declared[2]].idxmax() if len(kept) else "none"
        print(f"{run}: {best}\n{found.round(3).to_string()}\n")


if __name__ == "__main__":
    main()
