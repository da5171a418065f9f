"""The list of all metrics. It imports little, because everything that names a metric imports it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

from seqcap.errors import InputError

Direction = Literal["higher", "lower", ""]
Level = Literal["caption", "set", "corpus"]


@dataclass(frozen=True)
class Metric:
    """What there is to know of a metric in order to show it.

    Attributes:
        name: in scores, and in the columns of this package's tables.
        label: in text.
        direction: which values are better; "" if neither.
        scale: of tables, 1 or 100.
        decimals: of unscaled values in CSV files.
        level: what has a value: each caption, each item's set of captions, or all captions together.
        unit: "%", "words", "nats" or "bits"; "" for a score or a share.
        spacy: whether it uses spaCy's parser instead of the official one.
        statistics: name of the counts from which a corpus metric is computed; metrics may share them.
    """

    name: str
    label: str
    direction: Direction = "higher"
    scale: float = 1
    decimals: int = 4
    level: Level = "caption"
    unit: str = ""
    spacy: bool = False
    statistics: str = ""

    @property
    def shown(self) -> str:
        """Its name in `seqcap score`."""
        return f"{self.name} (spaCy)" if self.spacy else self.name

    @property
    def note(self) -> str:
        """A note for readers of its values; usually empty."""
        return SPACY_NOTE if self.spacy else ""

    @property
    def curve(self) -> str:
        """Its name in learning curves, of greedy captions of the validation split."""
        return f"val_{self.name.lower()}"

    def digits(self, scale: float) -> int:
        """Digits after the point of values times `scale`, 1 or 100."""
        return self.decimals - 2 if scale == 100 else self.decimals


SPACY_NOTE = "SPICE (spaCy): SPICE's tuples from spaCy's parses, not from the official parser"
# Retrievers that find images by captions or captions by images: a run's own listener, or one that no run has seen, of
# another kind or of the same.
_LISTENERS = {"own": "own listener", "fixed": "judge", "twin": "twin"}
# What is exchanged in captions that a retriever is to tell from people's (`seqcap.world.exchange`).
FACTS = ("object", "number", "colour", "size", "texture", "action", "relation", "background")
_ALL = (
    *(
        Metric(f"BLEU{order}", f"BLEU-{order}", scale=100, level="corpus", statistics="BLEU1-4")
        for order in (1, 2, 3, 4)
    ),
    Metric("METEOR", "METEOR", scale=100),
    Metric("ROUGE_L", "ROUGE-L", scale=100),
    Metric("CIDEr", "CIDEr", scale=100),
    Metric("SPICE", "SPICE", scale=100, spacy=True),
    # The mean of CIDEr and SPICE, as all report it; the papers' own is the sum (Liu et al., ICCV 2017).
    Metric("SPIDEr", "SPIDEr", scale=100, spacy=True),
    Metric("SPIDEr_sum", "SPIDEr (sum)", scale=100, spacy=True),
    Metric("BLEU", "BLEU", scale=100, level="corpus", statistics="BLEU"),
    Metric("precision_true", "true precision"),
    Metric("recall_true", "true recall"),
    Metric("f1_true", "true F1"),
    Metric("all_true", "true captions", scale=100),
    Metric("Div1", "Div-1", level="set"),
    Metric("Div2", "Div-2", level="set"),
    *(
        Metric(f"mBleu{order}", f"mBLEU-{order}", "lower", level="corpus", statistics="mBleu1-4")
        for order in (1, 2, 3, 4)
    ),
    Metric("self-CIDEr", "self-CIDEr", level="set"),
    Metric("Self-BLEU4", "Self-BLEU-4", "lower", level="corpus"),
    Metric("oracle", "oracle CIDEr", scale=100, level="corpus"),
    Metric("vocabulary", "vocabulary", decimals=0, level="corpus", unit="words"),
    Metric("novel", "novel captions", level="corpus", unit="%"),
    Metric("unique", "unique captions", level="corpus", unit="%"),
    Metric("length", "length", "", level="corpus", unit="words"),
    Metric("bad_endings", "bad endings", "lower", level="corpus", unit="%"),
    Metric("log_prob_mean", "mean log-probability", "", level="corpus", unit="nats"),
    *(
        Metric(f"{listener}_R@{k}", f"R@{k} ({who})", scale=100)
        for listener, who in _LISTENERS.items()
        for k in (1, 5, 10)
    ),
    *(
        Metric(f"{listener}_text_R@{k}", f"R@{k} of captions ({who})", scale=100, level="set")
        for listener, who in _LISTENERS.items()
        for k in (1, 5, 10)
    ),
    *(
        Metric(f"{listener}_rank", f"rank of the own picture ({who})", "lower", decimals=2)
        for listener, who in _LISTENERS.items()
    ),
    *(
        Metric(
            f"{listener}_told_{fact}{where}", f"exchanged captions below the true one, {fact} ({who}{how})", scale=100
        )
        for listener, who in _LISTENERS.items()
        for where, how in {"": "", "_elsewhere": ", another image"}.items()
        for fact in FACTS
    ),
    # NLTK's sentence BLEU of 5-grams, each caption against those of other images; Self-BLEU4 is over captions of a set.
    Metric("Self-BLEU", "Self-BLEU", "lower", scale=100),
    Metric("fixed_choice", "choice between two pictures (judge)", scale=100),
    Metric("true_of_own", "true captions", scale=100),
    Metric("alone", "captions true of one scene alone", scale=100),
    Metric("bits", "bits of the choice that are settled", unit="bits"),
    *(Metric(f"literal_R@{k}", f"R@{k} (literal listener)", scale=100) for k in (1, 5, 10)),
    Metric("unparsed", "statements that the checker cannot read", "lower"),
    Metric("xe_log_prob", "log-probability of a word under XE", unit="nats"),
    Metric("better_english", "captions that automatic raters prefer", scale=100),
    Metric("words", "words", "", unit="words"),
    Metric("seq-rep-2", "seq-rep-2", "lower"),
)
METRICS = {metric.name: metric for metric in _ALL}
QUALITY = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "METEOR", "ROUGE_L", "CIDEr", "SPICE", "SPIDEr")
QUALITY_TABLE = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "ROUGE_L", "METEOR", "CIDEr", "SPICE", "SPIDEr_sum")
SERVER = ("BLEU1", "BLEU2", "BLEU3", "BLEU4", "METEOR", "ROUGE_L", "CIDEr", "SPICE")
# Diversity of a decoder's captions, and the quality of the best of them.
DIVERSITY = (
    *("Div1", "Div2", "mBleu1", "mBleu2", "mBleu3", "mBleu4", "self-CIDEr", "Self-BLEU4", "oracle"),
    *("vocabulary", "novel", "unique", "length", "bad_endings"),
)
_REWARD = "reward_"


def find(name: str) -> Metric:
    """Finds a metric by its name in the scores: one of `METRICS`, `reward_<name>`, or "<metric> c<number of
    references>". InputError if there is none."""
    if name in METRICS:
        return METRICS[name]
    if name.startswith(_REWARD) and name != _REWARD:
        return Metric(name, f"reward {name.removeprefix(_REWARD)}")
    base, _, references = name.rpartition(" ")
    if base in METRICS and re.fullmatch(r"c\d+", references):
        known = METRICS[base]
        statistics = known.statistics and f"{known.statistics} {references}"
        return replace(known, name=name, label=f"{known.label} {references}", statistics=statistics)
    raise InputError("metrics", f"{name!r} is not known", f"choose among {', '.join(METRICS)}")


# Other names that people use, in lower case and without marks.
_SPELLINGS = {"bleu": QUALITY[:4], "rouge": ("ROUGE_L",), "ciderd": ("CIDEr",)}
_SPELLINGS |= {"spicespacy": ("SPICE",), "spiderspacy": ("SPIDEr",)}


def find_metrics(names: Iterable[str]) -> list[str]:
    """Metrics of `QUALITY` by names in any case and spelling (`BLEU-4`; `bleu` is all four); InputError for others."""
    known: dict[str, tuple[str, ...]] = {_plain(name): (name,) for name in QUALITY} | _SPELLINGS
    found: list[str] = []
    for name in names:
        if _plain(name) not in known:
            if _plain(name) in ("clipscore", "refclipscore"):
                raise InputError("metrics", f"{name!r} needs images", "call seqcap.clip_score (docs/python.md)")
            close = get_close_matches(_plain(name), known, 1)
            meant = f"did you mean {known[close[0]][0]}? or " if close else ""
            raise InputError("metrics", f"{name!r} is not known", f"{meant}choose among {', '.join(QUALITY)}")
        found += known[_plain(name)]
    return [metric for metric in QUALITY if metric in found]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
