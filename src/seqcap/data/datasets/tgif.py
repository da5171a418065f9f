"""TGIF, animated GIFs (Li et al., CVPR 2016)."""

from seqcap.data.tgif import read

__all__ = ["KIND", "read"]
KIND = "clips"
