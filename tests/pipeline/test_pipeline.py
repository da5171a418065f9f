"""The whole graph on a tiny dataset with one paper more; and which stages a change makes stale."""

import gzip
import json
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from dvc.repo import Repo
from parameter_files import resolve
from pipeline_files import FEWER_STAGES, ROOT, add_made_up_paper, commit, copy_project, forget_code, git, run, start
from ruamel.yaml import YAML
from stage_server import STAGES, stage_server

from seqcap import papers
from seqcap.config import config_path
from seqcap.errors import InputError
from seqcap.files.json_file import read_json
from seqcap.pipeline import code, publish, repro
from seqcap.pipeline.configure import write_configs, write_graph
from seqcap.pipeline.experiment import apply_overlay, set_roots
from seqcap.pipeline.graph import CONFIGURE, REPORT, lock_files
from seqcap.pipeline.kind import kinds
from seqcap.pipeline.params import read_params
from seqcap.pipeline.project import Project
from seqcap.pipeline.repro import MACHINE, sections, share_cores, stage_graph
from seqcap.spice.wordnet import meteor_file


@pytest.fixture(scope="module")
def programs():
    """The folder with the stages' `python`."""
    with stage_server(STAGES) as folder:
        yield folder


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder with the first of METEOR's paraphrases. All of them would be read four times, in eight seconds each."""
    folder = tmp_path_factory.mktemp("packages")
    table = folder / "pycocoevalcap/meteor/data/paraphrase-en.gz"
    table.parent.mkdir(parents=True)
    with gzip.open(meteor_file("data/paraphrase-en.gz")) as file:
        # Three lines each.
        lines = list(islice(file, 300_000))
    table.write_bytes(gzip.compress(b"".join(lines), 1))
    return [folder]


@pytest.fixture(scope="module")
def copy(programs, packages, tmp_path_factory):
    """A copy of the project with the made-up paper, run from nothing. What its processes load is noted in `watched`."""
    folder = copy_project(tmp_path_factory.mktemp("copy"), FEWER_STAGES)
    add_made_up_paper(folder)
    watched = tmp_path_factory.mktemp("watched")
    process = start(folder, "dvc", "repro", watch=watched, programs=programs, packages=packages)
    output, _ = process.communicate(timeout=3600)
    assert process.returncode == 0, output
    (folder / "watched").symlink_to(watched)
    return folder


def outputs(folder):
    """Path -> hash of everything that the graph wrote."""
    return {out["path"]: out["md5"] for stage in recorded(folder).values() for out in stage.get("outs", [])}


def test_every_stage_ran_and_left_what_it_declares(copy):
    for path in outputs(copy):
        assert (copy / path).exists()
    report = (copy / "reports/report.md").read_text()
    assert "nan" not in report.lower().split()
    for paper, label in (("sle", "SLL-SLE"), ("spider", "PG-SPIDEr"), ("smoothing", "Tok-Seq")):
        assert label in (copy / f"reports/{paper}/details.md").read_text()
    assert json.loads((copy / "reports/metrics.json").read_text())
    # The process of each stage is known by the stage's name.
    assert read_json(copy / "reports/sle/results/provenance.json")["not_timed"] == []


def test_nothing_is_stale_after_a_run(copy):
    with Repo(str(copy)) as repo:
        assert repo.status() == {}


def test_a_run_trains_again_as_it_was_published(copy, programs):
    assert "val_cider: the same digits" in run(copy, "seqcap", "verify", "sll_sle", programs=programs)
    assert not (copy / "scratch/verify-sll_sle").exists()
    curves = copy / "reports/sle/results/curves.csv"
    published = curves.read_text()
    line = next(line for line in published.splitlines() if line.startswith("sle,sll_sle,1,") and "val_cider" in line)
    curves.write_text(published.replace(line, f"{line}9"))
    process = start(copy, "seqcap", "verify", "sll_sle", programs=programs)
    output, _ = process.communicate(timeout=300)
    curves.write_text(published)
    assert process.returncode == 1
    assert "val_cider: differs at 1 of" in output


def test_dvc_shows_metrics_and_plots(copy, programs):
    assert "cider" in run(copy, "dvc", "metrics", "show", programs=programs).lower()
    run(copy, "dvc", "plots", "show", programs=programs)
    assert "val_cider" in (copy / "dvc_plots/index.html").read_text()


def test_a_new_paper_is_new_files(copy):
    """The made-up paper has rows, a table, claims and a figure. `seqcap graph` renews the one file that is not new."""
    changed = [line.split()[-1] for line in git(copy, "diff", "--name-only", "HEAD").splitlines()]
    assert [name for name in changed if not name.startswith("reports/")] == ["dvc.yaml"]
    reports = copy / "reports"
    assert (reports / "made_up/tables/made_up_table1.csv").exists()
    assert (reports / "made_up/figures/made_up_fig1.png").exists()
    assert "Made-up" in (reports / "report.md").read_text()
    claims = [line for line in (reports / "claims.csv").read_text().splitlines() if line.startswith("made_up,")]
    assert claims
    assert not any(",not run," in line for line in claims)


def test_stages_load_only_the_code_that_they_depend_on(copy):
    """Whatever a stage's process has loaded of the package, found by name or not, its configuration names. The pipeline
    and what it loads for every stage are nobody's code."""
    loaded: dict[tuple[str, str], set[str]] = {}
    for note in (json.loads(path.read_text()) for path in (copy / "watched").glob("*.json")):
        script, *names = note["command"] if note["command"] else [""]
        if script.startswith("stages/") and script != "stages/configure.py":
            # A file of two kinds of stage is told which.
            kind = names[0] if len(names) > 1 else Path(script).stem
            loaded[kind, names[-1] if names else ""] = {str(Path(file).relative_to(copy)) for file in note["files"]}
    assert {kind for kind, _ in loaded} == set(kinds())
    machinery = set.intersection(*loaded.values())
    for (kind, name), files in loaded.items():
        known = set(read_json(copy / config_path(kind, name))["code"])
        assert {file for file in files - machinery if "/pipeline/" not in file} <= known, (kind, name)


def test_an_experiment_publishes_what_its_stages_write(copy):
    """Its clone also holds what is committed there."""
    found = publish._written(copy)
    assert {Path("sle/results"), Path("sle/report.md"), Path("sle/tables"), Path("features/image.json")} <= set(found)
    assert not [path for path in found if path.parts[0] in ("flickr8k", "multi30k")]


def test_one_paper_runs_alone(copy, programs, packages, tmp_path):
    """In a fresh clone, with neither artifacts nor a cache: it runs what the paper needs, but for the starts that git
    keeps, and remakes its pages and the first page. Every other paper's files and records stay."""
    alone = tmp_path / "alone"
    # But with what numba has compiled.
    absent = ("artifacts", "configs", "scratch", "cache", "tmp", "watched", "dvc_plots", ".git")
    shutil.copytree(copy, alone, ignore=shutil.ignore_patterns(*absent))
    git(alone, "init", "--quiet")
    commit(alone, "results of every paper")
    before = recorded(alone)
    parameter("papers/made_up/runs.yaml", "runs.made_up_sll.label", "Newer")(alone)
    process = start(alone, "seqcap", "repro", "--papers", "made_up", programs=programs, packages=packages)
    output, _ = process.communicate(timeout=3600)
    assert process.returncode == 0, output
    assert "Running stage 'features-image'" in output
    assert not [kind for kind in ("encoder", "pretrain", "retriever") if f"Running stage '{kind}-" in output]
    changed = {line[3:] for line in git(alone, "status", "--porcelain").splitlines()}
    files = {"dvc.lock", "reports/report.md", "reports/report.html"}
    assert files <= changed
    own = ("papers/made_up/", "reports/made_up/")
    assert not [name for name in changed - files if not name.startswith(own)]
    now = recorded(alone)
    assert now.keys() == before.keys()
    assert {name for name in now if now[name] != before[name]} == {CONFIGURE, REPORT, *paper("made_up")}
    assert "Newer" in (alone / "reports/made_up/details.md").read_text()
    assert "with uncommitted changes in papers/made_up/runs.yaml" in (alone / "reports/report.md").read_text()


def recorded(folder):
    """DVC's records of all stages."""
    locks = [YAML(typ="safe").load((folder / path).read_text()) for path in lock_files(folder)]
    return {name: stage for lock in locks for name, stage in lock["stages"].items()}


# --- What a change makes stale


def parameter(file: str, key: str, value: object) -> Callable[[Path], None]:
    """An edit that sets one parameter."""

    def edit(folder: Path) -> None:
        place = content = YAML(typ="safe").load((folder / file).read_text())
        *parents, last = key.split(".")
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
        with (folder / file).open("w") as opened:
            YAML().dump(content, opened)

    return edit


def source(file: str) -> Callable[[Path], None]:
    """An edit of a file of the package."""

    def edit(folder: Path) -> None:
        path = folder / "src/seqcap" / file
        path.write_text(path.read_text() + ("\nedited = True\n" if file.endswith(".py") else "\n"))

    return edit


def of(stage: str, *names: str) -> set[str]:
    return {f"{stage}-{name}" for name in names}


def paper(name: str) -> set[str]:
    return {f"{stage}-{name}" for stage in ("tables", "figures", "section")}


EXPLORING = ("sle_sll_sle", "sle_clip_policies")
ATTENTIVE = ("smoothing_attention_token_sequence", "smoothing_server")

# What is edited -> the edits, and the stages. To ask DVC takes seconds: edits of different stages are made together.
EDITS = {
    "alpha": ([parameter("params.yaml", "alpha", 0.5)], of("train", *EXPLORING) | paper("sle")),
    "the device, a published table, how clips are drawn, a captioner": (
        [
            parameter("params.yaml", "device", "cpu"),
            source("papers/sle/published/table1.csv"),
            source("world/clips.py"),
            source("models/attention.py"),
        ],
        {
            *paper("sle"),
            *of("data", "clip"),
            *of("pretrain", "attention"),
            *of("train", *ATTENTIVE),
            *of("decode", *ATTENTIVE),
        },
    ),
    "the checker of scenes": ([source("world/checker.py")], None),
}


@pytest.fixture
def configured(copy, monkeypatch):
    """The copy, whose code the closures see; it is as it was before the test."""
    folder = copy
    monkeypatch.chdir(folder)
    monkeypatch.setattr(code, "PACKAGE", folder / "src/seqcap")
    monkeypatch.setattr(code, "REPOSITORY", folder)
    monkeypatch.setattr(papers, "FOLDER", folder / "src/seqcap/papers")
    kept = {
        path: path.read_bytes()
        for path in (*folder.glob("*.yaml"), *folder.glob("papers/*/*.yaml"), *folder.glob("src/seqcap/**/*"))
        if path.suffix in (".yaml", ".py", ".csv", ".js")
    }
    configs = {path: path.read_bytes() for path in folder.glob("configs/**/*.json")}

    def stale() -> set[str]:
        forget_code()
        params = read_params()
        write_configs(Project(params))
        with Repo(str(folder)) as repo:
            return {stage.rpartition(":")[2] for stage in repo.status()} - {CONFIGURE}

    yield folder, stale
    for path in folder.glob("configs/**/*.json"):
        if path not in configs:
            path.unlink()
    for path, content in (kept | configs).items():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
    monkeypatch.undo()
    forget_code()


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_makes_stale_what_uses_it_and_nothing_else(configured, name):
    """Stages whose own inputs changed; what follows from them runs again if their outputs come out different."""
    folder, stale = configured
    edits, expected = EDITS[name]
    for edit in edits:
        edit(folder)
    found = stale()
    if expected is None:
        assert not {stage for stage in found if stage.startswith(("train", "decode", "pretrain", "features"))}
        assert of("evaluate", "sle_image") <= found
    else:
        assert found == expected


# --- The committed graph


def test_measured_times_are_not_recorded(copy):
    """They differ from clone to clone: `git status` would show them after every run."""
    assert list((copy / "artifacts/timing").glob("*.json"))
    assert not [path for path in lock_files(copy) if "timing" in (copy / path).read_text()]


def test_the_stages_of_all_papers_and_of_some():
    graph = stage_graph(ROOT)
    before = {f"papers/psst/dvc.yaml:{kind}-psst" for kind in ("rating", "figures", "tables")}
    assert before <= graph["papers/psst/dvc.yaml:section-psst"]
    assert graph[CONFIGURE] == set()
    papers = stage_graph(ROOT, sections(["sle", "spider"]))
    assert {*sections(["sle", "spider"]), "papers/sle/dvc.yaml:tables-sle", "pretrain-lstm"} <= set(papers)
    assert not [name for name in papers if "smoothing" in name or name == REPORT]
    with pytest.raises(InputError, match="no section 'sel'; allowed: across, psst, sle, "):
        stage_graph(ROOT, sections(["sel"]))


@pytest.mark.parametrize(("wanted", "jobs", "expected"), [("auto", 1, 4), ("auto", 2, 2), ("auto", 9, 1), (3, 2, 3)])
def test_stages_side_by_side_share_the_cores(tmp_path, monkeypatch, wanted, jobs, expected):
    monkeypatch.setattr(repro, "cores", lambda: 4)
    (tmp_path / "params.yaml").write_text(f"seed: 1\ndevice: cpu\nworkers: {wanted}\nlauncher: python\n")
    share_cores(tmp_path, jobs)
    assert read_json(tmp_path / MACHINE) == {"device": "cpu", "workers": expected, "launcher": "python"}


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("flickr8k", ["image"]),
        ("multi30k", ["de_en"]),
        ("quick", []),
        ("smoothing_sizes", []),
        ("smoothing_flickr8k", ["photographs_500", "photographs_6000"]),
    ],
)
def test_committed_experiments_change_parameters_that_there_are(name, tasks, tmp_path):
    """Those on real data change tasks whose root the command line gives."""
    shutil.copy(ROOT / "params.yaml", tmp_path)
    for folder in ("papers", "scales"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    experiment = ROOT / f"experiments/{name}.yaml"
    overlay = YAML(typ="safe").load(experiment.read_text())
    if tasks:
        set_roots(overlay["params.yaml"]["tasks"], tmp_path / "data", experiment)
    apply_overlay(tmp_path, overlay, experiment)
    stages = resolve(read_params(tmp_path))
    assert [name for name, data in stages["data"].items() if data.root.startswith(str(tmp_path / "data"))] == tasks
    left_out = [Path(file).parent.name for file, changes in overlay.items() if changes is None]
    assert not [name for configs in stages.values() for name in configs for paper in left_out if paper in name]


def test_an_experiment_runs_only_what_its_reports_need(tmp_path):
    folder = copy_project(tmp_path / "copy")
    assert "data-de_en" in stage_graph(folder, [REPORT])
    apply_overlay(folder, {"papers/smoothing/runs.yaml": None}, Path("experiment.yaml"))
    write_graph(folder)
    left = stage_graph(folder, [REPORT])
    assert not [name for name in left if "de_en" in name or "smoothing" in name]
    assert {*sections(["sle", "spider"])} <= set(left)
