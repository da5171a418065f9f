"""A small invented run of PSST, with known effects: methods on parallel curves, each a bit better than the other."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from invented_runs import PaperRun, Rows, Table, counts_of, rng_of

from seqcap.files import parquet, schemas
from seqcap.report.inputs import Results
from seqcap.report.reported import ReportedEvaluation, ReportedRun, ReportedTask

WEIGHTS = (1.0, 2.0, 4.0)
ST_FAMILY = {
    "annealed": {"distribution": "gumbel", "rho": 0.0, "anneal_rate": 0.001, "feedback_grad": False},
    "st_gumbel": {"distribution": "gumbel", "rho": 0.0, "feedback_grad": False},
    "st": {"distribution": "multinomial", "rho": 0.0, "feedback_grad": False},
    "multinomial_0": {"distribution": "multinomial", "rho": 0.0},
    "gumbel_0": {"distribution": "gumbel", "rho": 0.0},
    "gumbel": {"distribution": "gumbel", "rho": 0.25},
    "multinomial": {"distribution": "multinomial", "rho": 0.25},
    "multinomial_50": {"distribution": "multinomial", "rho": 0.5},
    "multinomial_75": {"distribution": "multinomial", "rho": 0.75},
    "multinomial_100": {"distribution": "multinomial", "rho": 1.0},
    "gumbel_100": {"distribution": "gumbel", "rho": 1.0},
}
OBJECTIVES = {
    "psst_mle": "cross_entropy",
    "g_gan": "gan",
    "luo": "discriminability",
    "sr_pl": "self_retrieval",
    "frozen_mle": "frozen_speaker",
    "frozen_luo": "frozen_speaker",
    "reinforce": "joint_reinforce",
    "luo_reference": "discriminability",
    "reinforce_greedy": "joint_reinforce",
} | dict.fromkeys(ST_FAMILY, "straight_through")
# Those with a single run.
ALONE = ("psst_mle", "g_gan", "frozen_mle")
# Method -> how much further out its curve lies, in recall and in CIDEr.
SKILL = {
    "psst_mle": 0.0,
    "g_gan": 0.0,
    "luo": 0.0,
    "sr_pl": 0.02,
    "frozen_mle": 0.02,
    "frozen_luo": 0.1,
    "annealed": 0.12,
    "reinforce": 0.16,
    "luo_reference": 0.01,
    "reinforce_greedy": 0.14,
    "st_gumbel": 0.2,
    "gumbel_0": 0.21,
    "st": 0.24,
    "multinomial_0": 0.25,
    "gumbel": 0.32,
    "multinomial": 0.36,
    "multinomial_50": 0.35,
    "multinomial_75": 0.34,
    "multinomial_100": 0.15,
    "gumbel_100": 0.14,
}
SECOND = ("reinforce", "st_gumbel", "st", "gumbel", "multinomial")


@dataclass
class PsstRun(PaperRun):
    """PSST: every method with three weights, on two domains; curves of w 1 to 4 go from CIDEr 1.3 to 1.1 and up in
    recall."""

    paper = "psst"

    images: int = 40
    samples: int = 0
    beam: int = 2
    methods: list[str] = field(default_factory=lambda: list(OBJECTIVES))
    second: bool = True
    # Added to every CIDEr.
    shift: float = 0.0
    # Method -> its seeds, where they are not all.
    fewer: dict[str, tuple[int, ...]] = field(default_factory=dict)
    # Rows that are changed before anybody reads them.
    without: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.names = [name for method in self.methods for name in self.of(method)]
        if self.second:
            self.names += [name for method in SECOND if method in self.methods for name in self.of(method, "2")]

    def of(self, method: str, domain: str = "") -> list[str]:
        return [method] if method in ALONE else [f"{method}{domain}_w{weight:g}" for weight in WEIGHTS]

    def split(self, name: str) -> tuple[str, float | None]:
        """Method and weight."""
        method, _, weight = name.rpartition("_w")
        return (method.removesuffix("2"), float(weight)) if method else (name, None)

    def tasks(self) -> dict[str, ReportedTask]:
        second = ReportedTask(kind="images", dataset=self.dataset, show=self.show)
        return super().tasks() | ({"image2": second} if self.second else {})

    def evaluations(self) -> dict[str, ReportedEvaluation]:
        tasks = ["image", "image2"] if self.second else ["image"]
        return {
            f"psst_{task}": self.evaluation(task, retrieval=(f"artifacts/psst/results/psst_{task}_retrieval.parquet",))
            for task in tasks
        }

    def entry(self, name: str) -> ReportedRun:
        method, weight = self.split(name)
        settings: dict[str, Any] = {} if weight is None or method == "frozen_luo" else {"weight": weight}
        if method in ST_FAMILY:
            settings |= {"temperature": 1.0, "anneal_rate": 0.0, "feedback_grad": True} | ST_FAMILY[method]
        start = "starts/pretrain/lstm"
        if method == "frozen_luo":
            start = f"artifacts/psst/train/luo_w{weight:g}"
        return self.reported(
            name,
            label=name,
            task="image2" if "2_w" in name else "image",
            objective=OBJECTIVES[method],
            settings=settings,
            reward=None if method == "psst_mle" else "cider",
            seeds=self.fewer.get(method, self.seeds),
            start=start,
        )

    def level(self, name: str) -> tuple[float, float]:
        """CIDEr and recall that a run has."""
        method, weight = self.split(name)
        doublings = 1.0 if weight is None else float(np.log2(weight))
        skill = SKILL[method]
        return 1.3 + self.shift - 0.1 * doublings, 0.3 + 0.1 * doublings + skill

    def scores(self, evaluation: str) -> Rows:
        """Those of the evaluation, and of retrieval."""
        return [*self.language(evaluation), *self.retrieval(evaluation)]

    def runs_of(self, evaluation: str) -> list[ReportedRun]:
        return [entry for entry in self.entries() if entry.evaluation == evaluation]

    def hard(self) -> Any:
        return np.random.default_rng(5).normal(0, 0.02, self.images)

    def language(self, evaluation: str) -> Rows:
        table = Table(self.missing)
        for entry in self.runs_of(evaluation):
            cider = self.level(entry.name)[0]
            for seed in entry.seeds:
                noise = self.hard() + rng_of(seed, entry.name).normal(0, 0.01, self.images)
                keys = {"run": entry.name, "seed": seed, "decoder": "greedy"}
                table.rows += counts_of(keys, "BLEU1-4", 0.3 * cider + noise)
                for item, more in enumerate(noise):
                    for metric, value in {
                        "CIDEr": cider,
                        "METEOR": cider / 5,
                        "ROUGE_L": cider / 2.5,
                        "SPICE": cider / 6,
                    }.items():
                        table.add(entry.name, seed, item, "greedy", 0, metric, value + more)
        if self.dataset == "scenes" and evaluation == "psst_image":
            for item in range(self.images):
                table.add("human", 0, item, "sample", 0, "all_true", 1.0)
        return table.rows

    def retrieval(self, evaluation: str) -> Rows:
        table = Table(self.missing)
        exact = self.dataset == "scenes"
        for entry in self.runs_of(evaluation):
            recall, method = self.level(entry.name)[1], self.split(entry.name)[0]
            # What a listener that learns finds, and nobody else.
            private = 0.1 * (
                method in ST_FAMILY or method in ("reinforce", "reinforce_greedy", "frozen_luo", "frozen_mle")
            )
            for seed in entry.seeds:
                noise = self.hard() + rng_of(seed, entry.name).normal(0, 0.01, self.images)
                for item, more in enumerate(noise):
                    values = {f"own_R@{k}": recall - of + more for k, of in ((1, 0.2), (5, 0.1), (10, 0.0))}
                    values |= {
                        f"fixed_R@{k}": recall - of + more - private for k, of in ((1, 0.2), (5, 0.1), (10, 0.0))
                    }
                    values |= {f"twin_R@{k}": values[f"fixed_R@{k}"] + 0.01 for k in (1, 5, 10)}
                    values |= {"own_rank": round(20 - 15 * recall), "fixed_rank": round(22 - 15 * recall)}
                    values |= {"fixed_choice": recall + 0.2 + more, "xe_log_prob": -1 + SKILL[method] + more}
                    if exact:
                        values |= {"true_of_own": 0.8 + more, "alone": recall / 2, "bits": 5 * recall + more}
                        values["literal_R@10"] = recall / 2
                        values |= {"unparsed": float(item % 7 == 0)}
                    for metric, value in values.items():
                        table.add(entry.name, seed, item, "greedy", 0, metric, value)
                    if private:
                        for k in (1, 5, 10):
                            table.add(f"human:{entry.name}", seed, item, "sample", 0, f"own_R@{k}", 0.2 + k / 50 + more)
        self.people(table, evaluation)
        return table.rows

    def people(self, table: Table, evaluation: str) -> None:
        for item, more in enumerate(self.hard()):
            values = {f"R@{k}": 0.3 + k / 50 + more for k in (1, 5, 10)} | {"rank": 8.0}
            table.add("human", 0, item, "sample", 0, "twin_R@10", 0.5 + more)
            # A second domain has other people: theirs must not be mixed up with these.
            other = 5.0 * (evaluation != "psst_image")
            for metric, value in values.items():
                table.add("human", 0, item, "sample", 0, f"fixed_{metric}", value + other)
                if metric != "rank":
                    table.add("human", 0, item, "sample", None, f"fixed_text_{metric}", value + other + 0.1)
                for seed in self.seeds:
                    name = "human:listener" if evaluation == "psst_image" else "human:listener2"
                    table.add(name, seed, item, "sample", 0, f"own_{metric}", value + 0.01 * seed)
                    if metric != "rank":
                        table.add(name, seed, item, "sample", None, f"own_text_{metric}", value + 0.2)
            values = {
                "fixed_choice": 0.9,
                "xe_log_prob": -1.5,
                "true_of_own": 1.0,
                "alone": 0.6,
                "bits": 5.0,
                "literal_R@10": 0.8,
                "unparsed": 0.0,
            }
            for metric, value in values.items():
                if self.dataset == "scenes" or metric in ("fixed_choice", "xe_log_prob"):
                    table.add("human", 0, item, "sample", 0, metric, value + other)

    def read(self) -> Results:
        """In memory; the second domain's people are left out, as reading the files does it."""
        rows = self.scores("psst_image")
        if self.second:
            rows += [row for row in self.scores("psst_image2") if not row["run"].startswith("human")]
        return self.of_rows(rows)

    def curves(self, name: str) -> Rows:
        rows = []
        cider, recall = self.level(name)
        for seed in self.entry(name).seeds:
            for step in (0,) if name == "psst_mle" else range(0, 121, 20):
                share = 1 - np.exp(-step / 40)
                keys = {"run": name, "seed": seed, "step": step, "images": step * 128}
                quantities = {"val_cider": 1.0 + (cider - 1.0) * share, "val_R@10": 0.3 + (recall - 0.3) * share}
                rows += [keys | {"quantity": quantity, "value": float(value)} for quantity, value in quantities.items()]
        return rows

    def write(self) -> Results:
        made = {name: self.language(name) for name in self.evaluations()}
        for name, evaluation in self.evaluations().items():
            parquet.write_rows(evaluation.retrieval[0], self.retrieval(name), schemas.SCORES)
        self.scores = lambda evaluation: made[evaluation]  # type: ignore[method-assign]
        return super().write()
