"""Scores of decoded captions as rows of `schemas.SCORES`, x1 scale; a module for each kind of task."""
