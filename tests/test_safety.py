"""Nothing may cost users their work: experiments in clones, publications, and files written through links.

campaigns/users_data.py has what lies in the way of a command before it starts.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from pipeline_files import ROOT, commit, git
from ruamel.yaml import YAML
from small_checkout import write

from seqcap.errors import InputError
from seqcap.files import json_file, writing
from seqcap.pipeline import clone, experiment, publish
from seqcap.pipeline.parameter_files import parameter_files
from seqcap.pipeline.repro import sections
from seqcap.pipeline.stage_server import ADDRESS

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
    "papers/sle/runs.yaml": """\
pictures: image
evaluations:
  sle_image: {task: image}
groups:
  sle_xe: sle_image
runs:
  xe:
    group: sle_xe
    training:
      epochs: 3
  sll: {like: xe}
ensembles:
  both: {run: sll}
""",
    "papers/spider/runs.yaml": "pictures: image\ngroups: {}\nruns:\n  mle: {}\nvariances:\n  spider: {images: 4}\n",
    "reports/report.md": "the checkout's own\n",
    "reports/sle/rating/page.html": "the checkout's own\n",
    "reports/sle/tables/quality.csv": "1\n",
    "reports/spider/tables/quality.csv": "2\n",
    "reports/flickr8k/.published": "experiments/flickr8k.yaml\n",
    "reports/flickr8k/report.md": "of another experiment\n",
}


def published(files):
    """A publication of some files."""
    lines = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return files | {".published": "".join(["experiments/e.yaml\n", *lines])}


SLE = {"sle/tables/quality.csv": "1\n", "sle/results/claims.json": "sle\n"}
SPIDER = {"spider/tables/quality.csv": "2\n", "spider/results/claims.json": "spider\n"}
PROBED = {"features/image.json": "probed\n"}
NEW_WITHOUT_SPIDER = published(SLE | PROBED | {"report.md": "sle\n"})
NEW = published(SLE | SPIDER | PROBED | {"report.md": "sle\nspider\n"})
OLD = published({"report.md": "old\n", "gone/table.csv": "0\n"})


def read(folder):
    """Path in a folder -> text of every file there."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def papers_of(folder):
    yaml = YAML(typ="safe")
    files = sorted((folder / "papers").glob("*/runs.yaml"))
    return [path.parent.name for path in files if yaml.load(path.read_text())]


def graph_of(folder, targets):
    """In the place of `stage_graph`: what the report depends on."""
    return {"report": {*sections(papers_of(folder)), "probe-image"}}


def run_no_graph(folder, jobs, stages, cluster=None, server=None):
    """In the place of `repro`: leaves what the graph would, of the papers that are wanted."""
    json_file.write_json(folder / "configs/report.json", {"papers": papers_of(folder)})
    wanted = [paper for paper in papers_of(folder) if sections([paper])[0] in stages]
    write(folder / "reports", {f"{paper}/results/claims.json": f"{paper}\n" for paper in wanted} | PROBED)


def written(folder):
    """In the place of `publish._written`, which asks DVC: rating is no stage of the experiment's."""
    papers = [Path(paper, part) for paper in papers_of(folder) for part in ("tables", "results")]
    return [*papers, Path("features/image.json"), Path("features/report.md"), Path("report.md")]


def write_report(folder, script, place, python=None):
    """In the place of stages/report.py."""
    assert (folder / script).parts[-2:] == ("stages", "report.py")
    found = sorted(Path(place).glob("*/results/claims.json"))
    Path(place, "report.md").write_text("".join(path.read_text() for path in found))
    return 0


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """The user's checkout, a clone of some server's repository, as working directory; no graph is run."""
    server = tmp_path / "server"
    write(server, COMMITTED)
    git(server, "init", "--quiet")
    commit(server, "all")
    folder = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", str(server), str(folder))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(experiment, "repro", run_no_graph)
    monkeypatch.setattr(experiment, "stage_graph", graph_of)
    monkeypatch.setattr(publish, "_written", written)
    monkeypatch.setattr(publish, "run_python", write_report)
    monkeypatch.setattr(experiment, "run_python", lambda *_, **__: 0)
    # No server loads packages that nobody asks for.
    monkeypatch.setenv(ADDRESS, "elsewhere")
    return folder


def run_experiment(target=TARGET, root=None, papers=()):
    experiment.run_experiment(EXPERIMENT, root, Path(target), 1, papers)


def error_of(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


def kill(call: Callable[[], object], monkeypatch, step: int) -> tuple[bool, int]:
    """Calls in a process of its own, killed before the given change that it makes to the file system; whether it was
    killed, and its id."""
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


def test_a_clone_is_brought_to_the_last_commit_and_remembers_its_runs(checkout):
    """The last commit's dvc.lock is the checkout's own: with it, DVC would run unchanged stages again."""
    write(checkout, {"dvc.lock": "the checkout's\n", "starts/a": "the checkout's", "starts/gone": "the checkout's"})
    commit(checkout, "lock")
    run_experiment()
    assert (CLONE / "dvc.lock").read_text() == "the checkout's\n"
    # What an experiment writes is no work of somebody's.
    write(CLONE, {"artifacts/x": "", "papers/sle/runs.yaml": "{}", "reports/new/table.csv": ""})
    write(CLONE, {"dvc.lock": "the clone's\n", "papers/sle/dvc.lock": "the clone's, of a paper\n"})
    # What runs start from, of its own data, and fewer of it.
    write(CLONE, {"starts/a": "the clone's", "starts/new": "the clone's"})
    (CLONE / "starts/gone").unlink()
    later = {"dvc.lock": "the checkout's, later\n", "papers/sle/dvc.lock": "later\n", "code.py": "committed later\n"}
    write(checkout, later | {"starts/a": "later", "starts/new": "later"})
    commit(checkout, "later")
    run_experiment()
    assert (CLONE / "code.py").read_text() == "committed later\n"
    assert (CLONE / "dvc.lock").read_text() == "the clone's\n"
    assert (CLONE / "papers/sle/dvc.lock").read_text() == "the clone's, of a paper\n"
    starts = {path.name: path.read_text() for path in (CLONE / "starts").iterdir()}
    assert starts == {"a": "the clone's", "new": "the clone's"}
    assert (CLONE / "artifacts/x").exists()
    assert (CLONE / "papers/sle/runs.yaml").read_text() == Path("papers/sle/runs.yaml").read_text()
    assert not (CLONE / ".git/index.lock").exists()


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
    commit(checkout, "later")
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
    commit(CLONE, "work")


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
    commit(checkout, "later")
    original = clone.git

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
        clone.git = die_in_checkout
        run_experiment()
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9
    run_experiment()
    assert (CLONE / "code.py").read_text() == "committed later\n"
    assert (CLONE / "experiments/e.yaml").exists()
    assert (CLONE / "dvc.lock").read_text() == "the clone's\n"
    assert not (CLONE / ".git/seqcap-records").exists()


def test_an_experiment_waits_for_itself(checkout, capfd):
    """Nobody updates a clone under the run that goes on in it."""
    run_experiment()
    code = (
        "from pathlib import Path; from seqcap.system import scratch\n"
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
    """And the half clone of a process that still runs is left alone."""
    was_killed, process = kill(lambda: clone.update_clone(CLONE), monkeypatch, step=0)
    assert was_killed
    assert [path.name for path in CLONE.parent.iterdir()] == [f".e.{process}.tmp"]
    other = CLONE.with_name(f".e.{os.getppid()}.tmp")
    other.mkdir()
    Path("code.py").write_text("hours of work\n")
    run_experiment()
    assert sorted(CLONE.parent.iterdir()) == sorted([other, LOCK, CLONE])
    assert Path("code.py").read_text() == "hours of work\n"
    assert (CLONE / "code.py").read_text() == "committed\n"


def test_a_folder_without_a_commit_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {str(EXPERIMENT): "{}"})
    git(tmp_path, "init", "--quiet")
    with pytest.raises(InputError, match="run from a git checkout with a commit"):
        run_experiment()


def test_uncommitted_changes_stop_an_experiment(checkout, capsys):
    """Those of what it runs. With --allow-dirty it runs the last commit, and a warning names them."""
    write(checkout, {"src/committed.py": ""})
    commit(checkout, "code")
    params = Path("params.yaml").read_text()
    Path("params.yaml").write_text(params + "# not committed\n")
    write(checkout, {f"src/{number}.py": "" for number in range(10, 32)})
    Path("notes.txt").write_text("")
    # The experiment itself is read from here, so it is as it is run.
    EXPERIMENT.write_text("{} # changed\n")
    head = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    start = f"the experiment runs commit {head}, without these uncommitted changes:"
    error = str(error_of(run_experiment))
    assert error.startswith(f"experiments/e.yaml: {start} M params.yaml ?? src/10.py ")
    assert error.endswith("?? src/28.py and 3 more; commit them, or run without them by --allow-dirty")
    assert not CLONE.exists()
    experiment.run_experiment(EXPERIMENT, None, TARGET, 1, allow_dirty=True)
    listed = [" M params.yaml", *(f"?? src/{number}.py" for number in range(10, 29)), "and 3 more"]
    assert capsys.readouterr().err.splitlines() == [f"warning: {start}", *listed]
    assert "# not committed" not in (CLONE / "params.yaml").read_text()
    git(checkout, "checkout", "--quiet", "params.yaml")
    git(checkout, "clean", "--quiet", "--force", "src")
    run_experiment()
    assert capsys.readouterr().err == ""


# Publications


def refused(target):
    """The one line that ends an experiment before its graph is run."""
    runs = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "repro", lambda folder, jobs, papers: runs.append(folder))
        error = error_of(lambda: run_experiment(target))
    assert isinstance(error, InputError)
    assert runs == []
    return str(error)


@pytest.mark.parametrize("name", ["sle/notes.md", "report.md", "thesis"])
def test_work_in_an_earlier_publication_is_not_published_over(checkout, name):
    """Nor a link to it."""
    run_experiment()
    assert read(TARGET) == NEW
    if name == "thesis":
        (TARGET / name).symlink_to(checkout / "experiments")
    else:
        write(TARGET, {name: "hours of work"})
    before = read(TARGET)
    try:
        expected = f"out/e: holds {name}, added or changed since it was published; move that away"
        assert refused(TARGET).startswith(expected)
    finally:
        assert read(TARGET) == before


def test_one_paper_is_published_after_the_other(checkout, monkeypatch):
    """The second joins the first, which another machine may have run: this one's clone knows nothing of it."""
    ran = []
    monkeypatch.setattr(experiment, "repro", lambda *call, **_: ran.append(call[2]) or run_no_graph(*call))
    run_experiment(papers=["sle"])
    assert read(TARGET) == NEW_WITHOUT_SPIDER
    shutil.rmtree(CLONE)
    run_experiment(papers=["spider"])
    assert read(TARGET) == NEW
    assert ran == [[*sections([paper]), "probe-image"] for paper in ("sle", "spider")]


def test_a_paper_that_is_not_run_stays_as_it_was_published(checkout):
    """Neither what is committed nor what an earlier run left in the clone takes its place."""
    run_experiment(papers=["sle"])
    write(CLONE / "reports", {"sle/results/claims.json": "other settings\n", "sle/tables/quality.csv": "3\n"})
    run_experiment(papers=["spider"])
    assert read(TARGET) == NEW


def test_a_report_that_fails_is_not_published(checkout, monkeypatch):
    monkeypatch.setattr(publish, "run_python", lambda folder, *arguments, **options: 2)
    with pytest.raises(InputError, match=r"stages/report\.py: failed on the results in runs/e/reports"):
        run_experiment(papers=["sle"])
    assert list(TARGET.parent.iterdir()) == []


@pytest.mark.parametrize("target", ["../checkout", "runs", "runs/e", "runs/e/reports/new"])
def test_neither_the_checkout_nor_the_clone_is_published_over(checkout, target):
    run_experiment()
    try:
        assert "holds the checkout, or is part of" in refused(target)
    finally:
        assert (checkout / "code.py").exists()
        assert (checkout / CLONE / "code.py").exists()


def test_what_appears_while_the_graph_runs_is_not_published_over(checkout, monkeypatch):
    monkeypatch.setattr(experiment, "repro", lambda *_, **__: write(TARGET, {"thesis.tex": "years of work"}))
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
    # Its results name it.
    assert json_file.read_json(CLONE / "artifacts/experiment.json") == {"experiment": "experiments/e.yaml"}


def test_papers_left_out_are_not_published(checkout):
    EXPERIMENT.write_text("papers/spider/runs.yaml: null\n")
    run_experiment()
    assert (CLONE / "papers/spider/runs.yaml").read_text() == "{}\n"
    assert read(TARGET) == NEW_WITHOUT_SPIDER


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
    def fail(*_, **__):
        raise InputError("dvc.yaml", "a stage failed", "try again")

    run_experiment()
    states = set()
    for step in range(100):
        shutil.rmtree(TARGET.parent)
        write(TARGET, OLD)
        # Nothing is counted but what publishing does.
        with monkeypatch.context() as patch:
            patch.setattr(experiment, "update_clone", lambda folder: None, raising=False)
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
        monkeypatch.setattr(experiment, "repro", fail)
        assert isinstance(error_of(run_experiment), InputError)
        assert read(TARGET) in (OLD, NEW)
        assert list(TARGET.parent.iterdir()) == [TARGET]
        monkeypatch.setattr(experiment, "repro", lambda *_, **__: None)
    assert states == {"missing", "old\n", "sle\nspider\n"}
    assert read(TARGET) == NEW


# Parameters


def test_an_overlay_changes_adds_and_removes_and_keeps_comments(tmp_path):
    write(tmp_path, COMMITTED)
    change = {
        "params.yaml": {
            "tasks": {"image": {"max_length": 9, "lengths": [3]}},
            "captioners": {"attention": None, "large": {"seeds": 1}},
        },
        "papers/sle/runs.yaml": {"runs": {"sll": None, "new": {"like": "xe"}}, "ensembles": {"both": None}},
    }
    experiment.apply_overlay(tmp_path, change, EXPERIMENT)
    text = (tmp_path / "params.yaml").read_text()
    assert "# What all share.\n" in text
    assert "    # In words.\n" in text
    params = YAML(typ="safe").load(text)
    assert params["tasks"]["image"] == {"root": None, "max_length": 9, "lengths": [3]}
    assert params["captioners"] == {"lstm": {"seeds": 3}, "large": {"seeds": 1}}
    paper = YAML(typ="safe").load((tmp_path / "papers/sle/runs.yaml").read_text())
    assert (list(paper["runs"]), paper["ensembles"]) == (["xe", "new"], {})


def test_a_section_that_loses_all_its_entries_can_still_be_read(tmp_path):
    """Not even the comment above its first one is left, which is not where YAML allows an empty section's."""
    text = "captioners:\n  # The first.\n  lstm:\n    seeds: 3\n\n  attention:\n    seeds: 1\n\nseed: 1\n"
    write(tmp_path, {"params.yaml": text})
    removed = {"params.yaml": {"captioners": {"lstm": None, "attention": None}}}
    experiment.apply_overlay(tmp_path, removed, EXPERIMENT)
    assert YAML(typ="safe").load((tmp_path / "params.yaml").read_text()) == {"captioners": {}, "seed": 1}


def test_what_belongs_to_a_removed_evaluation_goes_with_it(tmp_path):
    """Its groups and ensembles; runs stay, without a group, since others may be like them."""
    write(tmp_path, COMMITTED)
    experiment.apply_overlay(tmp_path, {"papers/sle/runs.yaml": {"evaluations": {"sle_image": None}}}, EXPERIMENT)
    left = YAML(typ="safe").load((tmp_path / "papers/sle/runs.yaml").read_text())
    assert left["groups"] == left["ensembles"] == {}
    assert left["runs"]["xe"] == {"group": None, "training": {"epochs": 3}}


def test_comparisons_go_with_their_runs(tmp_path):
    content = (
        "comparisons:\n- [xe, sll]\n- [both, xe]\n- [xe, more]\n"
        "groups:\n  a: one\n  b: one\nevaluations:\n  one: {}\n"
        "runs:\n  xe:\n    group: a\n  more:\n    like: xe\n  sll:\n    group: b\nensembles:\n  both: {run: more}\n"
    )
    write(tmp_path, {"papers/sle/runs.yaml": content})
    experiment.apply_overlay(tmp_path, {"papers/sle/runs.yaml": {"groups": {"b": None}}}, EXPERIMENT)
    left = YAML(typ="safe").load((tmp_path / "papers/sle/runs.yaml").read_text())
    assert left["comparisons"] == [["both", "xe"], ["xe", "more"]]


def test_what_an_overlay_does_not_change_is_written_as_it_was(tmp_path):
    for name in map(str, parameter_files(ROOT)):
        content = (ROOT / name).read_text(encoding="utf-8")
        # A study's file holds nothing but braces.
        text = content.replace("{}\n", "") + f"last: {'a long line ' * 12}ends\n"
        write(tmp_path, {name: text})
        experiment.apply_overlay(tmp_path, {name: {}}, EXPERIMENT)
        assert (tmp_path / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ({"tasks": {}}, "tasks is no file of parameters"),
        ({"code.py": {}}, "code.py is no file of parameters"),
        ({"papers/../params.yaml": {}}, "papers/../params.yaml is no file of parameters"),
        ({"/params.yaml": {}}, "is no file of parameters"),
        ({"papers/link/runs.yaml": {"work": 1}}, "papers/link/runs.yaml is no file of parameters"),
        ({"params.yaml": None}, "params.yaml: is not a mapping of parameters"),
        ({"papers/sle/runs.yaml": {"runs": {"ex": None}}}, "runs.ex is null, but there is no such entry; correct"),
    ],
)
def test_a_wrong_overlay_is_one_line_and_changes_nothing(tmp_path, overlay, message):
    write(tmp_path / "folder", COMMITTED)
    (tmp_path / "work.yaml").write_text("work: 0\n")
    (tmp_path / "folder/papers/link").mkdir()
    (tmp_path / "folder/papers/link/runs.yaml").symlink_to(tmp_path / "work.yaml")
    before = read(tmp_path)
    with pytest.raises(InputError) as caught:
        experiment.apply_overlay(tmp_path / "folder", {"papers/spider/runs.yaml": None} | overlay, EXPERIMENT)
    assert message in str(caught.value)
    assert str(caught.value).startswith("experiments/e.yaml: ")
    assert read(tmp_path) == before


def test_the_root_is_that_of_the_task_that_changes(checkout, tmp_path):
    EXPERIMENT.write_text("params.yaml:\n  tasks:\n    image:\n      max_length: 3\n")
    run_experiment(root=tmp_path)
    tasks = YAML(typ="safe").load((CLONE / "params.yaml").read_text())["tasks"]
    assert tasks["image"]["root"] == str(tmp_path)
    assert tasks["de_en"]["root"] is None
    EXPERIMENT.write_text("params.yaml: {tasks: {image: {root: pictures}, de_en: {root: sentences}}}")
    run_experiment(root=tmp_path)
    tasks = YAML(typ="safe").load((CLONE / "params.yaml").read_text())["tasks"]
    assert tasks["image"]["root"] == str(tmp_path / "pictures")
    assert tasks["de_en"]["root"] == str(tmp_path / "sentences")
    for text, tasks in (("{}", 0), ("params.yaml: {tasks: {image: {root: a}, de_en: {}}}", 2)):
        EXPERIMENT.write_text(text)
        with pytest.raises(InputError, match=f"changes {tasks} tasks"):
            run_experiment(root=tmp_path)


# Files


@pytest.mark.parametrize("before", ["old", None])
def test_links_are_written_through(tmp_path, before):
    """Also if they dangle. The target is never half written."""
    target, first, second = (tmp_path / name for name in ("disk/file.json", "first.json", "second.json"))
    first.symlink_to("disk/file.json")
    second.symlink_to(first)
    if before is not None:
        write(tmp_path, {"disk/file.json": before})
        with suppress(RuntimeError), writing.atomic(second) as temporary:
            temporary.write_text("half of the n")
            assert temporary.parent == target.parent
            raise RuntimeError
        assert target.read_text() == before
    json_file.write_json(second, {"a": 1})
    assert first.is_symlink()
    assert second.is_symlink()
    assert json_file.read_json(target) == {"a": 1}
    assert list(target.parent.iterdir()) == [target]


def test_a_fifo_gets_the_content(tmp_path):
    """More than a pipe holds."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    found = []
    reader = threading.Thread(target=lambda: found.append(fifo.read_text()), daemon=True)
    reader.start()
    json_file.write_json(fifo, "x" * 200_000)
    reader.join(timeout=10)
    assert found == ['"' + "x" * 200_000 + '"\n']
    assert fifo.is_fifo()
    assert list(tmp_path.iterdir()) == [fifo]


@pytest.mark.parametrize("to", ["file", "pipe"])
def test_standard_output_gets_the_content_after_what_was_printed(tmp_path, to):
    # Not /dev/stdout itself: if this fails, it replaces it.
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = "from seqcap.files.json_file import write_json\nprint('table'); write_json('link', [1]); print('end')"
    command = [sys.executable, "-c", code]
    if to == "file":
        with (tmp_path / "output").open("w") as output:
            subprocess.run(command, cwd=tmp_path, stdout=output, check=True)
        found = (tmp_path / "output").read_text()
    else:
        found = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert found == "table\n[\n  1\n]\nend\n"
    assert (tmp_path / "link").is_symlink()
