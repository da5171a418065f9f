"""A paper's tables: `tables.py <paper>` -> reports/<paper>/tables."""

from seqcap import papers
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.report.inputs import Results
from seqcap.report.reported import PaperConfig
from seqcap.report.tables import write_tables


def stages(project: Project) -> Stages:
    for paper in project.params.papers:
        modules, data = papers.sources(paper, "tables")
        yield Stage(
            paper,
            f"The tables of {paper}, published numbers beside ours",
            PaperConfig(**project.paper(paper)),
            reads=[f"artifacts/{paper}/results"],
            writes=[f"reports/{paper}/tables"],
            paper=paper,
            cached=False,
            modules=modules,
            data=data,
        )


def run(config: PaperConfig, paper: str) -> None:
    write_tables(Results.read(config, papers.load(paper)))


KIND = Kind("tables", PaperConfig, stages, run)

if __name__ == "__main__":
    main(KIND)
