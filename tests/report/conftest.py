"""The papers' invented runs."""

from invented_papers import psst, sle, smoothing, spider, wtfrl

__all__ = ["psst", "sle", "smoothing", "spider", "wtfrl"]
