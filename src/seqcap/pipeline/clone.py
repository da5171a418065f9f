"""The clone of a checkout that an experiment runs in. The checkout itself is never touched."""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from seqcap.errors import InputError
from seqcap.files.writing import beside, copy_file, leftovers
from seqcap.pipeline.graph import lock_files
from seqcap.tasks import STARTS

# What an experiment changes in its clone: its parameters, the graph, and what the pipeline writes and git tracks.
CHANGING = ("params.yaml", "papers", "dvc.yaml", "dvc.lock", "reports", "starts")
# What an experiment runs.
RUN = ("params.yaml", "papers", "scales", "dvc.yaml", "stages", "src")
LISTED = 20  # how many uncommitted files a warning lists
# With these variables git works on another repository than the one it is called for. Git's hooks set some of them.
REDIRECTIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX")


def update_clone(folder: Path) -> None:
    """Clones the current checkout into `folder`, at its last commit, or updates an earlier clone to that commit.
    It replaces what experiments change (`CHANGING`). An `InputError` if something else is at `folder`, or somebody has
    worked in the clone."""
    for leftover in leftovers(folder, "tmp"):
        shutil.rmtree(leftover, ignore_errors=True)
    if not os.path.lexists(folder):
        temporary = beside(folder, "tmp")
        try:
            git("clone", "--quiet", Path.cwd(), temporary, fix="run from the root of a checkout with a commit")
            # Renamed when it is complete: git would take half a clone for a folder of the user's checkout.
            temporary.rename(folder)
        except OSError as error:
            raise InputError(folder, f"cannot be made ({error.strerror})", "run the experiment again") from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return
    here, git_folder = Path.cwd().resolve(), folder.resolve() / ".git"
    # Without these options git also looks in the folders above, and finds the user's own checkout.
    repository = (f"--git-dir={git_folder}", f"--work-tree={folder.resolve()}")
    try:
        origin = Path(git(*repository, "config", "--get", "remote.origin.url").strip())
    except InputError:
        origin = folder
    if not git_folder.is_dir() or origin.resolve() != here or folder.resolve() == here:
        raise InputError(folder, "is not a clone of this checkout", "move it away")
    # What the clone has run: records of it, and what runs start from, which git has of the checkout's own data. With
    # those of the last commit, DVC would make unchanged data anew, and no training would resume from it.
    ran = git_folder / "seqcap-records"
    if ran.exists():
        # An update was killed, and has left some files of either commit.
        (git_folder / "index.lock").unlink(missing_ok=True)
    else:
        _check_untouched(folder, repository)
        for leftover in leftovers(ran, "tmp"):
            shutil.rmtree(leftover, ignore_errors=True)
        temporary = beside(ran, "tmp")
        _copy_all(lock_files(folder), folder, temporary)
        if (folder / STARTS).is_dir():
            shutil.copytree(folder / STARTS, temporary / STARTS, symlinks=True)
        # Renamed when it is complete.
        temporary.rename(ran)
    fix = f"correct that, or move {folder} away"
    git(*repository, "fetch", "--quiet", "origin", "HEAD", fix=fix)
    git(*repository, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD", fix=fix)
    _copy_all(lock_files(ran), ran, folder)
    if (ran / STARTS).is_dir():
        # The whole folder: a file of the checkout's beside them would be another output to DVC.
        shutil.rmtree(folder / STARTS, ignore_errors=True)
        shutil.copytree(ran / STARTS, folder / STARTS, symlinks=True)
    shutil.rmtree(ran)


def _copy_all(files: Collection[Path], source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for path in files:
        copy_file(source / path, target / path)


def _check_untouched(folder: Path, repository: Collection[str]) -> None:
    """Checks that a clone holds no work that its update would replace: a commit that the checkout lacks, or changes of
    files that no experiment changes."""
    commit = git(*repository, "rev-parse", "HEAD", fix="move it away").strip()
    try:
        git("cat-file", "-e", commit)
    except InputError:
        raise InputError(folder, f"has a commit of its own, {commit[:9]}", "fetch it, then move the clone") from None
    others = [f":(top,exclude){path}" for path in CHANGING]
    changes = git(*repository, "status", "--porcelain", "--untracked-files=all", "--", ":(top)", *others).splitlines()
    if changes:
        what = f"has changes of its own, first {changes[0].strip()!r}"
        raise InputError(folder, what, "commit them in the checkout, then move the clone")


def check_committed(experiment: Path, allow_dirty: bool) -> None:
    """Checks that what the experiment runs is committed, since it runs the last commit: an `InputError` names changes
    that are not. With `allow_dirty` it warns of them."""
    commit = git("rev-parse", "--short", "HEAD").strip()
    changes = git("--no-optional-locks", "status", "--porcelain", "--", *RUN).splitlines()
    if not changes:
        return
    more = [f"and {len(changes) - LISTED} more"] if len(changes) > LISTED else []
    lines = [f"the experiment runs commit {commit}, without these uncommitted changes:", *changes[:LISTED], *more]
    if not allow_dirty:
        fix = "commit them, or run without them by --allow-dirty"
        raise InputError(experiment, " ".join(line.strip() for line in lines), fix)
    print("warning: " + "\n".join(lines), file=sys.stderr, flush=True)


def check_out(folder: Path, commit: str, *paths: str | Path) -> None:
    """Writes a commit's files into a folder. Zipped, since of a tar file Python before 3.11.4 knows no filter."""
    archive = folder.with_suffix(".zip")
    git("archive", "--output", archive, commit, *paths)
    shutil.unpack_archive(archive, folder)


def git(*arguments: str | Path, fix: str = "run from a git checkout with a commit") -> str:
    kept = {name: value for name, value in os.environ.items() if name not in REDIRECTIONS}
    command = ["git", *map(str, arguments)]
    done = subprocess.run(command, env=kept, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode != 0:
        raise InputError("git", " ".join(done.stderr.split()), fix)
    return done.stdout
