"""Tasks of images: features and captions of a split, as ids."""

import numpy as np
import pytest
from small_task import CHANNELS, LAYOUT

from seqcap import tasks
from seqcap.data.vocabulary import EOS, PAD
from seqcap.errors import InputError
from seqcap.files.parquet import read_table, write_rows
from seqcap.files.schemas import REFERENCES
from seqcap.models.attention import Model as Attention
from seqcap.models.lstm import Model as Lstm
from seqcap.models.translator import Model as Translator


def test_a_captioner_gets_the_features_that_it_reads(small_images):
    assert tasks.load("images", "image", Lstm).feature_shape == (CHANNELS,)
    attention = tasks.load("images", "image", Attention)
    inputs = attention.inputs("test")
    assert inputs.ids.tolist() == list(range(30, 36))
    assert inputs.get(np.array([2, 0])).shape == (2, *attention.feature_shape)


def test_training_captions_are_cut_and_references_are_not(small_images):
    task = tasks.load("images", "image", Lstm)
    split = task.split("train", 4)
    assert len(split) == LAYOUT["train"]
    captions = split.captions(np.array([0]))
    assert [task.words(row) for row in captions[0].tolist()] == [["a", "red", "dog"], ["the", "dog", "is"]]
    assert (captions[0, :, 3] == EOS).all()
    assert [task.words(row) for row in split.references[0]] == [["a", "red", "dog"], ["the", "dog", "is", "red"]]
    frequencies = split.frequencies(len(task.vocabulary))
    assert frequencies[EOS] == 2 * LAYOUT["train"]
    assert frequencies[PAD] == 0


def test_a_missing_caption_is_all_padding_and_a_rare_word_pays_nothing(small_images):
    path = "artifacts/image/data/references.parquet"
    rows = read_table(path, REFERENCES).to_pylist()[1:]
    rows[0]["tokens"] = ["zebra"]
    write_rows(path, rows, REFERENCES)
    task = tasks.load("images", "image", Lstm)
    split = task.split("train", 6)
    assert (split.captions(np.array([0, 1]))[0, 1] == PAD).all()
    assert split.references[0] == [[len(task.vocabulary)]]


def test_what_is_not_there_is_one_line(small_images):
    task = tasks.load("images", "image", Lstm)
    with pytest.raises(InputError, match="has no images in split 'server'"):
        task.inputs("server")
    with pytest.raises(InputError, match="has no captions in split 'server'"):
        task.split("server", 6)
    with pytest.raises(InputError, match=r"holds images or clips, which seqcap\.models\.translator does not read"):
        tasks.load("images", "image", Translator)
    with pytest.raises(InputError, match="vocabulary"):
        tasks.load("images", "video", Lstm)
