"""The parameter files: what is read from them, and the one line that a wrong one gets."""

import re
from itertools import pairwise

import pytest
from parameter_files import FILES, ROOT, ParameterFiles
from ruamel.yaml import YAML

from seqcap.errors import InputError
from seqcap.pipeline.params import overlaid, read_params, read_yaml

SMOOTHING, SLE, PAPER = "papers/smoothing.yaml", "papers/sle.yaml", "scales/paper.yaml"


@pytest.fixture
def files(tmp_path):
    return ParameterFiles(tmp_path)


def message(read):
    """The one line of the InputError that `read` raises."""
    with pytest.raises(InputError) as caught:
        read()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- The committed files


def test_alpha_is_filled_in_where_runs_name_it(files):
    assert files.read().runs["sll_sle"].settings["alpha"] == 0.75
    files["alpha"] = 0.5
    runs = files.read().runs
    assert runs["sll_sle"].settings["alpha"] == runs["sll_sle_att"].settings["alpha"] == 0.5
    assert runs["lstm_tok"].settings["alpha"] == 0.3


def test_every_entry_knows_its_file(files):
    params = files.read()
    assert str(params.source("sll")) == str(params.source("sle_image")) == SLE
    assert str(params.source("tok_seq_cider")) == SMOOTHING
    assert str(params.source("spider_variance")) == "papers/spider.yaml"
    assert str(params.source("seed")) == "params.yaml"


def test_runs_without_a_group_are_there_for_others_only(files):
    params = files.read()
    assert not {"policy", "captions", "attention", "clips", "translations"} & set(params.runs)


@pytest.mark.parametrize("scale", [name for name in FILES if name.startswith("scales")])
def test_a_committed_scale_names_what_is_there(scale):
    """What a scale names and the files lack is passed over: an experiment may have left it out."""
    for name, changes in YAML(typ="safe").load((ROOT / scale).read_text()).items():
        content = YAML(typ="safe").load((ROOT / name).read_text())
        for section, entries in changes.items():
            assert set(entries) <= set(content[section])


# --- like


def runs_of(files, **runs):
    """The runs of SLE's file with some more, all in the group `sle_sll`."""
    base = {"group": "sle_sll", "label": "x", "objective": "cross_entropy"}
    for name, run in runs.items():
        files[f"{SLE}:runs.{name}"] = (base | run) if "group" not in run else run
    return files.read().runs


def test_a_run_like_another_takes_over_its_values_key_by_key(files):
    runs = runs_of(files, mine={"like": "sll_sle", "training": {"epochs": 3}, "settings": {"alpha": 0.1}})
    theirs = files.read().runs["sll_sle"]
    assert runs["mine"].training == theirs.training | {"epochs": 3}
    assert runs["mine"].settings == theirs.settings | {"alpha": 0.1}
    assert runs["mine"].reward == "cider"


def test_of_several_the_later_wins_and_a_runs_own_value_over_all(files):
    one = {"training": {"epochs": 1, "batch_size": 11, "clip": 1.0}}
    two = {"training": {"epochs": 2, "batch_size": 22}}
    likes = {"ab": ["a", "b"], "ba": ["b", "a"]}
    runs = runs_of(files, a=one, b=two, **{n: {"like": like, "training": {"epochs": 3}} for n, like in likes.items()})
    assert runs["ab"].training == {"epochs": 3, "batch_size": 22, "clip": 1.0}
    assert runs["ba"].training == {"epochs": 3, "batch_size": 11, "clip": 1.0}


def test_a_run_may_be_written_before_the_one_that_it_is_like(files):
    runs = runs_of(files, first={"like": "second"}, second={"seeds": 2})
    assert runs["first"].seeds == 2


@pytest.mark.parametrize(
    ("runs", "named"),
    [
        ({"a": {"like": "zebra"}}, ["runs.a.like is 'zebra'", "allowed: policy, attention, clips, xe"]),
        ({"a": {"like": ["sll", "zebra"]}}, ["runs.a.like is 'zebra'"]),
        ({"a": {"like": 3}}, ["runs.a.like is 3"]),
        ({"a": {"like": "lstm_mle"}}, ["runs.a.like is 'lstm_mle'"]),
        ({"a": {"like": "a"}}, ["runs.a.like leads back to 'a'"]),
        ({"a": {"like": "b"}, "b": {"like": ["sll", "a"]}}, ["like leads back to 'a'"]),
    ],
)
def test_a_wrong_like_is_named(files, runs, named):
    found = message(lambda: runs_of(files, **runs))
    assert found.startswith(f"{SLE}: ")
    for part in named:
        assert part in found


# --- scale


def test_a_scale_changes_values_key_by_key(files):
    before = files.read()
    files["scale"] = "paper"
    after = files.read()
    assert after.shared.captioners["lstm"].model == {"hidden": 512, "image_input": "initial_state"}
    assert after.shared.pretrain["lstm"].training.dropout == before.shared.pretrain["lstm"].training.dropout
    assert after.shared.tasks["de_en"].max_length == 80
    # What others are like changes them, too.
    assert after.runs["sll_me"].training["epochs"] == after.runs["sll_me_att"].training["epochs"] == 40
    assert after.runs["lstm_tok_seq_cider_batch"].settings["sequence"]["tau"] == 0.17


def test_a_scale_of_ones_own(files):
    files["scale"] = "huge"
    files.content("scales/huge.yaml")["params.yaml"] = {"captioners": {"lstm": {"seeds": 9}}}
    assert files.read().shared.captioners["lstm"].seeds == 9


def scaled(files, name, changes):
    """Changes the scale of the papers for one file."""
    files["scale"] = "paper"
    files.content(PAPER)[name] = changes
    return files


@pytest.mark.parametrize(
    ("name", "changes", "named"),
    [
        (SLE, {"groups": {"sle_sll": {"start": "image/data"}}}, [f"changes the graph of {SLE}"]),
        (SLE, {"groups": {"sle_sll": {"reads": "words/image"}}}, [f"changes the graph of {SLE}"]),
        (SLE, {"groups": {"sle_sll": {"task": "de_en"}}}, [f"changes the graph of {SLE}"]),
        (SLE, {"evaluations": {"sle_image": {"task": "de_en"}}}, [f"changes the graph of {SLE}"]),
        (SLE, {"groups": None}, ["groups is None", "expected a mapping"]),
        (SLE, {"runs": {"sll": 3}}, ["runs.sll is 3", "expected a mapping"]),
        (SLE, None, ["is None", "expected a mapping"]),
        ("params.yaml", {"pretrain": {"lstm": {"task": "de_en"}}}, ["changes the graph of params.yaml"]),
        ("papers.yaml", {}, ["'papers.yaml' is no parameter file", "allowed: params.yaml, papers/psst.yaml"]),
    ],
)
def test_a_scale_may_not_change_the_graph(files, name, changes, named):
    found = message(scaled(files, name, changes).read)
    assert found.startswith(f"{PAPER}: ") or found.startswith(f"{files.folder / PAPER}: ")
    for part in named:
        assert part in found


def test_a_scale_passes_over_what_an_experiment_left_out(files):
    files["scale"] = "paper"
    for section in ("papers", "evaluations", "groups", "runs", "variances"):
        files[f"papers/spider.yaml:{section}"] = {}
    del files["captioners.attention"]
    del files[f"{SLE}:runs.attention"]
    for name in ("xe_att", "sll_att", "sll_me_att", "sll_sle_att"):
        del files[f"{SLE}:runs.{name}"]
    (files.folder / SMOOTHING).unlink()
    for name in ("psst", "wtfrl"):
        (files.folder / f"papers/{name}.yaml").unlink()
    params = files.read()
    assert set(params.papers) == {"sle"}
    assert "attention" not in params.shared.captioners


# --- What is wrong


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("alpha", 1.5, ["alpha is 1.5", "less than or equal to 1"]),
        ("alpha", "much", ["alpha is 'much'"]),
        ("objektive", 1, ["objektive is not a parameter", "allowed: alpha, scale, seed"]),
        ("scale", "huge", ["scale is 'huge'", "allowed: laptop, paper"]),
        ("scale", None, ["scale is None"]),
        ("seed", None, ["seed is None"]),
        ("precision", "float16", ["precision is 'float16'", "'float32' or 'bfloat16'"]),
        ("workers", 0, ["workers is 0", "Input should be 'auto' or greater than or equal to 1"]),
        ("workers", {"a": 1}, ["workers is {'a': 1}"]),
        ("alpha", True, ["alpha is True", "valid number"]),
        ("seed", "1", ["seed is '1'", "valid integer"]),
        ("seed", 1.0, ["seed is 1.0", "valid integer"]),
        ("tasks.en_fr.tokenise", "yes", ["tasks.en_fr.tokenise is 'yes'", "valid boolean"]),
        ("parallel.detail", [1, True, 5], ["parallel.detail.1 is True"]),
        ("rewards.cider", {}, ["rewards.cider is {}", "it pays for nothing"]),
        ("rewards.cider.cider", 0, ["rewards.cider is {'cider': 0", "it pays for nothing"]),
        ("tasks.image.root", "a/" + "b" * 256, ["tasks.image.root is 'a/bbb", "no file can have this name"]),
        ("features.image.weights", "a\0b", ["features.image.weights is 'a\\x00b'", "no file can have this name"]),
        (f"{SLE}:runs.{'a' * 101}", {}, [f"runs.{'a' * 101}", "at most 100 characters"]),
        (f"{SLE}:runs.sll.seeds", True, ["runs.sll.seeds is True"]),
        (f"{SLE}:runs.sll.settings", None, ["runs.sll.settings is None"]),
        (f"{SLE}:papers.sle", None, ["papers.sle is None", "expected a mapping"]),
        (f"{SLE}:evaluations", None, ["evaluations is None", "expected a mapping"]),
        ("tasks", 5, ["tasks is 5", "expected a mapping"]),
        ("tasks.image", None, ["tasks.image is None", "expected a mapping"]),
        ("tasks.image.kind", "video", ["tasks.image.kind is 'video'", "'images', 'clips', 'sentences'"]),
        ("tasks.image.dataset", "imagenet", ["tasks.image.dataset is 'imagenet'", "flickr8k"]),
        ("tasks.image.min_counts", 3, ["tasks.image.min_counts is not a parameter"]),
        ("tasks.de_en.dataset", "iwslt", ["tasks.de_en.dataset is 'iwslt'"]),
        ("tasks.de_en.target", "de", ["tasks.de_en.target is 'de'", "the source is the same"]),
        ("tasks.de_en.source", "German", ["tasks.de_en.source is 'German'"]),
        ("tasks.en_fr.splits", {"train": "train", "val": "valid"}, ["tasks.en_fr.splits.test is missing"]),
        ("tasks.en_fr.subwords", 0, ["tasks.en_fr.subwords is 0"]),
        ("scenes.train", 0, ["scenes.train is 0"]),
        ("parallel.detail", [0, 0, 0], ["parallel.detail"]),
        ("features.image.backbone", "vit", ["features.image.backbone is 'vit'"]),
        ("captioners.lstm.seeds", 101, ["captioners.lstm.seeds is 101"]),
        ("pretrain.lstm.training.dropout", 1, ["pretrain.lstm.training.dropout is 1", "less than 1"]),
        ("rewards.spider.spyce", 1.0, ["rewards.spider.spyce is 'spyce'", "allowed: bleu1"]),
        ("rewards.spider", {"cider": "x"}, ["rewards.spider.cider is 'x'"]),
        ("decoding.batch", 3, ["decoding.batch is not a parameter"]),
        (f"{SLE}:runs", [], ["runs is []", "expected a mapping"]),
        (f"{SLE}:runs.sll.objektive", "x", ["runs.sll.objektive is not a parameter"]),
        (f"{SLE}:runs.a-b", {}, ["runs.a-b", "underscores"]),
        (f"{SLE}:runs.sll", 3, ["runs.sll is 3"]),
        (f"{SLE}:runs.sll.seeds", 0, ["runs.sll.seeds is 0"]),
        (f"{SLE}:evaluations.sle_image.beam", 0, ["evaluations.sle_image.beam is 0"]),
        (f"{SLE}:evaluations.sle_image.beam", 10**6, ["evaluations.sle_image.beam is 1000000"]),
        (f"{SLE}:evaluations.sle_image.split", "dev", ["evaluations.sle_image.split is 'dev'", "server"]),
        (f"{SLE}:groups.sle_sll.start", "/etc", ["groups.sle_sll.start is '/etc'", "below artifacts/"]),
        (f"{SLE}:groups.sle_sll.reads", "../x", ["groups.sle_sll.reads is '../x'"]),
        (f"{SLE}:runz", {}, ["runz is not a parameter", "allowed: papers, evaluations, groups"]),
        (f"{SMOOTHING}:evaluations.smoothing_server.references", [], ["evaluations.smoothing_server.references is []"]),
        (f"{SMOOTHING}:ensembles.tok_seq_cider.label", "", ["ensembles.tok_seq_cider.label is ''"]),
        ("papers/spider.yaml:variances.spider_variance.images", 0, ["variances.spider_variance.images is 0"]),
        ("papers/psst.yaml:estimators.psst_estimators.rhos", [0.5, 2], ["estimators.psst_estimators.rhos.1 is 2"]),
        ("papers/psst.yaml:estimators.psst_estimators.images", 1, ["estimators.psst_estimators.images is 1"]),
        (
            "papers/psst.yaml:estimators.psst_estimators.replicates",
            1,
            ["psst_estimators.replicates is 1", "equal to 2"],
        ),
        ("papers/spider.yaml:variances.spider_variance.rollouts", [0], ["variances.spider_variance.rollouts.0 is 0"]),
    ],
)
def test_wrong_parameters_are_named(files, key, value, named):
    files[key] = value
    found = message(files.read)
    assert found.startswith(f"{key.rpartition(':')[0] or 'params.yaml'}: ")
    for part in named:
        assert part in found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (".nan", "is nan; only finite numbers"),
        ("-.inf", "is -inf; only finite numbers"),
        ("1" * 30, "is 11111.*2\\^63"),
    ],
)
def test_numbers_that_are_none_are_named(files, text, problem):
    path = files.folder / "params.yaml"
    path.write_text(path.read_text().replace("    cider: 1.0\n", f"    cider: {text}\n", 1))
    assert re.search(rf"params\.yaml: rewards\.cider\.cider {problem}", message(files.read))


@pytest.mark.parametrize(
    "key", ["decoding.batch_size", "tasks.image.evaluate_on", f"{SLE}:evaluations.sle_image.beam", f"{SLE}:groups"]
)
def test_a_missing_parameter_is_named(files, key):
    del files[key]
    found = message(files.read)
    assert f": {key.rpartition(':')[2]} is missing" in found


@pytest.mark.parametrize(
    ("section", "name"),
    [("runs", "lstm_mle"), ("groups", "smoothing_server"), ("papers", "smoothing"), ("evaluations", "smoothing_de_en")],
)
def test_papers_share_one_name_space(files, section, name):
    own = {key: value for key, value in files[f"{SMOOTHING}:{section}.{name}"].items() if key != "like"}
    files[f"papers/spider.yaml:{section}.{name}"] = own
    found = message(files.read)
    assert found == f"papers/spider.yaml: {section}.{name} is in {SMOOTHING}, too; give it another name"


@pytest.mark.parametrize("name", ["params.yaml", SLE])
@pytest.mark.parametrize("text", ["alpha: [", "- a\n- b\n", "\udcff", "", "a: 1\na: 2\n"])
def test_what_is_no_parameter_file_is_one_line(files, name, text):
    path = files.folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert message(files.read).startswith(str(path))


def nested(line):
    """A YAML file each of whose lines holds the one before four times: 4^15 values."""
    return "a: &a {x: 1}\n" + "".join(line.format(b, ", ".join([f"*{a}"] * 4)) for a, b in pairwise("abcdefghijklmnop"))


TALL = "a0: &a0 1\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}]\n" for i in range(2000))
BOMB, MERGED = nested("{0}: &{0} [{1}]\n"), nested("{0}: &{0} {{<<: [{1}]}}\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(BOMB, "stands for more than 100,000 values", id="bomb"),
        pytest.param(MERGED, "stands for more than 100,000 values", id="merged"),
        pytest.param("a: " + "[" * 200_000, "more than 50 levels", id="deep"),
        pytest.param(TALL, "more than 50 levels", id="tall"),
        ("a: &a [1, *a]", r"\*a stands for nothing, or is part of what it stands for"),
        ("a: *b", r"\*b stands for nothing"),
        ("a: 2020-13-45", "month must be in 1..12"),
        ("a: 2020-11-22", "a is datetime.date.*a date; write it in quotes"),
        ("a: {b: !!set {x}}", "a.b is .*a set; write it in quotes"),
        ("a: !!binary aGk=", "a is b'hi', a bytes"),
        ("a: !!bool maybe", "is not YAML"),
        ("a: !!int ''", "is not YAML"),
        ("a: !!python/object:os.system x", "is not YAML"),
        pytest.param(f"a: {'9' * 5000}", "is not YAML", id="long"),
        ("a: [1, .inf]", r"a\.1 is inf; only finite"),
        ("1: 2", "the file has the key 1; write it in quotes"),
        ("a: {[1, 2]: 3}", r"a has the key \(1, 2\)"),
        ("a: 1\na: 2", "duplicate key"),
    ],
)
def test_yaml_that_is_not_json_is_one_line(tmp_path, text, problem):
    path = tmp_path / "file.yaml"
    path.write_text(text)
    assert re.search(problem, found := message(lambda: read_yaml(path))), found
    assert found.startswith(f"{path}: ")


def test_aliases_stand_for_what_they_name(tmp_path):
    (tmp_path / "file.yaml").write_text("a: &a {x: [1]}\nb: *a\nc: {<<: *a, y: 2}\n")
    assert read_yaml(tmp_path / "file.yaml") == {"a": {"x": [1]}, "b": {"x": [1]}, "c": {"x": [1], "y": 2}}


def test_runs_that_are_like_two_others_many_times_over_are_read_at_once(files):
    """Without memory of what was looked up, 2^30 times."""
    names = [f"run_{number}" for number in range(31)]
    runs = {b: {"like": [a, a]} for a, b in pairwise(names)}
    found = runs_of(files, **{names[0]: {"seeds": 2}}, **runs)
    assert found[names[-1]].seeds == 2


def test_no_parameter_file_at_all_is_one_line(tmp_path):
    assert "cannot be read" in message(lambda: read_params(tmp_path))


def test_an_overlay_leaves_what_it_covers_as_it_was():
    values = {"a": {"b": 1, "c": [1, 2]}, "d": 4}
    assert overlaid(values, {"a": {"c": [3]}, "d": {"e": 5}, "f": 6}) == {
        "a": {"b": 1, "c": [3]},
        "d": {"e": 5},
        "f": 6,
    }
    assert values == {"a": {"b": 1, "c": [1, 2]}, "d": 4}
