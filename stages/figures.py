"""A paper's figures: `figures.py <paper>` -> reports/<paper>/figures."""

from seqcap import papers
from seqcap.pipeline.kind import Kind, Project, Stage, Stages, main
from seqcap.report.drawing.figures import write_figures
from seqcap.report.inputs import Results
from seqcap.report.reported import PaperConfig


def stages(project: Project) -> Stages:
    for paper in project.params.papers:
        config = PaperConfig(**project.paper(paper))
        shown = [task for task in (config.pictures, config.clips) if task is not None]
        data = [path for task in shown for path in project.written("data", task)]
        own = [f"artifacts/{paper}/{part}" for part in ("train", "decode", "results")]
        modules, files = papers.sources(paper, "figures")
        yield Stage(
            paper,
            f"The figures of {paper}",
            config,
            reads=[*data, *own],
            writes=[f"reports/{paper}/figures"],
            paper=paper,
            cached=False,
            written_as="plots",
            modules=modules,
            data=files,
        )


def run(config: PaperConfig, paper: str) -> None:
    write_figures(Results.read(config, papers.load(paper)))


KIND = Kind("figures", PaperConfig, stages, run)

if __name__ == "__main__":
    main(KIND)
