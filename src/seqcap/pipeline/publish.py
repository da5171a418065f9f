"""Copies papers' results out of an experiment's clone, and never replaces what it has not written."""

import hashlib
import os
import shutil
from collections.abc import Collection
from pathlib import Path

from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.files.writing import beside, leftovers
from seqcap.pipeline.repro import open_dvc, run_python
from seqcap.report import REPORTS

# Marks a publication. It holds the path of the experiment's file and a hash of every file that was published.
MARKER = ".published"
FEATURES = "features"  # the folder of what probes found in features
REPORTED = Path("configs/report.json")  # the configuration that names the papers that take part


def check_publication(target: Path, clone: Path) -> None:
    """Checks that the publication of a clone's reports may replace a folder: it is new, empty or as it was published.
    An `InputError` if it holds anything else, which would be lost."""
    if target.is_symlink():
        raise InputError(target, "is a link", "name a folder")
    if target.exists() and not target.is_dir():
        raise InputError(target, "is a file", "name a folder")
    folder, here, clone = target.resolve(), Path.cwd().resolve(), clone.resolve()
    if here.is_relative_to(folder) or clone.is_relative_to(folder) or folder.is_relative_to(clone):
        raise InputError(target, f"holds the checkout, or is part of {clone}", "name a folder of its own")
    above = next(parent for parent in folder.parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(target, f"cannot be made in {above}", "name a folder elsewhere")
    if (target / MARKER).is_file():
        published = (target / MARKER).read_text(encoding="utf-8").splitlines()[1:]
        for line in _listing(folder):
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


def publish(
    clone: Path, target: Path, experiment: Path, papers: Collection[str], *, python: Path | None = None
) -> None:
    """Replaces the folders of some papers in a publication by those of a clone, and makes its first page anew from what
    it holds then. Other papers of the experiment stay as they were published, perhaps by another machine. After a kill,
    the folder holds the earlier or the new publication; or the next call puts the earlier one back. `python` as in
    `run_python`."""
    check_publication(target, clone)
    folder = target.resolve()
    fresh = beside(folder, "tmp")
    written = _written(clone)
    try:
        recover(folder)
        fresh.mkdir(parents=True)
        for paper in read_json(clone / REPORTED)["papers"]:
            if paper not in papers and (folder / paper).is_dir():
                shutil.copytree(folder / paper, fresh / paper)
        for out in written:
            if out.parts[0] in papers or out.match(f"{FEATURES}/*.json"):
                _copy(clone / REPORTS / out, fresh / out)
        if run_python(clone, "stages/report.py", str(fresh), python=python) != 0:
            raise InputError("stages/report.py", f"failed on the results in {clone / REPORTS}", "see above")
        marker = [shown(experiment), *_listing(fresh)]
        (fresh / MARKER).write_text("".join(f"{line}\n" for line in marker), encoding="utf-8")
        # Before it gets its name: it must not be lost with the power.
        os.sync()
        check_publication(target, clone)
        if folder.exists():
            folder.rename(beside(folder, "old"))
        fresh.rename(folder)
    except OSError as error:
        fix = f"the reports are in {clone / REPORTS}"
        raise InputError(target, f"cannot be published to ({error})", fix) from None
    finally:
        recover(folder)


def shown(experiment: Path) -> str:
    """The path of an experiment's file in the checkout; its name if it is elsewhere."""
    path, here = experiment.resolve(), Path.cwd().resolve()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name


def _written(clone: Path) -> list[Path]:
    """What the stages of a clone write below reports/, where there is also what is committed there."""
    folder = (clone / REPORTS).resolve()
    with open_dvc(clone) as repo:
        outs = [Path(out.fs_path) for stage in repo.index.stages for out in stage.outs]
    return [out.relative_to(folder) for out in outs if out.is_relative_to(folder)]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


def recover(folder: Path) -> None:
    """Cleans up after a kill: removes half a copy beside a publication, and puts back an earlier one that is gone."""
    for half in leftovers(folder, "tmp"):
        shutil.rmtree(half, ignore_errors=True)
    for before in leftovers(folder, "old"):
        if folder.exists():
            # Renamed first: under this name nobody puts it back, even if a kill leaves half of it.
            shutil.rmtree(before.rename(beside(folder, "tmp")), ignore_errors=True)
        else:
            before.rename(folder)
