"""Loss smoothing: its rows, tables, claims, remarks and figures, also of a run that has only a part."""

import json
import re
import runpy
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from invented_papers import lines, outcomes, whole
from invented_runs import SmoothingRun

from seqcap.errors import InputError
from seqcap.papers.smoothing import claims, figures, rows
from seqcap.papers.smoothing.rows import FILE
from seqcap.report.by_length import ByLength
from seqcap.report.claims import run_claims
from seqcap.report.drawing.figures import draw
from seqcap.report.inputs import Results
from seqcap.report.section import all_claims, why_not_run
from seqcap.report.tables import make_table

REPOSITORY = Path(__file__).resolve().parents[2]
MLE, BEST = "MLE", "Tok-Seq | CIDER | Vrefs"
SINGLE, ENSEMBLE = FILE.entries.values()


def of(*systems: str) -> SmoothingRun:
    """A run of some captioners or tasks, without the server's entries."""
    made = SmoothingRun(members={})
    made.names = [name for name in made.names if made.split(name)[0] in systems]
    return made


@cache
def whole_lines(name: str) -> pd.DataFrame:
    return lines(whole("smoothing"), name)


# --- Tables


def test_several_ensembles_are_counted():
    run = SmoothingRun().read()
    runs = tuple(
        entry.model_copy(update={"seeds": (1, 4, 7) if entry.name == "tok_seq_cider_ensemble" else (1, 2)})
        if entry.members
        else entry
        for entry in run.runs
    )
    cells = lines(Results(run.config.model_copy(update={"runs": runs}), run.paper, run.scores), "smoothing_table2")
    notes = cells.set_index("row")["note"]
    assert notes[ENSEMBLE].str.contains("3 ensembles, each of 3 seeds, without attention; the paper's is").all()
    assert notes[SINGLE].str.contains("seeds 1, 2, without attention").all()


def test_greedy_captions_of_a_run_decoded_again_are_no_row():
    """They are those of the run itself."""
    run = of("lstm").read()
    mle = next(entry for entry in run.runs if entry.name == "lstm_mle")
    again = mle.model_copy(update={"name": FILE.beams.again("mle")[2], "label": "MLE, a beam of 2"})
    config = run.config.model_copy(update={"runs": (*run.runs, again)})
    cells = make_table(Results(config, run.paper, run.scores), "smoothing_quality").cells
    blocks = {label: {cell.block for cell in cells if cell.row == label} for label in (mle.label, again.label)}
    assert blocks == {"MLE": {"lstm, greedy", "lstm, beam"}, "MLE, a beam of 2": {"lstm, beam"}}


def test_the_first_phase_is_beside_ours_of_table_1():
    first, second = (
        whole_lines(f"smoothing_{name}").set_index(["block", "row", "column"]) for name in ("phase1", "table1")
    )
    key = ("without attention", MLE, "CIDEr")
    assert (first.loc[key, "paper"], first.loc[key, "ours"]) == ("88.30", second.loc[key, "ours"])
    assert first.loc[("without attention", MLE, "CIDEr interval, phase 2"), ["paper", "ours"]].tolist() == ["0.76", ""]
    assert len(first) == 3 * 40
    # Of the authors' interval there is no number of ours.
    (header,) = re.findall(r"(?m)^\| block .*$", make_table(whole("smoothing"), "smoothing_phase1").markdown())
    assert header.endswith("| CIDEr ↑ paper | CIDEr ↑ ours | CIDEr interval, phase 2 paper |")


def test_released_captions_are_not_ours():
    table = make_table(whole("smoothing"), "smoothing_released")
    assert (lines(whole("smoothing"), "smoothing_released")["ours"] == "").all()
    assert "| Tok-Seq | – | 2.54 | 1.15 | 3.99 | 0.00 | 0.02 |" in table.markdown()
    assert "ours" not in table.markdown().partition("|")[2]


def test_beams_are_drawn_by_width_with_and_without_length_normalisation(smoothing: SmoothingRun, monkeypatch):
    """Captions of rank 0 score 1 or .9, the others .2: choosing per token takes some of these."""
    smoothing.names, smoothing.members = ["lstm_mle"], {}
    assert draw(smoothing.write(), "smoothing_beams") == "This run has no beams of other widths."
    single, entries = smoothing.entry("lstm_mle"), smoothing.entries()
    wider = single.model_copy(update={"name": "beam_5_mle", "decoded": "artifacts/smoothing/decode/beam_5_mle.parquet"})
    monkeypatch.setattr(smoothing, "entries", lambda: [*entries, wider])
    monkeypatch.setattr(smoothing, "curves", lambda name: [])
    best = {"lstm_mle": 1.0, "beam_5_mle": 0.9}
    keys = [
        {"run": name, "seed": seed, "item": item, "rank": rank, "decoder": decoder, "metric": "CIDEr"}
        | {"value": 0.2 if rank else value}
        for name, value in best.items()
        for seed in smoothing.seeds
        for item in range(smoothing.images)
        for decoder, ranks in (("greedy", 1), ("beam", 3))
        for rank in range(ranks)
    ]
    monkeypatch.setattr(smoothing, "scores", lambda evaluation: keys)
    (axis,) = draw(smoothing.write(), "smoothing_beams").axes
    lines = {line.get_label(): line for line in axis.containers}
    plain, per_token = (container[0] for container in axis.containers)
    assert plain.get_xdata().tolist() == [1, 3, 5]
    assert plain.get_ydata().tolist() == pytest.approx([100, 100, 90])
    chosen = {}
    for row in smoothing.decoded(single):
        if row["decoder"] == "beam":
            ratio = row["log_prob"] / (len(row["tokens"]) + 1)
            place = row["seed"], row["item"]
            chosen[place] = max(chosen.get(place, (-10.0, 0)), (ratio, row["rank"]))
    expected = 100 * sum(0.2 if rank else 1.0 for _, rank in chosen.values()) / len(chosen)
    assert 20 < expected < 100
    assert per_token.get_ydata()[0] == pytest.approx(expected)
    assert list(lines) == ["MLE", "MLE, per token"]


def test_what_is_left_of_a_difference_per_token_is_a_detail(smoothing: SmoothingRun, monkeypatch):
    """Other captions of a beam have other scores."""
    smoothing.names, smoothing.members = ["lstm_mle", "lstm_tok"], {}
    first, others = {"lstm_mle": 0.5, "lstm_tok": 1.0}, {"lstm_mle": 0.3, "lstm_tok": 0.2}
    keys = [
        {"run": name, "seed": seed, "item": item, "rank": rank, "decoder": "beam", "metric": "CIDEr"}
        | {"value": others[name] if rank else first[name]}
        for name in smoothing.names
        for seed in smoothing.seeds
        for item in range(smoothing.images)
        for rank in range(3)
    ]
    monkeypatch.setattr(smoothing, "scores", lambda evaluation: keys)
    results = smoothing.write()
    found = outcomes(results)
    beam, per_token = (found["L1", "CIDEr", decoder, "lstm_tok", "lstm_mle"] for decoder in ("beam", "per token"))
    assert beam.difference == pytest.approx(50)
    number = [ByLength(name).number(results).value for name in ("lstm_tok", "lstm_mle")]
    assert per_token.difference == pytest.approx(100 * (number[0] - number[1]))
    assert per_token.difference != pytest.approx(50)
    assert per_token.evidence.level == "detail"
    assert per_token.evidence.what == "CIDEr of the beam's most probable caption per token, without attention"


# --- A run of a part


def test_a_run_of_translation_only(smoothing: SmoothingRun):
    smoothing.names, smoothing.members = of("de_en").names, {}
    run = smoothing.write()
    table1 = lines(run, "smoothing_table1")
    assert (table1["ours"] == "").all()
    assert table1.loc[0, "note"] == "run MLE, without attention is not part of these results"
    assert "The first caption of a beam." in make_table(run, "smoothing_table1").reading
    ours = lines(run, "smoothing_table2").set_index("row").loc[SINGLE, "note"]
    assert ours.str.contains("run Ours: Tok-Seq CIDER is not part of these results").all()
    cells = lines(run, "smoothing_table3").set_index("column")["ours"]
    assert (cells["IWSLT'14 De-En BLEU"] != "").all()
    assert (cells["WMT'14 En-Fr BLEU"] == "").all()
    for name in ("phase1", "released", "quality"):
        table = make_table(run, f"smoothing_{name}")
        assert (table.reading, table.cells) == ("Not measured: no captioner is part of this run.", [])
    (reason,) = why_not_run(run, run_claims(all_claims(run), run))
    assert re.fullmatch(r"\d\d of the \d\d runs that claims compare", reason)
    assert draw(run, "smoothing_fig1") == "Not part of this run: MLE, Tok, Seq, Tok-Seq."
    # Rows whose losses are not part of it, panels that would be the paper's alone: they are left out.
    assert len(draw(run, "smoothing_curves").axes) == 5
    assert [axis.get_title("left") for axis in figures.gains(run).axes] == ["multi30k, De-En, for IWSLT'14"]
    found = outcomes(run)
    assert {key[0] for key, outcome in found.items() if not outcome.evidence.absent} == {"L7", "L8", "L9b"}
    first = next(iter(found.values()))
    assert first.evidence.side_labels == ("Tok | Glove sim, without attention", "MLE, without attention")
    assert first.evidence.what == "CIDEr of the best beam caption, without attention"
    assert first.reason == "run Tok | Glove sim, without attention is not part of these results"
    assert [text.partition(",")[0] for text in claims.remarks(run, [])] == ["*Lengths of translations*"]
    assert [theirs.partition(";")[0] for theirs, _ in claims.stand_ins(run)] == [
        "an encoder-decoder with attention (Bahdanau et al.), whose released beam adds probabilities",
        "IWSLT'14, in the authors' code: a rate of .001, halved every 10 epochs, Tok alpha .8 and tau .1 (eq. 13)",
        "GloVe, trained on the captions",
    ]
    trained = claims.stand_ins(run)[1][1]
    assert re.fullmatch(r"multi30k, De-En, .*: \d+ epochs at [.\d]+, decaying, Tok alpha 0.7 and tau 0.3", trained)


def test_a_run_without_attention_and_without_mle():
    made = of("lstm")
    made.names.remove("lstm_mle")
    run = made.read()
    cells = lines(run, "smoothing_table1").set_index(["block", "row"])["ours"]
    assert (cells.loc["without attention"].drop(MLE) != "").all()
    assert (cells.loc["with attention"] == "").all()
    gains = lines(run, "smoothing_gains").set_index("block")
    notes = gains.loc[gains["column"] == "gain over MLE", "note"]
    assert set(notes["CIDEr, without attention"]) == {"run MLE, without attention is not part of these results"}
    assert not [text for text in claims.remarks(run, []) if "here" in text]


def test_runs_that_are_not_in_print_gain_over_runs_of_their_own(monkeypatch: pytest.MonkeyPatch):
    others = {"lstm": {"lstm_tok_rfreq": "lstm_tok", "lstm_tok_quarter": "lstm_mle"}}
    monkeypatch.setattr(rows, "FILE", FILE.model_copy(update={"others": others}))
    gains = lines(whole("smoothing"), "smoothing_gains")
    gains = gains[gains["column"] == "gain over MLE"].set_index(["block", "row"])["ours"].astype(float)
    found = gains["CIDEr, without attention, not in print"]
    printed = gains["CIDEr, without attention"]
    rare, plain = "Tok | Glove sim rfreq", "Tok | Glove sim"
    assert found.to_dict() == pytest.approx({rare: printed[rare] - printed[plain]}, abs=0.02)
    assert "*Not in print*" in make_table(whole("smoothing"), "smoothing_gains").reading
    assert "*Not in print*" not in make_table(of("de_en").read(), "smoothing_gains").reading


# --- Claims


@pytest.mark.parametrize(("share", "reason"), [(0.7, "a batch holds 70% of the words here"), (0.4, "")])
def test_substitutes_of_most_words_test_nothing(monkeypatch: pytest.MonkeyPatch, share: float, reason: str):
    made, curves = of("lstm"), SmoothingRun.curves
    row = {"run": "lstm_seq_hamming_batch", "seed": 1, "images": 50, "quantity": "pool_share"}
    pools = [row | {"step": step, "value": share + change} for step, change in ((40, -0.02), (80, 0.02))]
    monkeypatch.setattr(
        SmoothingRun, "curves", lambda self, name: curves(self, name) + (pools if name == row["run"] else [])
    )
    run = made.read()
    found = {(claim.id, claim.left): claim.untestable for claim in claims.claims(run)}
    assert found["L4", "lstm_seq_hamming_batch"] == reason
    # Vrefs is a restriction, and beating MLE is no matter of the pool.
    assert {text for key, text in found.items() if key != ("L4", "lstm_seq_hamming_batch")} == {""}


# --- Remarks


def test_generated_sentences_are_remarked_on_only_where_mle_is_nearly_perfect(monkeypatch: pytest.MonkeyPatch):
    assert not [text for text in claims.remarks(whole("smoothing"), []) if "Translation of generated" in text]
    made = of("de_en", "en_fr")
    scores = made.scores

    def raised(evaluation: str) -> list[dict[str, object]]:
        return [row | {"value": row["value"] + 0.55} if "value" in row else row for row in scores(evaluation)]

    monkeypatch.setattr(made, "scores", raised)
    said = claims.remarks(made.read(), [])[-1]
    # De-En is read from files in this run.
    assert said.startswith(
        "*Translation of generated sentences.* MLE reaches a BLEU of 85.0 generated sentences, En-Fr, for WMT'14 "
        "(30.0 in print)."
    )
    assert "De-En" not in said


def test_lengths_of_translations_stand_beside_what_the_brevity_penalty_leaves(monkeypatch: pytest.MonkeyPatch):
    """Sentences of 8 words where references have 10 leave exp(1 - 10 / 8), longer ones all of it, none nothing."""
    made = of("de_en")
    scores = made.scores

    def measured(evaluation: str) -> list[dict[str, object]]:
        written = {"de_en_tok": 8.0, "de_en_mle": 12.0, "de_en_seq_hamming_v": 0.0}
        return [
            row | {"statistics": [*row["statistics"][:-2], written.get(row["run"], 9.0), 10.0]}
            if "statistics" in row
            else row
            for row in scores(evaluation)
        ]

    monkeypatch.setattr(made, "scores", measured)
    made.seeds = (1, 2, 3)
    (said,) = [text for text in claims.remarks(made.read(), []) if text.startswith("*Lengths of translations*")]
    assert "where references have 10.00: MLE 12.00 (1.000); tok | Glove sim 8.00 (0.779)" in said
    assert not [text for text in claims.remarks(of("lstm").read(), []) if "Lengths of translations" in text]
    sentences = 3 * made.read().scores.sample("de_en_mle", "beam", "BLEU", "best").statistics.shape[0]
    assert f"Seq | Hamming | V 0.00 (0.000), {sentences} of {sentences:,} are empty" in said
    made.seeds = (1, 2)
    (said,) = [text for text in claims.remarks(made.read(), []) if "Lengths of translations" in text]
    assert "MLE ° 12.00 (1.000); tok | Glove sim ° 8.00 (0.779)" in said


def test_gains_of_a_frozen_cnn_stand_at_our_level_beside_ours():
    """In print MLE has 88.30 then, Tok 92.36."""
    made = of("lstm")
    made.seeds = (1, 2, 3)
    run = made.read()
    (said,) = [text for text in claims.remarks(run, []) if text.startswith("*With a frozen CNN*")]
    part = rows.parts(run)["without_attention"]
    carried = 4.06 * 100 * part.levels()["mle"] / 88.30
    assert f"Tok | Glove sim {carried:+.1f} ({part.gain('tok').ours.signed(100, 1)}), " in said
    # Of single seeds the difference is luck.
    made.seeds = (1, 2)
    assert not [text for text in claims.remarks(made.read(), []) if "frozen" in text]


# --- Seconds per epoch


def test_the_benchmark_compares_with_mle_of_the_same_part(tmp_path: Path):
    benchmark = runpy.run_path(str(REPOSITORY / "benchmarks/epochs.py"))
    times = {"lstm_mle": 4.0, "lstm_tok": None, "lstm_entropy": 6.0, "de_en_tok": 2.0, "pretrained": 1.0}
    (tmp_path / "group.json").write_text(json.dumps(times))
    cases = benchmark["compared"](benchmark["read_seconds"](tmp_path))
    assert [tuple(case.values()) for case in cases] == [
        ("without attention", MLE, 4.0, 1.0),
        ("without attention", "MLE + gammaH", 6.0, 1.5),
        ("IWSLT'14 De-En", "tok | Glove sim", 2.0, None),
    ]
    for wrong in ('"3"', "true", "0", "NaN", "Infinity"):
        (tmp_path / "group.json").write_text(f'{{"lstm_mle": {wrong}}}')
        with pytest.raises(InputError, match=r"group\.json: lstm_mle is .*, not a positive number"):
            benchmark["read_seconds"](tmp_path)
