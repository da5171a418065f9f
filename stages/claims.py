"""Stage `claims`: scores -> reports/claims.csv and claims.md."""

from seqcap.errors import one_line_errors
from seqcap.reporting.claims import PAPERS, run_claims, write_claims
from seqcap.reporting.inputs import ReportConfig, Scores, read_variants


def main() -> None:
    variants = {paper: read_variants(paper) for paper in PAPERS}
    results = {paper: run_claims(paper, Scores.read(paper), variants[paper]) for paper in PAPERS}
    write_claims(results, [v for of_paper in variants.values() for v in of_paper], ReportConfig.read())


if __name__ == "__main__":
    with one_line_errors():
        main()
