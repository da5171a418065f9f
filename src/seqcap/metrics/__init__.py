"""Evaluation of captions as words: quality against references, METEOR, diversity of sets. Never imports torch."""
