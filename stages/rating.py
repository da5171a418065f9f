"""A web page on which people rate a paper's captions: `rating.py <paper>` -> reports/<paper>/rating."""

from seqcap import papers
from seqcap.pipeline.kind import Key, Kind, Project, Stage, Stages, main
from seqcap.pipeline.validation import Name, Section
from seqcap.rating.page import RatingConfig, write_kit
from seqcap.report.inputs import Results


class RatingParams(Section):
    """What a paper's file says of its raters' page."""

    judge: Name  # the retriever that says which images are similar


RATING: Key[RatingParams | None] = Key("rating", RatingParams | None, of_papers=True)


def stages(project: Project) -> Stages:
    params = project.params
    for paper in params.papers:
        wanted, pictures = params.of_paper(paper, RATING), params.papers[paper].pictures
        if wanted is None:
            continue
        fields = project.paper(paper)
        judge = project.retriever(wanted.judge, pictures, params.source(paper), "rating.judge")
        own = [f"artifacts/{paper}/{part}" for part in ("decode", "results")]
        modules, data = papers.sources(paper, "rating")
        yield Stage(
            paper,
            f"A page for people who judge the captions of {paper}",
            RatingConfig(**fields, judge=judge.folder),
            reads=[*project.task(pictures), *own, judge.folder],
            writes=[f"reports/{paper}/rating"],
            paper=paper,
            cached=False,
            modules=[*modules, judge.module],
            data=data,
        )


def run(config: RatingConfig, paper: str) -> None:
    write_kit(Results.read(config, papers.load(paper)), config.judge)


KIND = Kind("rating", RatingConfig, stages, run, keys=[RATING])

if __name__ == "__main__":
    main(KIND)
