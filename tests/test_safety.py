"""What must never cost a user their work: experiments in clones, publications, and files written through links."""

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pipeline_files import ROOT, git
from ruamel.yaml import YAML

from seqcap import cli
from seqcap.errors import InputError
from seqcap.files import json_file, writing
from seqcap.pipeline import run as pipeline

EXPERIMENT = Path("experiments/e.yaml")
CLONE = Path("runs/e")
LOCK = Path("runs/.e.lock")
TARGET = Path("out/e")
# A repository as small as an experiment can do with.
COMMITTED = {
    ".gitignore": "/artifacts/\n/configs/\n/runs/\n/ignored\n",
    "code.py": "committed\n",
    "dvc.yaml": "stages: {}\nplots:\n- Learning curves:\n    y: {}\n",
    "experiments/e.yaml": "{}\n",
    "params.yaml": """\
# What all share.
seed: 1
tasks:
  image:
    root: null
    # In words.
    max_length: 18
    lengths: [1, 2]
  de_en:
    root: null
captioners:
  lstm: {seeds: 3}
  attention: {seeds: 1}
""",
    "papers/sle.yaml": """\
papers:
  sle: {pictures: image}
evaluations:
  sle_image: {task: image}
groups:
  sle_xe: {paper: sle, evaluation: sle_image}
runs:
  xe:
    group: sle_xe
    training:
      epochs: 3
  sll: {like: xe}
ensembles:
  both: {run: sll}
""",
    "papers/spider.yaml": "papers:\n  spider: {}\ngroups: {}\nruns:\n  mle: {}\nvariances:\n  spider: {images: 4}\n",
    "reports/report.md": "new\n",
    "reports/sle/tables/quality.csv": "1\n",
    "reports/spider/tables/quality.csv": "2\n",
    "reports/flickr8k/.published": "experiments/flickr8k.yaml\n",
    "reports/flickr8k/report.md": "of another experiment\n",
}


def published(files):
    """A publication of some files."""
    lines = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return files | {".published": "".join(["experiments/e.yaml\n", *lines])}


SPIDER = {"spider/tables/quality.csv": "2\n", "sections/spider/section.md": "spider\n"}
NEW_WITHOUT_SPIDER = {"report.md": "new\n", "sle/tables/quality.csv": "1\n", "sections/sle/section.md": "sle\n"}
NEW = published(NEW_WITHOUT_SPIDER | SPIDER)
OLD = published({"report.md": "old\n", "gone/table.csv": "0\n"})


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def read(folder):
    """Path in a folder -> text of every file there."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def run_no_graph(folder, jobs, stages):
    """In the place of `pipeline.repro`: leaves what the graph would, of the papers that are wanted."""
    yaml = YAML(typ="safe")
    papers = [path.stem for path in sorted((folder / "papers").glob("*.yaml")) if yaml.load(path.read_text())["papers"]]
    json_file.write_json(folder / "configs/report.json", {"papers": papers})
    wanted = [paper for paper in papers if stages == ["report"] or f"section@{paper}" in stages]
    write(folder / "artifacts/sections", {f"{paper}/section.md": f"{paper}\n" for paper in wanted})


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """The user's checkout, a clone of some server's repository, as working directory; no graph is run."""
    server = tmp_path / "server"
    write(server, COMMITTED)
    git(server, "init", "--quiet")
    git(server, "add", "--all")
    git(server, "commit", "--quiet", "--message", "all")
    folder = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", str(server), str(folder))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(pipeline, "repro", run_no_graph)
    return folder


def run_experiment(target=TARGET, root=None):
    pipeline.run_experiment(EXPERIMENT, root, Path(target), 1)


def error_of(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


def kill(call: Callable[[], object], monkeypatch, step: int) -> tuple[bool, int]:
    """Calls in a process of its own, killed before the given change that it makes to the file system.

    Returns:
        Whether it was killed, and its process id.
    """
    process = os.fork()
    if process == 0:
        count = 0

        def counted(change):
            def change_or_die(*arguments, **options):
                nonlocal count
                if count == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                count += 1
                return change(*arguments, **options)

            return change_or_die

        for module, name in ((os, "rename"), (os, "mkdir"), (os, "unlink"), (os, "rmdir"), (shutil, "copyfile")):
            monkeypatch.setattr(module, name, counted(getattr(module, name)))
        try:
            call()
        finally:
            os._exit(0)
    _, status = os.waitpid(process, 0)
    return os.WIFSIGNALED(status), process


# Clones


@pytest.mark.parametrize(
    "left",
    [
        {},
        {"code.py": "half"},
        {".git/objects/pack/tmp_pack_1": "half"},
        {".git": "gitdir: /nowhere"},
    ],
    ids=["empty", "no-repository", "half-repository", "no-repository-folder"],
)
def test_half_a_clone_does_not_cost_the_checkout_its_changes(checkout, left):
    CLONE.mkdir(parents=True)
    write(CLONE, left)
    Path("code.py").write_text("hours of work\n")
    error = error_of(run_experiment)
    assert Path("code.py").read_text() == "hours of work\n"
    assert isinstance(error, InputError)
    assert str(error) == "runs/e: is not a clone of this checkout; move it away"
    assert read(CLONE) == left


def test_another_repository_in_the_place_of_the_clone_keeps_its_changes(checkout, tmp_path):
    git(tmp_path, "clone", "--quiet", str(tmp_path / "server"), str(checkout / CLONE))
    (CLONE / "code.py").write_text("hours of work\n")
    error = error_of(run_experiment)
    assert (CLONE / "code.py").read_text() == "hours of work\n"
    assert "runs/e: is not a clone of this checkout; move it away" in str(error)


def test_a_clone_is_brought_to_the_last_commit(checkout):
    run_experiment()
    (CLONE / "artifacts").mkdir(exist_ok=True)
    Path("code.py").write_text("committed later\n")
    git(checkout, "commit", "--quiet", "--all", "--message", "later")
    run_experiment()
    assert (CLONE / "code.py").read_text() == "committed later\n"
    assert (CLONE / "artifacts").is_dir()
    assert not (CLONE.parent / "e/.git/index.lock").exists()


def test_a_clone_remembers_what_it_has_run(checkout):
    """The last commit's dvc.lock is the checkout's own: with it, DVC would run unchanged stages again."""
    Path("dvc.lock").write_text("the checkout's\n")
    git(checkout, "add", "dvc.lock")
    git(checkout, "commit", "--quiet", "--message", "lock")
    run_experiment()
    assert (CLONE / "dvc.lock").read_text() == "the checkout's\n"
    (CLONE / "dvc.lock").write_text("the clone's\n")
    Path("dvc.lock").write_text("the checkout's, later\n")
    git(checkout, "commit", "--quiet", "--all", "--message", "later")
    run_experiment()
    assert (CLONE / "dvc.lock").read_text() == "the clone's\n"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda: (CLONE / "code.py").write_text("hours of work\n"), "has changes of its own, first 'M code.py'"),
        (lambda: (CLONE / "code.py").unlink(), "has changes of its own, first 'D code.py'"),
        (lambda: (CLONE / "later.py").write_text("hours of work\n"), "has changes of its own, first '?? later.py'"),
        (lambda: commit_in_clone(), "has a commit of its own, "),
    ],
    ids=["changed", "deleted", "added", "committed"],
)
def test_work_in_a_clone_is_not_replaced(checkout, change, problem):
    """The update would: later.py is in the checkout's next commit."""
    run_experiment()
    change()
    before = work(CLONE)
    write(checkout, {"later.py": "committed\n"})
    git(checkout, "add", "later.py")
    git(checkout, "commit", "--quiet", "--message", "later")
    error = error_of(run_experiment)
    assert isinstance(error, InputError)
    assert f"runs/e: {problem}" in str(error)
    assert work(CLONE) == before


def work(clone):
    """All that somebody may have done there: files and the last commit."""
    files = git(clone, "ls-files", "--cached", "--others", "--exclude-standard").split()
    return {file: (clone / file).read_text() for file in files if (clone / file).exists()}, git(clone, "log", "-1")


def commit_in_clone():
    (CLONE / "code.py").write_text("hours of work\n")
    git(CLONE, "commit", "--quiet", "--message", "work", "--", "code.py")


def test_what_an_experiment_writes_in_its_clone_is_replaced(checkout):
    Path("papers/sle.yaml").write_text(Path("papers/sle.yaml").read_text() + "# later\n")
    git(checkout, "commit", "--quiet", "--all", "--message", "later")
    run_experiment()
    for name in ("params.yaml", "papers/sle.yaml", "reports/report.md", "reports/new/table.csv"):
        (CLONE / name).parent.mkdir(exist_ok=True)
        (CLONE / name).write_text("seed: 3\n")
    run_experiment()
    assert (CLONE / "papers/sle.yaml").read_text() == Path("papers/sle.yaml").read_text()


def test_an_amended_commit_is_no_work_of_the_clone(checkout):
    run_experiment()
    git(checkout, "commit", "--quiet", "--amend", "--allow-empty", "--message", "better words")
    run_experiment()
    assert git(CLONE, "rev-parse", "HEAD") == git(checkout, "rev-parse", "HEAD")


def test_a_killed_update_is_done_again(checkout, monkeypatch):
    """It leaves files of either commit, a lock of git's, and remembers what the clone has run."""
    run_experiment()
    (CLONE / "dvc.lock").write_text("the clone's\n")
    Path("code.py").write_text("committed later\n")
    git(checkout, "commit", "--quiet", "--all", "--message", "later")
    original = pipeline._git

    def die_in_checkout(*arguments, **options):
        if "checkout" in arguments:
            (CLONE / ".git/index.lock").write_text("")
            (CLONE / "params.yaml").write_text("")
            (CLONE / "experiments/e.yaml").unlink()
            (CLONE / "dvc.lock").unlink()
            os._exit(9)
        return original(*arguments, **options)

    process = os.fork()
    if process == 0:
        pipeline._git = die_in_checkout
        run_experiment()
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9
    run_experiment()
    assert (CLONE / "code.py").read_text() == "committed later\n"
    assert (CLONE / "experiments/e.yaml").exists()
    assert (CLONE / "dvc.lock").read_text() == "the clone's\n"
    assert not (CLONE / ".git/seqcap-dvc.lock").exists()


def test_an_experiment_waits_for_itself(checkout, capfd):
    """Nobody updates a clone under the run that goes on in it."""
    run_experiment()
    code = (
        "from pathlib import Path; from seqcap import scratch\n"
        f"with scratch.locked(Path({str(LOCK)!r}), ''): print('in it', flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as other:
        assert other.stdout.readline() == "in it\n"
        waiting = threading.Thread(target=run_experiment)
        waiting.start()
        waiting.join(timeout=2)
        assert waiting.is_alive()
        other.stdin.write("\n")
    waiting.join(timeout=60)
    assert not waiting.is_alive()
    assert f"waiting: process {other.pid} runs experiments/e.yaml\n" in capfd.readouterr().err


def test_a_git_hook_s_repository_is_not_the_clone(checkout, monkeypatch):
    """Hooks run with variables that send every git command to the user's repository."""
    run_experiment()
    Path("code.py").write_text("hours of work\n")
    monkeypatch.setenv("GIT_DIR", str(checkout / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(checkout))
    monkeypatch.setenv("GIT_INDEX_FILE", str(checkout / ".git/index"))
    index = (checkout / ".git/index").read_bytes()
    run_experiment()
    assert Path("code.py").read_text() == "hours of work\n"
    assert (checkout / ".git/index").read_bytes() == index


def test_a_killed_clone_is_made_anew(checkout, monkeypatch):
    was_killed, process = kill(lambda: pipeline.update_clone(CLONE), monkeypatch, step=0)
    assert was_killed
    assert [path.name for path in CLONE.parent.iterdir()] == [f".e.{process}.tmp"]
    Path("code.py").write_text("hours of work\n")
    run_experiment()
    assert sorted(CLONE.parent.iterdir()) == [LOCK, CLONE]
    assert Path("code.py").read_text() == "hours of work\n"
    assert (CLONE / "code.py").read_text() == "committed\n"


def test_another_process_s_clone_is_left_alone(checkout):
    other = CLONE.with_name(f".e.{os.getppid()}.tmp")
    other.mkdir(parents=True)
    run_experiment()
    assert other.is_dir()


def test_a_folder_without_a_commit_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {str(EXPERIMENT): "{}"})
    git(tmp_path, "init", "--quiet")
    with pytest.raises(InputError, match="run from a git checkout with a commit"):
        run_experiment()


def test_uncommitted_changes_are_named(checkout, capsys):
    Path("code.py").write_text("not committed\n")
    Path("forgotten.py").write_text("")
    Path("ignored").write_text("")
    # The experiment itself is read from here, so it is as it is run.
    EXPERIMENT.write_text("{} # changed\n")
    run_experiment()
    output = capsys.readouterr()
    head = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    assert output.err.splitlines() == [
        f"warning: the experiment runs commit {head}, without these uncommitted changes:",
        " M code.py",
        "?? forgotten.py",
    ]
    assert output.out == ""
    assert Path("code.py").read_text() == "not committed\n"


def test_a_long_list_of_uncommitted_changes_is_cut(checkout, capsys):
    for number in range(23):
        Path(f"{number}.txt").write_text("")
    run_experiment()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 22
    assert lines[-1] == "and 3 more"


def test_a_clean_checkout_is_not_warned_of(checkout, tmp_path, capsys):
    outside = tmp_path / "e.yaml"
    outside.write_text("{}")
    pipeline.run_experiment(outside, None, TARGET, 1)
    assert capsys.readouterr().err == ""
    assert (TARGET / ".published").read_text().splitlines()[0] == "e.yaml"


# Publications


def refused(target):
    """The one line that ends an experiment before its graph is run."""
    runs = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "repro", lambda folder, jobs, papers: runs.append(folder))
        error = error_of(lambda: run_experiment(target))
    assert isinstance(error, InputError)
    assert runs == []
    return str(error)


def test_a_folder_of_the_user_is_not_published_over(checkout):
    write(TARGET, {"thesis.tex": "years of work"})
    before = read(TARGET)
    try:
        assert refused(TARGET).startswith("out/e: holds files, but no earlier publication; ")
    finally:
        assert read(TARGET) == before


@pytest.mark.parametrize("name", ["notes.md", "sle/notes.md", "report.md", "sle/tables/quality.csv"])
def test_work_in_an_earlier_publication_is_not_published_over(checkout, name):
    run_experiment()
    assert read(TARGET) == NEW
    write(TARGET, {name: "hours of work"})
    before = read(TARGET)
    try:
        expected = f"out/e: holds {name}, added or changed since it was published; move that away"
        assert refused(TARGET).startswith(expected)
    finally:
        assert read(TARGET) == before


def test_a_link_in_an_earlier_publication_is_not_published_over(checkout, tmp_path):
    write(tmp_path, {"thesis/chapter.tex": "years of work"})
    run_experiment()
    (TARGET / "thesis").symlink_to(tmp_path / "thesis")
    assert "out/e: holds thesis, added or changed" in refused(TARGET)
    assert (TARGET / "thesis").is_symlink()


def test_a_publication_says_what_it_holds(checkout):
    """Its marker is what `sha256sum --check` reads, but for its first line."""
    run_experiment()
    Path("sums").write_text("".join((TARGET / ".published").read_text().splitlines(keepends=True)[1:]))
    done = subprocess.run(
        ["sha256sum", "--check", "../../sums"], cwd=TARGET, capture_output=True, text=True, check=False
    )
    assert done.stdout == "".join(f"{name}: OK\n" for name in sorted(NEW) if name != ".published")


@pytest.fixture
def reports(monkeypatch):
    """`run_experiment` for some papers, in a checkout whose graph is not run; which stages it ran, and which sections
    are out of date."""
    ran, stale = [], set()
    graph = {"report": {"section@sle", "section@spider", "probe@image"}}

    def run_graph(folder, jobs, stages):
        ran.append(stages)
        run_no_graph(folder, jobs, stages)

    def write_report(folder, *arguments):
        assert arguments == ("stages/report.py",)
        sections = sorted((folder / "artifacts/sections").glob("*/section.md"))
        (folder / "reports/report.md").write_text("".join(path.read_text() for path in sections))
        return 0

    monkeypatch.setattr(pipeline, "repro", run_graph)
    monkeypatch.setattr(pipeline, "stage_graph", lambda folder, targets: graph)
    monkeypatch.setattr(pipeline, "unfinished", lambda folder, graph: dict.fromkeys(stale))
    monkeypatch.setattr(pipeline, "_python", write_report)

    def run(*papers, out_of_date=()):
        stale.clear()
        stale.update(f"section@{paper}" for paper in out_of_date)
        pipeline.run_experiment(EXPERIMENT, None, TARGET, 1, papers)
        return ran[-1]

    return run


def test_one_paper_is_published_after_the_other(checkout, reports):
    """The second joins the first, which another machine may have run: this one's clone knows nothing of it."""
    assert reports("sle", out_of_date=["spider"]) == ["section@sle", "probe@image"]
    sle = {"sle/tables/quality.csv": "1\n", "sections/sle/section.md": "sle\n"}
    assert read(TARGET) == published({"report.md": "sle\n"} | sle)
    shutil.rmtree(CLONE)
    assert reports("spider", out_of_date=["sle"]) == ["section@spider", "probe@image"]
    assert read(TARGET) == published({"report.md": "sle\nspider\n"} | sle | SPIDER)


def test_what_was_published_of_a_paper_is_that_of_its_run(checkout, reports):
    """Neither what is committed nor what an earlier run left in the clone takes its place, unless it is up to date."""
    reports("sle", out_of_date=["spider"])
    write(CLONE, {"artifacts/sections/sle/section.md": "other settings\n", "reports/sle/tables/quality.csv": "3\n"})
    reports("spider", out_of_date=["sle"])
    assert read(TARGET)["report.md"] == "sle\nspider\n"
    assert read(TARGET)["sle/tables/quality.csv"] == "1\n"
    write(CLONE, {"artifacts/sections/sle/section.md": "run again\n"})
    reports("spider")
    assert read(TARGET)["report.md"] == "run again\nspider\n"


def test_a_part_that_nobody_published_is_left_out(checkout, reports):
    reports("spider", out_of_date=["sle"])
    assert read(TARGET) == published({"report.md": "spider\n"} | SPIDER)


def test_a_report_that_fails_is_not_published(checkout, reports, monkeypatch):
    monkeypatch.setattr(pipeline, "_python", lambda folder, *arguments: 2)
    with pytest.raises(InputError, match=r"stages/report\.py: failed on the parts in runs/e/artifacts/sections"):
        reports("sle")
    assert not TARGET.exists()


def test_the_committed_reports_are_not_published_over(checkout):
    before = read(Path("reports"))
    try:
        assert "reports: holds files" in refused("reports")
    finally:
        assert read(Path("reports")) == before


@pytest.mark.parametrize("target", [".", "..", "../checkout", "runs", "runs/e", "runs/e/out", "runs/e/reports/new"])
def test_neither_the_checkout_nor_the_clone_is_published_over(checkout, target):
    run_experiment()
    try:
        assert "holds the checkout, or is part of" in refused(target)
    finally:
        assert (checkout / "code.py").exists()
        assert (checkout / CLONE / "code.py").exists()


def test_an_earlier_publication_that_holds_the_checkout_is_not_published_over(checkout, tmp_path):
    (tmp_path / ".published").write_text("")
    assert "holds the checkout" in refused(tmp_path)


def test_links_and_files_are_not_published_over(checkout, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere, OLD)
    link = Path("link")
    link.symlink_to(elsewhere)
    assert "link: is a link" in refused(link)
    assert link.is_symlink()
    assert read(elsewhere) == OLD
    Path("dangling").symlink_to("nowhere")
    assert "dangling: is a link" in refused("dangling")
    assert "code.py: is a file" in refused("code.py")
    assert "code.py/below: cannot be made in" in refused("code.py/below")
    assert Path("code.py").read_text() == "committed\n"


def test_what_appears_while_the_graph_runs_is_not_published_over(checkout, monkeypatch):
    monkeypatch.setattr(pipeline, "repro", lambda folder, jobs, papers: write(TARGET, {"thesis.tex": "years of work"}))
    error = error_of(run_experiment)
    assert read(TARGET) == {"thesis.tex": "years of work"}
    assert isinstance(error, InputError)
    assert list(TARGET.parent.iterdir()) == [TARGET]


@pytest.mark.parametrize("before", [None, {}, OLD], ids=["new", "empty", "earlier"])
def test_reports_are_published(checkout, before):
    if before is not None:
        TARGET.mkdir(parents=True)
        write(TARGET, before)
    run_experiment()
    assert read(TARGET) == NEW
    assert list(TARGET.parent.iterdir()) == [TARGET]


def test_papers_left_out_are_not_published(checkout):
    EXPERIMENT.write_text("papers/spider.yaml: null\n")
    run_experiment()
    assert read(TARGET) == published(NEW_WITHOUT_SPIDER)


def test_a_failed_copy_leaves_the_earlier_publication(checkout, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    write(TARGET, OLD)
    monkeypatch.setattr(shutil, "copyfile", fail)
    error = error_of(run_experiment)
    assert read(TARGET) == OLD
    assert isinstance(error, InputError)
    assert "No space left on device" in str(error)
    assert list(TARGET.parent.iterdir()) == [TARGET]


def test_a_kill_leaves_a_whole_publication(checkout, monkeypatch):
    def fail(folder, jobs, papers):
        raise InputError("dvc.yaml", "a stage failed", "try again")

    run_experiment()
    states = set()
    for step in range(100):
        shutil.rmtree(TARGET.parent)
        write(TARGET, OLD)
        # Nothing is counted but what publishing does.
        with monkeypatch.context() as patch:
            patch.setattr(pipeline, "update_clone", lambda folder: None, raising=False)
            was_killed, process = kill(run_experiment, patch, step)
        if not was_killed:
            break
        aside = TARGET.with_name(f".e.{process}.old")
        if not TARGET.exists():
            assert read(aside) == OLD
            states.add("missing")
        else:
            assert read(TARGET) in (OLD, NEW)
            states.add(read(TARGET)["report.md"])
        # Started again it puts things right first, whatever becomes of the graph.
        monkeypatch.setattr(pipeline, "repro", fail)
        assert isinstance(error_of(run_experiment), InputError)
        assert read(TARGET) in (OLD, NEW)
        assert list(TARGET.parent.iterdir()) == [TARGET]
        monkeypatch.setattr(pipeline, "repro", lambda folder, jobs, papers: None)
    assert states == {"missing", "old\n", "new\n"}
    assert read(TARGET) == NEW


def test_committed_publications_can_be_published_again():
    for name in ("flickr8k", "multi30k"):
        folder = ROOT / "reports" / name
        assert (folder / ".published").read_text().splitlines()[0] == f"experiments/{name}.yaml"
        pipeline.check_publication(folder, ROOT / CLONE)


# Parameters


def test_an_overlay_changes_adds_and_removes(tmp_path):
    write(tmp_path, COMMITTED)
    pipeline.apply_overlay(
        tmp_path,
        {
            "params.yaml": {
                "seed": None,
                "tasks": {"image": {"max_length": 9, "lengths": [3]}},
                "captioners": {"attention": None, "large": {"seeds": 1}},
            },
            "papers/sle.yaml": {
                "runs": {"xe": {"training": {"epochs": 1}}, "sll": None, "new": {"like": "xe"}},
                "evaluations": {"sle_more": {"task": "image"}},
                "ensembles": {"both": None},
            },
        },
        EXPERIMENT,
    )
    load = YAML(typ="safe").load
    assert load((tmp_path / "params.yaml").read_text()) == {
        "seed": None,
        "tasks": {"image": {"root": None, "max_length": 9, "lengths": [3]}, "de_en": {"root": None}},
        "captioners": {"lstm": {"seeds": 3}, "large": {"seeds": 1}},
    }
    assert load((tmp_path / "papers/sle.yaml").read_text()) == {
        "papers": {"sle": {"pictures": "image"}},
        "evaluations": {"sle_image": {"task": "image"}, "sle_more": {"task": "image"}},
        "groups": {"sle_xe": {"paper": "sle", "evaluation": "sle_image"}},
        "runs": {"xe": {"group": "sle_xe", "training": {"epochs": 1}}, "new": {"like": "xe"}},
        "ensembles": {},
    }
    assert "# What all share.\n" in (tmp_path / "params.yaml").read_text()
    assert "    # In words.\n" in (tmp_path / "params.yaml").read_text()


def test_a_section_that_loses_all_its_entries_can_still_be_read(tmp_path):
    """Not even the comment above its first one is left, which is not where YAML allows an empty section's."""
    text = "captioners:\n  # The first.\n  lstm:\n    seeds: 3\n\n  attention:\n    seeds: 1\n\nseed: 1\n"
    write(tmp_path, {"params.yaml": text})
    removed = {"params.yaml": {"captioners": {"lstm": None, "attention": None}}}
    pipeline.apply_overlay(tmp_path, removed, EXPERIMENT)
    assert YAML(typ="safe").load((tmp_path / "params.yaml").read_text()) == {"captioners": {}, "seed": 1}


def test_what_belongs_to_a_removed_evaluation_goes_with_it(tmp_path):
    """Its groups and ensembles; runs stay, without a group, since others may be like them."""
    write(tmp_path, COMMITTED)
    pipeline.apply_overlay(tmp_path, {"papers/sle.yaml": {"evaluations": {"sle_image": None}}}, EXPERIMENT)
    left = YAML(typ="safe").load((tmp_path / "papers/sle.yaml").read_text())
    assert left["groups"] == left["ensembles"] == {}
    assert left["runs"]["xe"] == {"group": None, "training": {"epochs": 3}}


def test_comparisons_go_with_their_runs(tmp_path):
    content = (
        "papers:\n  sle:\n    comparisons:\n    - [xe, sll]\n    - [both, xe]\n    - [xe, more]\n"
        "groups:\n  a: {evaluation: one}\n  b: {evaluation: one}\nevaluations:\n  one: {}\n"
        "runs:\n  xe:\n    group: a\n  more:\n    like: xe\n  sll:\n    group: b\nensembles:\n  both: {run: more}\n"
    )
    write(tmp_path, {"papers/sle.yaml": content})
    pipeline.apply_overlay(tmp_path, {"papers/sle.yaml": {"groups": {"b": None}}}, EXPERIMENT)
    left = YAML(typ="safe").load((tmp_path / "papers/sle.yaml").read_text())
    assert left["papers"]["sle"]["comparisons"] == [["both", "xe"], ["xe", "more"]]


def test_what_an_overlay_does_not_change_is_written_as_it_was(tmp_path):
    for name in ("params.yaml", *(f"papers/{path.name}" for path in (ROOT / "papers").glob("*.yaml"))):
        write(tmp_path, {name: (ROOT / name).read_text(encoding="utf-8")})
        pipeline.apply_overlay(tmp_path, {name: {}}, EXPERIMENT)
        assert (tmp_path / name).read_text(encoding="utf-8") == (ROOT / name).read_text(encoding="utf-8")


def test_a_paper_that_is_null_has_no_entries(tmp_path):
    write(tmp_path, COMMITTED)
    pipeline.apply_overlay(tmp_path, {"papers/spider.yaml": None}, EXPERIMENT)
    text = (tmp_path / "papers/spider.yaml").read_text()
    assert YAML(typ="safe").load(text) == {"papers": {}, "groups": {}, "runs": {}, "variances": {}}
    assert "&" not in text


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ({"tasks": {}}, "tasks is no file of parameters"),
        ({"code.py": {}}, "code.py is no file of parameters"),
        ({"papers/none.yaml": {}}, "papers/none.yaml is no file of parameters"),
        ({"papers/../params.yaml": {}}, "papers/../params.yaml is no file of parameters"),
        ({"../params.yaml": {}}, "is no file of parameters"),
        ({"/params.yaml": {}}, "is no file of parameters"),
        ({"papers/link.yaml": {"work": 1}}, "papers/link.yaml is no file of parameters"),
        ({"params.yaml": None}, "params.yaml: is not a mapping of parameters"),
        ({"papers/sle.yaml": [1]}, "papers/sle.yaml: is not a mapping of parameters"),
        ({"params.yaml": {"sede": 2}}, "params.yaml: sede is not a parameter; correct the name"),
        ({"papers/sle.yaml": {"rnus": {"xe": {}}}}, "papers/sle.yaml: rnus is not a parameter; correct the name"),
        ({"papers/sle.yaml": {"runs": {"ex": None}}}, "papers/sle.yaml: runs.ex is not a parameter; correct the name"),
    ],
)
def test_a_wrong_overlay_is_one_line_and_changes_nothing(tmp_path, overlay, message):
    write(tmp_path / "folder", COMMITTED)
    (tmp_path / "work.yaml").write_text("work: 0\n")
    (tmp_path / "folder/papers/link.yaml").symlink_to(tmp_path / "work.yaml")
    before = read(tmp_path)
    with pytest.raises(InputError) as caught:
        pipeline.apply_overlay(tmp_path / "folder", {"papers/spider.yaml": None} | overlay, EXPERIMENT)
    assert message in str(caught.value)
    assert str(caught.value).startswith("experiments/e.yaml: ")
    assert read(tmp_path) == before


def test_the_root_is_that_of_the_task_that_changes(checkout, tmp_path):
    EXPERIMENT.write_text("params.yaml:\n  tasks:\n    image:\n      max_length: 3\n")
    run_experiment(root=tmp_path)
    tasks = YAML(typ="safe").load((CLONE / "params.yaml").read_text())["tasks"]
    assert tasks["image"]["root"] == str(tmp_path)
    assert tasks["de_en"]["root"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "changes 0 tasks, but there is one root"),
        ("params.yaml: {tasks: {image: {}, de_en: {}}}", "changes 2 tasks"),
        ("params.yaml: {tasks: {image: null}}", "changes nothing of its task"),
    ],
)
def test_a_root_belongs_to_one_task(checkout, tmp_path, text, message):
    EXPERIMENT.write_text(text)
    with pytest.raises(InputError, match=message):
        run_experiment(root=tmp_path)


# Files


def test_a_link_is_written_through(tmp_path):
    target = tmp_path / "disk/file.json"
    write(tmp_path, {"disk/file.json": "old"})
    (tmp_path / "first.json").symlink_to("disk/file.json")
    (tmp_path / "second.json").symlink_to(tmp_path / "first.json")
    json_file.write_json(tmp_path / "second.json", {"a": 1})
    assert (tmp_path / "first.json").is_symlink()
    assert (tmp_path / "second.json").is_symlink()
    assert json_file.read_json(target) == {"a": 1}
    assert list(target.parent.iterdir()) == [target]


def test_a_link_s_target_is_never_half_written(tmp_path):
    target, link = tmp_path / "disk/file.json", tmp_path / "link.json"
    write(tmp_path, {"disk/file.json": "old"})
    link.symlink_to(target)

    def write_half():
        with writing.atomic(link) as temporary:
            assert temporary.parent == target.parent
            temporary.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert target.read_text() == "old"
    assert list(target.parent.iterdir()) == [target]


def test_a_dangling_link_s_target_is_made(tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to("disk/file.json")
    json_file.write_json(link, [1])
    assert link.is_symlink()
    assert json_file.read_json(tmp_path / "disk/file.json") == [1]


def test_a_fifo_gets_the_content(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    # Open on both sides, so that a failure does not leave anything waiting.
    both = os.open(fifo, os.O_RDWR)
    try:
        json_file.write_json(fifo, {"a": 1})
        assert stat.S_ISFIFO(fifo.lstat().st_mode)
        assert os.read(both, 100) == b'{\n  "a": 1\n}\n'
    finally:
        os.close(both)
    assert list(tmp_path.iterdir()) == [fifo]


def test_a_fifo_s_reader_gets_more_than_a_pipe_holds(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    found = []
    reader = threading.Thread(target=lambda: found.append(fifo.read_text()), daemon=True)
    reader.start()
    json_file.write_json(fifo, "x" * 200_000)
    reader.join(timeout=10)
    assert found == ['"' + "x" * 200_000 + '"\n']


def test_a_device_stays_one(tmp_path):
    node = tmp_path / "null"
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        node.write_text("")
    except OSError:
        pytest.skip("making device nodes takes root")
    link = tmp_path / "link"
    link.symlink_to(node)
    json_file.write_json(node, {"a": 1})
    json_file.write_json(link, {"a": 1})
    assert stat.S_ISCHR(node.lstat().st_mode)
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [link, node]


@pytest.mark.parametrize("to", ["file", "pipe"])
def test_standard_output_gets_the_content_after_what_was_printed(tmp_path, to):
    # Not /dev/stdout itself: if this fails, it replaces it.
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = "from seqcap.files.json_file import write_json\nprint('table'); write_json('link', [1]); print('end')"
    with (tmp_path / "output").open("w") as output:
        command = [sys.executable, "-c", code]
        if to == "file":
            subprocess.run(command, cwd=tmp_path, stdout=output, check=True)
            found = (tmp_path / "output").read_text()
        else:
            found = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert found == "table\n[\n  1\n]\nend\n"
    assert (tmp_path / "link").is_symlink()


def test_what_cannot_be_written_is_one_line(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (folder, tmp_path / "link"):
        if path != folder:
            path.symlink_to(folder)
        with pytest.raises(InputError, match=r"is a folder; name a file in it"):
            json_file.write_json(path, 1)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="cannot be written"):
        json_file.write_json(loop, 1)
    assert list(folder.iterdir()) == []


def test_scores_are_not_computed_for_a_folder(tmp_path, monkeypatch, capsys):
    from seqcap.tools import score as scoring

    monkeypatch.setattr(scoring, "score_files", lambda *_: pytest.fail("scored"))
    files = ["--references", "references.json", "--candidates", "candidates.json"]
    monkeypatch.setattr(sys, "argv", ["seqcap", "score", *files, "--json", str(tmp_path)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"error: {tmp_path}: is a folder; name a file in it\n"


def test_scores_that_cannot_be_written_are_one_line(tmp_path):
    from seqcap.tools import score as scoring

    write(tmp_path, {"file": "", "disk/scores.json": "old"})
    with pytest.raises(InputError, match="cannot be written"):
        scoring.write_scores(tmp_path / "file/scores.json", {})
    (tmp_path / "link").symlink_to("disk/scores.json")
    scoring.write_scores(tmp_path / "link", {})
    assert (tmp_path / "link").is_symlink()
    assert json_file.read_json(tmp_path / "disk/scores.json") == {}
