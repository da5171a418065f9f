"""Configuration of stage `rating`: a paper's part of the report, and a judge of its images."""

from seqcap.config.report import PaperConfig


class RatingConfig(PaperConfig):
    judge: str  # folder of the retriever whose first seed says which images are similar
