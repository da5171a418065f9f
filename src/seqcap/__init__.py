"""Captioning trained with sequence-level objectives: five papers, one reproducible pipeline."""

__version__ = "0.1.0"
