"""Loss smoothing: its tables, claims, remarks and figures, also of a run that has only a part."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting import published
from seqcap.reporting.claims import FAILS, HOLDS, NOT_RUN, UNSURE, run_claims
from seqcap.reporting.inputs import Run
from seqcap.reporting.papers.smoothing import PAPER, figures
from seqcap.reporting.papers.smoothing.claims import _RESTRICTED, _RUNNER_UP, _SEQ, BEST, CLAIMS
from seqcap.reporting.papers.smoothing.losses import BLOCKS, CAPTION_LOSSES, MLE, TASKS, TRANSLATION_LOSSES
from seqcap.reporting.papers.smoothing.tables import PARTS
from seqcap.reporting.papers.smoothing.timing import read_seconds

TIMING = Path("artifacts/smoothing/timing/all.json")


def lines(run: Run, name: str) -> pd.DataFrame:
    """A table's CSV file."""
    PAPER.tables[name](run).write(name)
    return pd.read_csv(f"reports/tables/{name}.csv", dtype=str, keep_default_na=False)


def only(smoothing, *systems: str) -> Run:
    """A run of some captioners or tasks, without the server's entries."""
    smoothing.variants = [name for name in smoothing.variants if smoothing.split(name)[0] in systems]
    smoothing.members = None
    return smoothing.read()


# --- Rows


def test_every_loss_is_a_printed_row():
    table1, table3 = (published.published_table("smoothing", table) for table in ("table1", "table3"))
    for block in BLOCKS.values():
        assert list(dict.fromkeys(table1.loc[table1["block"] == block, "row"])) == list(CAPTION_LOSSES.values())
    assert list(dict.fromkeys(table3["row"])) == list(TRANSLATION_LOSSES.values())
    assert list(dict.fromkeys(table3["column"])) == list(TASKS.values())
    assert list(CAPTION_LOSSES)[10:13] == ["seq_cider_v", "seq_cider_batch", "seq_cider_refs"]


# --- Tables


@pytest.mark.parametrize("table", ["table1", "table2", "table3"])
def test_every_published_cell_appears_once_as_printed(smoothing, table: str):
    ours = lines(smoothing.read(), f"smoothing_{table}")
    theirs = published.published_table("smoothing", table)
    keys = ["block", "row", "column"]
    assert ours[keys].to_numpy().tolist() == theirs[keys].to_numpy().tolist()
    assert ours["paper"].tolist() == theirs["printed"].tolist()
    filled = ours["ours"] != ""
    assert filled.all() if table != "table2" else filled.sum() == 2 * 16


def test_blocks_of_one_label_are_different_variants(smoothing):
    cells = lines(smoothing.read(), "smoothing_table1").set_index(["block", "row", "column"])["ours"].astype(float)
    assert cells["without attention", "MLE", "CIDEr"] == pytest.approx(90, abs=3)
    assert cells["with attention", "MLE", "CIDEr"] == pytest.approx(100, abs=3)
    gain = 100 * smoothing.gain("tok_seq_cider_refs")
    best = cells["with attention", "Tok-Seq | CIDER | Vrefs", "CIDEr"] - cells["with attention", "MLE", "CIDEr"]
    assert best == pytest.approx(gain, abs=2)


def test_entries_say_what_they_are_made_of(smoothing):
    cells = lines(smoothing.read(), "smoothing_table2").set_index(["row", "column"])
    ensemble, single = cells.loc["Ours: Tok-Seq CIDER +"], cells.loc["Ours: Tok-Seq CIDER"]
    assert ensemble["note"].str.contains("an ensemble of 3 seeds, without attention; the paper's is of 5").all()
    assert single["note"].str.contains("seed 1, without attention").all()
    assert single["note"].str.contains("server split, stands in for COCO's evaluation server").all()
    assert single.loc["SPICE c5", "note"].endswith(
        "SPICE (spaCy): SPICE's tuples from spaCy's parses, not from the "
        "official parser; the paper reports no number; seed 1, without "
        "attention"
    )
    assert float(ensemble.loc["BLEU-1 c40", "ours"]) == pytest.approx(101)
    assert (cells.loc["Up-Down+†◦", "ours"] == "").all()


def test_each_task_names_its_data(smoothing):
    cells = lines(smoothing.read(), "smoothing_table3").set_index(["row", "column"])
    notes = cells["note"].groupby("column").first()
    assert notes["IWSLT'14 De-En BLEU"] == "multi30k, stands in for IWSLT'14 De-En"
    assert notes["WMT'14 En-Fr BLEU"].startswith("scenes (sentences that a grammar writes")
    assert cells.loc[("MLE", "WMT'14 En-Fr BLEU"), "ours"] == "30.00"  # the corpus value, not the sentences' mean
    assert set(cells["n"]) == {"12 sentences x 2 seeds"}


def test_gains_are_beside_the_published_gains(smoothing):
    cells = lines(smoothing.read(), "smoothing_gains").set_index(["block", "row"])
    assert len(cells) == 2 * 21 + 2 * 7
    assert cells.loc[("CIDEr, without attention", "Tok-Seq | CIDER | Vrefs"), "paper"] == "6.33"
    assert cells.loc[("CIDEr, with attention", "MLE + gammaH"), "paper"] == "-1.86"
    assert cells.loc[("BLEU, IWSLT'14 De-En", "tok | Glove sim"), "paper"] == "0.14"
    made = cells.loc[("BLEU, IWSLT'14 De-En", "tok | Glove sim")]
    assert (made["ours"], made["n"]) == ("1.20", "12 sentences x 2 seeds")
    numbers = cells[["ours_low", "ours", "ours_high"]].astype(float)
    assert numbers.apply(lambda row: row.is_monotonic_increasing, axis=1).all()


def test_quality_is_of_captions_only(smoothing):
    cells = lines(smoothing.read(), "smoothing_quality")
    assert set(cells["block"]) == {f"{c}, {d}" for c in ("lstm", "attention") for d in ("greedy", "beam")}
    assert len(cells) == 2 * 44 * 9


# --- Time


def test_time_is_relative_to_mle_of_the_same_system(smoothing):
    run = smoothing.read()
    timing = artifacts.read_json(TIMING)
    timing["attention_mle"] = {"seconds_per_epoch": 8.0}
    timing["lstm_tok"] = {"seconds_per_epoch": None}
    artifacts.write_json(TIMING, timing)
    cells = lines(run, "smoothing_timing").set_index(["block", "row", "column"])
    assert cells.loc[("without attention", "Seq | Hamming | V", "ratio to MLE"), "ours"] == "3.0000"
    assert cells.loc[("with attention", "Seq | Hamming | V", "ratio to MLE"), "ours"] == "1.5000"
    assert cells.loc[("without attention", "Seq | Hamming | V", "seconds per epoch"), "ours"] == "12.0000"
    untimed = cells.loc[("without attention", "Tok | Glove sim", "ratio to MLE")]
    assert (untimed["ours"], untimed["note"]) == ("", "not timed: trained for no epoch")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([1], "is not a JSON object"),
        ({"lstm_mle": 3.0}, "lstm_mle has no seconds_per_epoch"),
        ({"lstm_mle": {}}, "lstm_mle has no seconds_per_epoch"),
        ({"lstm_mle": {"seconds_per_epoch": "3"}}, r"lstm_mle\.seconds_per_epoch is '3'"),
        ({"lstm_mle": {"seconds_per_epoch": True}}, r"lstm_mle\.seconds_per_epoch is True"),
        ({"lstm_mle": {"seconds_per_epoch": 0}}, r"lstm_mle\.seconds_per_epoch is 0, not a positive"),
        ({"lstm_mle": {"seconds_per_epoch": float("inf")}}, r"lstm_mle\.seconds_per_epoch is inf"),
        ({"lstm_mle": {"seconds_per_epoch": float("nan")}}, r"lstm_mle\.seconds_per_epoch is nan"),
    ],
)
def test_malformed_times_are_named(smoothing, content: object, problem: str):
    run = only(smoothing, "lstm")
    artifacts.write_json(TIMING, content)
    with pytest.raises(InputError, match=rf"timing/all\.json: {problem}"):
        read_seconds(run)


# --- The server's entries


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"members": {"mine": [1]}}, "members has 'mine'"),
        ({"members": {"tok_seq_cider": []}}, r"members\.tok_seq_cider is \[\]"),
        ({"members": {"tok_seq_cider": ["1"]}}, r"members\.tok_seq_cider is \['1'\]"),
        ({"members": [1]}, r"members is \[1\]"),
        ({"captioner": None}, "captioner is None"),
    ],
)
def test_a_wrong_server_config_is_named(smoothing, change: dict[str, object], problem: str):
    smoothing.variants = ["lstm_mle"]
    smoothing.write()
    config = artifacts.read_json("configs/evaluate_server.json")
    artifacts.write_json("configs/evaluate_server.json", config | change)
    with pytest.raises(InputError, match=rf"evaluate_server\.json: {problem}"):
        Run.read(PAPER)


def test_a_missing_file_of_scores_is_named(smoothing):
    smoothing.variants = ["de_en_mle"]
    smoothing.write()
    Path("artifacts/smoothing/translation.parquet").unlink()
    with pytest.raises(InputError, match=r"artifacts/smoothing/translation\.parquet: does not exist"):
        Run.read(PAPER)


# --- A run of a part


def test_a_run_of_translation_only(smoothing):
    run = only(smoothing, "de_en")
    assert (lines(run, "smoothing_table1")["ours"] == "").all()
    assert lines(run, "smoothing_table1").loc[0, "note"] == "variant lstm_mle is not in params.yaml"
    assert (lines(run, "smoothing_table2")["ours"] == "").all()
    cells = lines(run, "smoothing_table3").set_index(["row", "column"])
    assert (cells.xs("IWSLT'14 De-En BLEU", level="column")["ours"] != "").all()
    assert (cells.xs("WMT'14 En-Fr BLEU", level="column")["ours"] == "").all()
    assert lines(run, "smoothing_quality")["note"].tolist() == ["Not measured: no captioner is part of this run."]
    assert set(lines(run, "smoothing_timing")["block"]) == {"IWSLT'14 De-En"}
    assert "no captioners" in figures.figure1(run).texts[0].get_text()
    assert len(figures.curves(run).axes) == 5
    titles = [axis.get_title("left") for axis in figures.gains(run).axes]
    assert titles[0] == "without attention (the paper's only)"
    assert titles[3] == "IWSLT'14 De-En"
    run_kinds = {result.claim.number for result in run_claims(run) if result.verdict != NOT_RUN}
    assert run_kinds == {"L7", "L8", "L9"}
    words = PAPER.remarks(run, [])
    assert [text.split("*")[1] for text in words] == ["Which loss gains most.", "In print", "Against policy gradient."]
    assert ("image", "IWSLT'14 De-En") not in PAPER.stand_ins(run)
    assert run.stand_in("image") == "COCO Karpathy test: not part of this run"


def test_a_run_without_attention(smoothing):
    run = only(smoothing, "lstm")
    texts = [text.get_text() for text in figures.figure1(run).texts]
    assert any(text.startswith("without attention, best caption of a beam of 3") for text in texts)
    cells = lines(run, "smoothing_table1").set_index("block")["ours"]
    assert (cells["without attention"] != "").all()
    assert (cells["with attention"] == "").all()
    gains = lines(run, "smoothing_gains").set_index("block")
    assert (gains.loc["CIDEr, with attention", "note"].str.contains("is not in params.yaml")).all()


def test_a_run_without_mle_has_no_gains(smoothing):
    smoothing.variants.remove("lstm_mle")
    notes = lines(smoothing.read(), "smoothing_gains").set_index("block")["note"]
    assert set(notes["CIDEr, without attention"]) == {"variant lstm_mle is not in params.yaml"}


# --- Claims


def test_claims_compare_the_papers_best_rows():
    parts = {part.system: part for part in PARTS}
    for captioner in BLOCKS:
        printed = parts[captioner].printed
        families = {
            "hamming": [loss for loss in printed if loss.startswith("seq") and "hamming" in loss],
            "cider": [loss for loss in printed if loss.startswith("seq") and "cider" in loss],
        }
        assert _SEQ[captioner] == tuple(max(losses, key=printed.__getitem__) for losses in families.values())
        for loss in _RESTRICTED[captioner]:
            stem = loss.rpartition("_")[0]
            assert loss == max((f"{stem}_{pool}" for pool in ("batch", "refs")), key=printed.__getitem__)
        ranked = sorted(printed, key=printed.__getitem__, reverse=True)
        assert ranked[:2] == [BEST, _RUNNER_UP[captioner]]


def test_claims_of_translation_are_every_loss_over_mle():
    compared = {(claim.left, claim.right) for claim in CLAIMS if claim.metric == "BLEU"}
    assert compared == {
        (f"{task}_{loss}", f"{task}_{MLE}") for task in TASKS for loss in TRANSLATION_LOSSES if loss != MLE
    }


def outcomes(smoothing) -> dict[tuple[str, str, str, str], str]:
    return {
        (result.claim.number, result.claim.metric, result.claim.left, result.claim.right): result.verdict
        for result in run_claims(smoothing.read())
    }


def test_the_runs_claims_hold_as_it_was_made(smoothing):
    smoothing.images = 60
    verdicts = outcomes(smoothing)
    assert {verdict for (_, metric, _, _), verdict in verdicts.items() if not metric.startswith("BLEU")} == {HOLDS}
    assert verdicts["L8", "BLEU", "de_en_seq_bleu4_batch", "de_en_mle"] == HOLDS
    assert verdicts["L1", "BLEU4", "lstm_tok", "lstm_mle"] == UNSURE  # two seeds
    assert verdicts["L10", "CIDEr c5", "tok_seq_cider_ensemble", "tok_seq_cider"] == HOLDS


def test_claims_fail_where_the_run_is_made_the_other_way(smoothing, monkeypatch: pytest.MonkeyPatch):
    made = smoothing.scores()
    swapped = {"lstm_tok": "lstm_mle", "lstm_mle": "lstm_tok"}
    rows = [row | {"variant": swapped.get(row["variant"], row["variant"])} for row in made]
    monkeypatch.setattr(smoothing, "scores", lambda: rows)
    verdicts = outcomes(smoothing)
    assert verdicts["L1", "CIDEr", "lstm_tok", "lstm_mle"] == FAILS
    assert verdicts["L1", "CIDEr", "attention_tok", "attention_mle"] == HOLDS


def test_three_seeds_decide_about_bleu(smoothing):
    smoothing.seeds = (1, 2, 3)
    assert outcomes(smoothing)["L1", "BLEU4", "lstm_tok", "lstm_mle"] == HOLDS


# --- Remarks


def test_remarks(smoothing):
    best, lazy, printed, gradient, determined = PAPER.remarks(smoothing.read(), [])
    assert "without attention: Tok-Seq | CIDER | Vrefs, +15." in best
    assert "the best there: Tok-Seq | BLEU-4 | Vbatch, +1.36" in best
    # Computed by hand from Table 1: Hamming V 94.26 - 96.37, CIDER V 96.32 - 94.40.
    assert "(in print -2.11 to +1.92)" in lazy
    assert "in 6 pairs" in lazy
    assert "without attention 21 of 21 losses beat MLE in CIDEr (here 20 of 21) and 21 in BLEU-4 (here " in printed
    assert "with attention 14 of 21 losses beat MLE in CIDEr (here " in printed
    assert "and 4 in BLEU-4 (here " in printed
    assert "Seq, lazy | CIDER (without attention) and Seq, lazy | CIDER (with attention)" in printed
    assert "5.8% by policy gradient" in gradient
    assert "gains 6.8% without attention (here 1" in gradient
    assert "2.1% with attention (here 1" in gradient
    assert determined.startswith("*Translation of generated sentences.* MLE reaches a BLEU of ")
    # De-En is read from files in this run.
    assert "En-Fr: a generated sentence" in determined
    assert "De-En" not in determined


def test_spice_of_forty_references_is_printed_in_another_scale():
    (error,) = PAPER.errors()
    assert error.startswith("Table 2, SPICE c40: 59.8 to 67.3, beside 17.2 to 19.7 with c5.")
    assert error.endswith("0.0598 to 0.0673.")


# --- Figures


def test_examples_are_of_the_captioner_with_attention(smoothing):
    run = smoothing.read()
    texts = [text.get_text() for text in figures.figure1(run).texts]
    assert texts.count("with attention, best caption of a beam of 3, seed 1") == 5
    assert texts.count("Tok-Seq") == 5
    beam = run.decoded["attention_mle"].query("decoder == 'beam' and seed == 1 and image_id == 1 and rank == 0")
    assert any(text.replace("\n    ", " ") == beam["text"].item() for text in texts)


def test_a_variant_that_was_removed_says_so(smoothing):
    smoothing.variants.remove("attention_tok")
    texts = [text.get_text() for text in figures.figure1(smoothing.read()).texts]
    assert texts.count("variant attention_tok is not in params.yaml") == 5


def test_gains_show_ours_and_the_papers(smoothing):
    panel = figures.gains(smoothing.read()).axes[0]
    hollow = [line for line in panel.get_lines() if line.get_marker() == "D"]
    assert [line.get_xdata()[0] for line in hollow][-1] == 6.33
    assert len(hollow) == len(panel.containers) == 21
    assert panel.containers[-1].lines[0].get_xdata()[0] == pytest.approx(16, abs=1)


def test_curves_are_a_row_per_system_and_a_column_per_family(smoothing):
    panels = figures.curves(smoothing.read()).axes
    assert len(panels) == 4 * 5
    assert [axis.get_title("left") for axis in panels[:2]] == ["token level", "Seq, Hamming (dashed: lazy)"]
    styles = [line.get_linestyle() for line in panels[1].get_lines() if line.get_linewidth() == 2]
    assert styles == ["-"] * 4 + ["--"] * 3  # MLE and three full, three lazy
    thick = [line for line in panels[14].get_lines() if line.get_linewidth() == 2]
    assert len(thick) == 2  # Tok-Seq with BLEU-4 has one pool of substitutes, beside MLE


def test_curves_without_validation_are_an_error(smoothing):
    run = only(smoothing, "lstm")
    run.curves["quantity"] = "something"
    with pytest.raises(InputError, match="lstm has no val_cider"):
        figures.curves(run)
