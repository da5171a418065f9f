"""Data sets, one module each, and the vocabulary."""
