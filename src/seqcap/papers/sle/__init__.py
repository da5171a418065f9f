"""Sequence-level exploration (Chen and Jin, CVPR 2020)."""
