"""From raters' files to rates: votes by hand, agreement as published, and files that are wrong."""

import random

import numpy as np
import pytest

from seqcap.errors import InputError
from seqcap.files.json_file import read_json, write_json
from seqcap.rating import Key
from seqcap.rating.aggregate import COLUMNS, aggregate, as_table, fleiss_kappa
from seqcap.rating.page import NaturalnessItem, write_page
from seqcap.report.statistics import bootstrap_interval

# Fleiss' worked example as Wikipedia prints it: 14 raters, 10 subjects, 5 categories, kappa .210.
WORKED = """
0 0 0 0 14 / 0 2 6 4 2 / 0 0 3 5 6 / 0 3 9 2 0 / 2 2 8 1 1 / 7 7 0 0 0 / 3 2 6 3 0 / 2 5 3 2 2 / 6 5 2 1 0 / 0 2 2 3 7
"""
OTHER = {"a": "b", "b": "a"}


def right(kit, task="accuracy"):
    """Question -> the side that favours its first model, of one task."""
    sides = {}
    for entry in kit.key.entries:
        if entry.task == task and entry.question:
            sides.setdefault(entry.question, entry.side)
    return sides


def rate(ratings, task, model):
    return next(rate for rate in ratings.rates if (rate.task, rate.model) == (task, model))


def questions(kit, task, model):
    return {e.item: e.question for e in kit.key.entries if (e.task, e.model) == (task, model) and e.question}


def test_votes_are_of_the_majority(kit, answer_file):
    own, asked = right(kit), questions(kit, "accuracy", "modelhuman")
    turned = {q: OTHER[side] for q, side in own.items()}
    # Of the human captions, 0 has two votes to one, 1 one to two and 2 one to one; 3 has none.
    files = [
        answer_file("Ann", {asked[0]: own[asked[0]], asked[1]: own[asked[1]], asked[2]: own[asked[2]]}),
        answer_file("Bob", {asked[0]: own[asked[0]], asked[1]: turned[asked[1]], asked[2]: turned[asked[2]]}),
        answer_file("Cem", {asked[0]: turned[asked[0]], asked[1]: turned[asked[1]]}),
    ]
    ratings = aggregate(kit.key_file, files)
    found = rate(ratings, "accuracy", "modelhuman")
    assert found.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert (found.low, found.high) == bootstrap_interval(np.array([1, 0, 0.5]))
    assert (found.captions, found.missing, found.ties, found.equal, found.against) == (3, 1, 1, 0, "")
    votes = ratings.votes[ratings.votes["model"] == "modelhuman"].dropna(subset="value").set_index("item")
    assert votes["value"].to_dict() == {0: 1.0, 1: 0.0, 2: 0.5}
    assert votes[["a", "b"]].sum(axis=1).tolist() == [3, 3, 2]
    # Nobody was asked for anything else.
    assert rate(ratings, "accuracy", "modelst").value is None
    assert ratings.asked == 14


def test_naturalness_is_net_preference_and_equal_captions_are_equally_good(kit, answer_file):
    asked, best = questions(kit, "naturalness", "modelpsst"), right(kit, "naturalness")
    assert sorted(asked) == [0, 1, 3]
    choices = {asked[i]: OTHER[best[asked[i]]] if i == 3 else best[asked[i]] for i in asked}
    found = rate(aggregate(kit.key_file, [answer_file("Ann", choices)]), "naturalness", "modelpsst")
    assert found.value == pytest.approx((2 - 1) / 4)
    assert (found.low, found.high) == bootstrap_interval(np.array([1, 1, 0, -1.0]))
    assert (found.against, found.captions, found.ties, found.equal) == ("modelst", 4, 0, 1)


def test_a_shared_caption_counts_for_both_models(kit, answer_file):
    shared = questions(kit, "accuracy", "modelst")[1]
    ratings = aggregate(kit.key_file, [answer_file("Ann", {shared: right(kit)[shared]})])
    assert ratings.votes.loc[ratings.votes["a"] + ratings.votes["b"] > 0, "model"].tolist() == ["modelpsst", "modelst"]
    # One caption does not tell how sure it is.
    found = rate(ratings, "accuracy", "modelst")
    assert (found.value, found.low, found.high, found.captions) == (1.0, None, None, 1)


@pytest.mark.parametrize("accuracy", [0.5, 0.8])
def test_many_raters_are_better_than_one_and_agree_as_they_should(tmp_path, accuracy):
    """Raters who are right with a known probability, independently of each other."""
    pairs = [NaturalnessItem(item, "new", f"caption {item}", "old", f"words {item}") for item in range(1000)]
    write_page(tmp_path / "page.html", [], pairs, "Title", {})
    key_file, rng = tmp_path / "key.json", random.Random(0)
    key = Key.model_validate(read_json(key_file))
    files = []
    for rater in range(5):
        lines = [",".join(COLUMNS)]
        for entry in key.entries:
            choice = entry.side if rng.random() < accuracy else OTHER[entry.side]
            lines.append(f"{key.kit},{rater},naturalness,{entry.question},{choice},1")
        files.append(tmp_path / f"{rater}.csv")
        files[-1].write_text("\n".join(lines))
    ratings = aggregate(key_file, files)
    # Of five independent raters, three or more are right; two agree by chance alone in half of the cases.
    p = accuracy
    most = p**5 + 5 * p**4 * (1 - p) + 10 * p**3 * (1 - p) ** 2
    assert ratings.rates[0].value == pytest.approx(2 * most - 1, abs=0.05)
    assert ratings.agreement["naturalness"].kappa == pytest.approx(2 * (p**2 + (1 - p) ** 2) - 1, abs=0.03)
    assert ratings.agreement["naturalness"].questions == 1000


def test_kappa_is_the_published_one_and_that_of_extremes():
    assert fleiss_kappa(np.array([row.split() for row in WORKED.split("/")], int)) == pytest.approx(0.210, abs=5e-4)
    assert fleiss_kappa(np.array([[3, 0], [0, 3], [2, 0]])) == 1
    assert fleiss_kappa(np.array([[1, 1], [1, 1]])) == -1
    assert fleiss_kappa(np.array([[3, 0], [4, 0]])) is None
    # By hand: pairs that agree 1, 1/3 and 0; 6 a and 3 b of nine answers.
    assert fleiss_kappa(np.array([[4, 0], [1, 2], [1, 1]])) == pytest.approx((4 / 9 - 5 / 9) / (4 / 9))


def test_questions_with_one_answer_say_nothing_of_agreement(kit, answer_file):
    first, second, *_ = own = right(kit)
    files = [answer_file("Ann", {first: own[first], second: own[second]}), answer_file("Bob", {first: own[first]})]
    agreement = aggregate(kit.key_file, files).agreement
    assert agreement["accuracy"].questions == 1
    assert (agreement["naturalness"].kappa, agreement["naturalness"].questions) == (None, 0)


def test_a_rater_may_send_several_files(kit, answer_file):
    first, second, *_ = right(kit)
    early, late = answer_file("Ann", {first: "a"}), answer_file("Ann", {first: "a", second: "b"})
    ratings = aggregate(kit.key_file, [early, late, late])
    assert ratings.answers["question"].tolist() == [first, second]
    assert ratings.votes[["a", "b"]].sum(axis=1).max() == 1


def test_a_file_that_a_spreadsheet_program_saved_is_read(kit, answer_file):
    first, *_ = right(kit)
    path = answer_file('"Ann ""the judge"", 1"', {first: "a"})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert aggregate(kit.key_file, [path]).answers["rater"].tolist() == ['Ann "the judge", 1']


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kit": "abc"}, "line 2: kit 'abc', and the key's is"),
        ({"question": "zzz"}, "line 2: the page has no question 'zzz' in task 'accuracy'"),
        ({"task": "naturalness"}, "in task 'naturalness'; restore"),
        ({"choice": "left"}, "choice 'left', place '1'; expected a name, a or b, and 1 or 2"),
        ({"place": "3"}, "place '3'; expected"),
        ({"rater": ""}, "line 2: rater ''"),
        ({"place": "1,1"}, "line 2 has not 6 values"),
    ],
)
def test_a_wrong_row_is_named(kit, answer_file, change, message):
    path = answer_file("Ann", {next(iter(right(kit))): "a"}, **change)
    with pytest.raises(InputError) as caught:
        aggregate(kit.key_file, [path])
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        (b"", "has columns nothing; expected kit, rater"),
        (b"rater,choice\nAnn,a\n", "has columns rater, choice; expected kit"),
        (b"\xff\xfe\x00", "is not a CSV file"),
        (b'kit,rater,task,question,choice,place\n"a', "is not a CSV file"),
    ],
)
def test_a_wrong_file_is_named(kit, tmp_path, content, message):
    path = tmp_path / "answers.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"answers\.csv") as caught:
        aggregate(kit.key_file, [path])
    assert message in str(caught.value)


def test_two_raters_of_one_name_are_noticed(kit, answer_file):
    first, *_ = right(kit)
    with pytest.raises(InputError, match=f"rater 'Ann' has two answers to question {first}; give the rater's last"):
        aggregate(kit.key_file, [answer_file("Ann", {first: "a"}), answer_file("Ann", {first: "b"})])


def test_a_wrong_key_is_named(kit, answer_file, tmp_path):
    path = answer_file("Ann", {next(iter(right(kit))): "a"})
    key = read_json(kit.key_file)
    key["entries"][3]["side"] = "left"
    write_json(tmp_path / "key.json", key)
    with pytest.raises(InputError, match=r"key\.json: entries\.3\.side: .* take the key.json that was written"):
        aggregate(tmp_path / "key.json", [path])


def test_the_table_says_what_was_counted(kit, answer_file):
    own, natural = right(kit), right(kit, "naturalness")
    ann = {q: own[q] for q in own} | natural
    bob = {q: OTHER[side] if i < 3 else side for i, (q, side) in enumerate(own.items())}
    table = as_table(aggregate(kit.key_file, [answer_file("Ann", ann), answer_file("Bob", bob)]))
    assert "'Ann': 14 of 14 questions, 100% of answers the first place" in table
    assert "'Bob': 11 of 14 questions" in table
    lines = {line.split()[0]: line for line in table.splitlines() if line.startswith("  model")}
    assert "87.5  [  62.5,  100.0]  4 captions, 1 tied" in lines["modelhuman"]
    assert "modelpsst against modelst" in lines["modelpsst"]
    assert "+75.0  [ +25.0, +100.0]  4 captions, 1 equal" in lines["modelpsst"]
    assert "of 11 questions with two answers or more" in table
    assert "Fleiss' kappa undefined, of 0 questions" in table
