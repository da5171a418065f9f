"""Stage `claims`: scores of every paper -> reports/claims.csv and claims.md."""

from seqcap.errors import one_line_errors
from seqcap.reporting.claims import run_claims, write_claims
from seqcap.reporting.papers import read_runs


def main() -> None:
    write_claims([(run, run_claims(run)) for run in read_runs()])


if __name__ == "__main__":
    with one_line_errors():
        main()
