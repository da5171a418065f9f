"""Copies an experiment's reports out of its clone, and never replaces what it has not written."""

import hashlib
import os
import shutil
from collections.abc import Collection
from pathlib import Path

from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.files.writing import beside, leftovers
from seqcap.pipeline.graph import REPORT
from seqcap.pipeline.repro import run_python, sections, split_address, stage_graph, unfinished

# Marks a publication. It holds the path of the experiment's file and a hash of every file that was published.
MARKER = ".published"
# The parts of a report, a folder per paper; and the configuration that names the papers that take part.
PARTS = Path("artifacts/sections")
FEATURES = "features"  # the folder of the page on what the features hold
REPORTED = Path("configs/report.json")


def check_publication(target: Path, clone: Path) -> None:
    """Checks that the publication of a clone's reports may replace a folder: it is new, empty or as it was published.
    An `InputError` if it holds anything else, which would be lost."""
    for found, kind in ((target.is_symlink(), "link"), (target.exists() and not target.is_dir(), "file")):
        if found:
            raise InputError(target, f"is a {kind}", "name a folder")
    place, here, clone = target.resolve(), Path.cwd().resolve(), clone.resolve()
    if here.is_relative_to(place) or clone.is_relative_to(place) or place.is_relative_to(clone):
        raise InputError(target, f"holds the checkout, or is part of {clone}", "name a folder of its own")
    above = next(parent for parent in place.parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(target, f"cannot be made in {above}", "name a folder elsewhere")
    if (target / MARKER).is_file():
        published = (target / MARKER).read_text(encoding="utf-8").splitlines()[1:]
        for line in _listing(place):
            if line not in published:
                what = f"holds {line.split(maxsplit=1)[1]}, added or changed since it was published"
                raise InputError(target, what, "move that away, or name a new folder")
    elif target.exists() and any(target.iterdir()):
        raise InputError(target, "holds files, but no earlier publication", "name a new folder, or move it away")


def _listing(folder: Path) -> list[str]:
    """A hash and the name of every file in a folder but the marker, as `sha256sum` prints them."""
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            lines.append(f"link  {path.relative_to(folder)}")
        elif path.is_file() and path != folder / MARKER:
            lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}")
    return lines


def parts_of(folder: Path, papers: Collection[str]) -> list[str]:
    """The stages that the report depends on, without the sections of other papers."""
    wanted = sections(papers)
    others = stage_graph(folder, [REPORT])[REPORT] - set(wanted)
    return [*wanted, *sorted(stage for stage in others if not split_address(stage)[1].startswith("section-"))]


def join_parts(clone: Path, published: Path) -> None:
    """Makes the report in a clone, of the papers' parts that are up to date there. The other parts are those that were
    published earlier, perhaps by another machine."""
    papers = read_json(clone / REPORTED)["papers"]
    stale = unfinished(clone, stage_graph(clone, sections(papers)))
    for paper in papers:
        if sections([paper])[0] not in stale:
            continue
        # DVC will find them changed, and make them anew where they are wanted.
        parts = (published / "sections" / paper, clone / PARTS / paper), (published / paper, clone / "reports" / paper)
        for before, now in parts:
            shutil.rmtree(now, ignore_errors=True)
            if before.is_dir():
                shutil.copytree(before, now)
    if run_python(clone, "stages/report.py") != 0:
        raise InputError("stages/report.py", f"failed on the parts in {clone / PARTS}", "see above")


def publish(clone: Path, target: Path, experiment: Path) -> None:
    """Copies the reports and their parts out of a clone, and replaces an earlier publication. A paper without a part is
    left out. After a kill, the folder holds the earlier or the new publication; or the next call puts the earlier one
    back."""
    reports = clone / "reports"
    check_publication(target, clone)
    place = target.resolve()
    fresh = beside(place, "tmp")
    path, here = experiment.resolve(), Path.cwd().resolve()
    name = path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name
    papers = [paper for paper in read_json(clone / REPORTED)["papers"] if (clone / PARTS / paper).is_dir()]

    def ignored(folder: str, names: list[str]) -> list[str]:
        # The clone's reports/ also holds what is committed there, and what other experiments published.
        above = Path(folder) in (reports, clone / PARTS)
        return [name for name in names if above and Path(folder, name).is_dir() and name not in (*papers, FEATURES)]

    try:
        recover(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(reports, fresh, ignore=ignored)
        shutil.copytree(clone / PARTS, fresh / "sections", ignore=ignored)
        marker = [name, *_listing(fresh)]
        (fresh / MARKER).write_text("".join(f"{line}\n" for line in marker), encoding="utf-8")
        # Before it gets its name: it must not be lost with the power.
        os.sync()
        check_publication(target, clone)
        if place.exists():
            place.rename(beside(place, "old"))
        fresh.rename(place)
    except OSError as error:
        raise InputError(target, f"cannot be published to ({error})", f"the reports are in {reports}") from None
    finally:
        recover(place)


def recover(place: Path) -> None:
    """Cleans up after a kill: removes half a copy beside a publication, and puts back an earlier one that is gone."""
    for half in leftovers(place, "tmp"):
        shutil.rmtree(half, ignore_errors=True)
    for before in leftovers(place, "old"):
        if place.exists():
            # Renamed first: under this name nobody puts it back, even if a kill leaves half of it.
            shutil.rmtree(before.rename(beside(place, "tmp")), ignore_errors=True)
        else:
            before.rename(place)
