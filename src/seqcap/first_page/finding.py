"""One thing that the first page tells: the answer for a reader in a hurry, and what stands elsewhere for the others."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """`answer` begins in lower case, since its topic stands before it, and has no stop at its end."""

    topic: str
    answer: str
    caveat: str = ""  # what follows the answer: nobody should have the one without the other
    details: str = ""  # sentences that stand further down
    is_measured_by_judge: bool = False  # so that the judge is described with `details`
