"""The version of the package, in a file that no training reads: a new one makes no number stale."""

__version__ = "0.2.0"
