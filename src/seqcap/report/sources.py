"""What sides of claims share whose number is more than a run's score (`claims.Source`)."""

from dataclasses import dataclass

from seqcap.report.inputs import Results


@dataclass(frozen=True)
class OfOneRun:
    """A side whose number is made from one run, all of it.

    Attributes:
        run: its name.
    """

    run: str

    @property
    def runs(self) -> tuple[str, ...]:
        return (self.run,)

    def read_from(self, results: Results) -> tuple[str, ...]:
        return self.runs
