"""Configuration of a paper's rating kit."""

from __future__ import annotations

from seqcap.config.report import PaperConfig


class RatingConfig(PaperConfig):
    """Stage `rating`: what the paper's part of the report reads, and a judge of its images.

    Attributes:
        judge: folder of the retriever that says which images are similar, seed<k>.safetensors; its first seed does.
    """

    judge: str
