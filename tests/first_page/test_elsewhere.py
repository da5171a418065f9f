"""What other data say of a claim: only the same comparison."""

from invented_evidence import evidence
from test_report import invented_results

from seqcap.first_page import elsewhere
from seqcap.report.summary import Summary


def results(tmp_path, folder: str, *comparisons: dict[str, object]) -> Summary:
    records = [evidence(**{"paper": "p", **changes}).model_dump(mode="json") for changes in comparisons]
    invented_results("p", folder=str(tmp_path / folder), records=records)
    return Summary.read(tmp_path / folder / "p")


BY_JUDGE = {"metric": "fixed_R@10", "decimals": 2}
BY_TWIN = {"metric": "twin_R@10", "decimals": 2, "level": "detail"}


def test_another_judge_is_another_comparison(tmp_path):
    """Older results call a twin of what pays the judge, and have no other."""
    here = results(tmp_path, "here", BY_JUDGE, BY_TWIN)
    older, today = results(tmp_path, "older", BY_JUDGE), results(tmp_path, "today", BY_JUDGE, BY_TWIN)
    assert elsewhere.same(here.claims[0], here, older) is None
    assert elsewhere.is_tested(here.claims[0], older)
    assert elsewhere.pairs(here, older) == []
    assert elsewhere.same(here.claims[0], here, today) is not None
    assert [pair.alike for pair in elsewhere.pairs(here, today)] == [True, True]


def test_all_captions_of_a_beam_are_another_measure_than_its_best(tmp_path):
    here = results(tmp_path, "here", {"what": "CIDEr of the beam's 5"})
    for what, same in (("CIDEr of the beam's 3", True), ("CIDEr of the best beam caption", False)):
        there = results(tmp_path, "there", {"what": what})
        assert (elsewhere.same(here.claims[0], here, there) is not None) == same


def test_a_sum_needs_equal_seeds_and_the_same_measure(tmp_path):
    here = results(tmp_path, "here", {"left": "a", "right": "b"})
    claim = here.claims[0]
    first, second = {"claim": "C2", "left": "a", "right": "x"}, {"claim": "C3", "left": "x", "right": "b"}
    found = elsewhere.same(claim, here, results(tmp_path, "sum", first, second))
    assert found is not None
    assert (found.line.difference, found.line.low, found.words) == ("20.0", "", elsewhere.SUM)
    for other in (second | {"seeds": 2}, second | {"metric": "METEOR"}, second | {"left": "y"}):
        assert elsewhere.same(claim, here, results(tmp_path, "other", first, other)) is None


def test_opposite_signs_need_intervals_on_both_sides(tmp_path):
    here = results(tmp_path, "here", {"difference": 1.5})
    for difference, scatter, opposite in ((-1.5, 0.1, True), (-0.1, 1.0, False), (1.5, 0.1, False)):
        there = results(tmp_path, "there", {"difference": difference, "scatter": scatter})
        assert [pair.opposite for pair in elsewhere.pairs(here, there)] == [opposite]


def test_a_comparison_that_decides_here_alone_has_its_own_verdict_there(tmp_path):
    """A claim of two comparisons is decided by another one on other data: both verdicts are told."""
    first, second = {"right": "b"}, {"right": "c"}
    here = results(tmp_path, "here", first | {"difference": -2.0}, second)
    there = results(tmp_path, "there", first, second | {"difference": -2.0})
    claim = here.claims[0]
    assert claim.deciding.key[4] == "b"
    found = elsewhere.same(claim, here, there)
    assert found is not None
    assert found.line.key == claim.deciding.key
    assert found.words.startswith("holds")
    assert "; the whole claim: reversed" in found.words
