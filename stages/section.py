"""A paper's page, its details and its results: `section.py <paper>` -> reports/<paper>."""

from seqcap import papers
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.report.inputs import Results
from seqcap.report.reported import SectionConfig
from seqcap.report.section import write_section


def stages(project: Project) -> Stages:
    for paper, params in project.params.papers.items():
        own = [f"artifacts/{paper}/{part}" for part in ("train", "decode", "results")]
        pages = [path for kind in ("tables", "figures", "rating") for path in project.written(kind, paper)]
        modules, data = papers.sources(paper, "section")
        yield Stage(
            paper,
            f"The page of {paper}, and its results, which the first page reads",
            SectionConfig(**project.paper(paper), comparisons=params.comparisons),
            reads=[*project.written("data", params.pictures), *own, *pages],
            writes=[f"reports/{paper}/{part}" for part in ("report.md", "details.md", "results")],
            paper=paper,
            cached=False,
            modules=modules,
            data=data,
        )


def run(config: SectionConfig, paper: str) -> None:
    write_section(Results.read(config, papers.load(paper)), config.comparisons)


KIND = Kind("section", SectionConfig, stages, run)

if __name__ == "__main__":
    main(KIND)
