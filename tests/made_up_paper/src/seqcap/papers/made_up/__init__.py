"""A paper that does not exist."""

from seqcap.papers import KARPATHY_TEST, Paper

PAPER = Paper(name="made_up", label="Made-up", title="A Made-up Paper", published_on={"image": KARPATHY_TEST})
