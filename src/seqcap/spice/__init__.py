"""SPICE (Anderson et al., ECCV 2016) with spaCy's parser in place of Stanford's: no Java, and fast enough for a reward.

What it computes is named "SPICE (spaCy)" wherever it is shown: the parser differs, and so do the numbers, slightly.
"""

from seqcap.spice.cache import CachedParser
from seqcap.spice.metric import NAME, CategoryScores, Spice
from seqcap.spice.parser import Parser
from seqcap.spice.reward import SpiceReward

__all__ = ["NAME", "CachedParser", "CategoryScores", "Parser", "Spice", "SpiceReward"]
