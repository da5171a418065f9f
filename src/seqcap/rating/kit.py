"""Writes a paper's kit: the page with questions on this run's captions and its key, or why there is no page."""

from seqcap.evaluation.retrieval import most_similar
from seqcap.files import writing
from seqcap.rating import PAGE, kit_folder
from seqcap.rating.page import write_page
from seqcap.report.inputs import Run
from seqcap.tasks import ARTIFACTS
from seqcap.world.scenes import SCENES_FILE, read_scenes


def write_kit(run: Run, judge: str) -> None:
    """Writes reports/<paper>/rating: page and key, or where there is nothing to show or to ask, README.md. `judge` is
    the folder of the retriever that says which images are similar."""
    task, folder = run.config.pictures, kit_folder(run.paper.name)
    why = f"The pictures are photographs ({run.dataset(task)}), which are not ours to show."
    if run.config.tasks[task].show:
        part = run.paper.find("rating")
        accuracy, naturalness = part.questions(run, most_similar(judge, task, run.split(task)))
        if accuracy or naturalness:
            scenes = read_scenes(ARTIFACTS / task / "data" / SCENES_FILE)
            write_page(folder / PAGE, accuracy, naturalness, "Captions of pictures", scenes)
            return
        why = "None of the methods that the paper's raters judged is part of this run."
    with writing.atomic(folder / "README.md") as path:
        path.write_text(f"# No page for raters\n\n{why}\n", encoding="utf-8")
