"""An invented run of all objectives on one captioner, with the runs of papers/across/runs.yaml."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from invented_runs import PaperRun, Rows, Table, counts_of, rng_of

from seqcap.papers.across.tables import FILE
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.report.inputs import HUMAN
from seqcap.report.reported import ReportedRun

ROOT = Path(__file__).parents[1]


@cache
def entries() -> dict[str, ReportedRun]:
    """Those of the papers; a user's own do not change the invented pages."""
    config = Project(read_params(ROOT)).stages("section")["across"].config
    budget = FILE.budgets["scenes"]
    of_papers = {"across_start", *budget.steps, *budget.longer, *FILE.temperatures, *FILE.tempered}
    return {entry.name: entry for entry in config.runs if entry.name in of_papers}


@dataclass
class AcrossRun(PaperRun):
    """Run after run quality grows and diversity falls; captions are the more often true the better they are, but the
    judge finds those of the middle best."""

    paper = "across"

    names: list[str] = field(default_factory=lambda: [name for name, entry in entries().items() if entry.row])

    def entry(self, name: str) -> ReportedRun:
        return entries()[name].model_copy(update={"seeds": self.seeds, "decoded": f"artifacts/across/{name}.parquet"})

    def quality(self, name: str) -> float:
        """From 0 to 1; of another temperature as at 1."""
        with_a_row = [entry.name for entry in entries().values() if entry.row]
        known = "across_xe" if name in FILE.temperatures else name.removesuffix("_tempered")
        return with_a_row.index(known) / (len(with_a_row) - 1)

    def levels(self, name: str) -> dict[tuple[str, str, bool], float]:
        """Decoder, metric and whether it is of a set -> its level; of another temperature only samples have any."""
        good = self.quality(name)
        warm = FILE.temperatures.index(name) - FILE.temperatures.index("across_xe") if name in FILE.temperatures else 0
        warm += name in FILE.tempered
        levels = {
            ("beam", "CIDEr", False): 0.6 + 0.2 * good,
            ("sample", "CIDEr", False): 0.3 + 0.4 * good - 0.1 * warm,
            ("beam", "fixed_R@10", False): 0.4 + 1.2 * good * (1 - good),
            ("beam", "twin_R@10", False): 0.4 + 0.2 * good,
            ("beam", "own_R@10", False): 0.4 + 0.3 * good,
            ("beam", "literal_R@10", False): 0.5 - 0.2 * good,
            ("beam", "all_true", False): 0.5 + 0.3 * good,
            ("beam", "precision_true", False): 0.6 + 0.3 * good,
            ("beam", "recall_true", False): 0.4 - 0.1 * good,
            ("beam", "words", False): 9.0,
            ("beam", "Self-BLEU", False): 0.5 + 0.4 * good,
            ("sample", "Div1", True): 0.6 - 0.3 * good,
            ("sample", "Div2", True): 0.8 - 0.4 * good + 0.05 * warm,
            ("sample", "recall_true", True): 0.5 - 0.1 * good,
        }
        return {of: level for of, level in levels.items() if entries()[name].row or of[0] == "sample"}

    def scores(self, evaluation: str) -> Rows:
        table = Table(self.missing)
        for entry in self.entries():
            for seed in entry.seeds:
                noise = rng_of(seed, entry.name).normal(0, 0.01, self.images)
                for (decoder, metric, of_set), level in self.levels(entry.name).items():
                    for item, more in enumerate(noise):
                        rank = None if of_set else 0
                        table.add(entry.name, seed, item, decoder, rank, metric, level + float(more))
                keys = {"run": entry.name, "seed": seed, "decoder": "sample"}
                table.rows += counts_of(keys, "mBleu1-4", 0.2 + 0.5 * self.quality(entry.name) + noise, self.samples)
        for item, more in enumerate(rng_of(0, HUMAN).normal(0, 0.01, self.images)):
            table.add(HUMAN, 0, item, "sample", 0, "precision_true", 0.9 + float(more))
        return table.rows

    def curves(self, name: str) -> Rows:
        keys = {"run": name, "images": 0, "quantity": "val_cider"}
        gains = (0.0, 0.1, 0.1) if self.entry(name).epochs else (0.0,)
        rows: Rows = [
            keys | {"seed": seed, "step": 10 * epoch, "value": 0.6 + gain * self.quality(name)}
            for seed in self.entry(name).seeds
            for epoch, gain in enumerate(gains)
        ]
        # What a retriever pays is validated by it, too.
        return rows + [row | {"quantity": "val_R@10"} for row in rows if name == "across_wtf_rl"]
