"""Encoders: shapes of every backbone, its preprocessing, and where weights come from."""

import os
import tarfile
from pickle import UnpicklingError
from types import ModuleType
from typing import Any
from unittest.mock import Mock
from urllib.error import URLError

import numpy as np
import pytest
import torch
from torch import Tensor

from seqcap.data.images import ImageSource
from seqcap.errors import InputError
from seqcap.features.encoders import BACKBONES, IMAGENET_MEAN, IMAGENET_STD, Encoder, normal_flow, with_weights
from seqcap.files.tensors import save_weights

CHANNELS = dict.fromkeys(BACKBONES, 2048) | {"resnet18": 512, "resnet34": 512, "mobilenet_v2": 1280, "scenes_cnn": 192}
CHANNELS["clips_cnn"] = 256
# Built like resnet18 or like resnet152; `make campaigns` tries them, too.
ALIKE = () if os.environ.get("SEQCAP_FULL") else ("resnet34", "resnet50", "resnet101")


def pictures(n: int, side: int) -> Tensor:
    return torch.randint(0, 256, (n, 3, side, side), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="session")
def torchvision() -> ModuleType:
    """Not imported above the tests: it takes 4 seconds, in every process that collects them."""
    from seqcap.features.torchvision_shim import torchvision

    return torchvision  # type: ignore[no-any-return]


def imagenet(images: Tensor) -> Tensor:
    """torchvision's own preprocessing."""
    mean, std = torch.tensor(IMAGENET_MEAN).view(3, 1, 1), torch.tensor(IMAGENET_STD).view(3, 1, 1)
    return (images / 255 - mean) / std


@pytest.mark.parametrize("backbone", [name for name in BACKBONES if name not in ALIKE])
def test_every_backbone_gives_a_pooled_feature_and_a_grid(backbone):
    encoder = with_weights(backbone, "random", seed=1)
    side = max(encoder.smallest, 40)
    with torch.inference_mode():
        # A clip of as many frames as are read together.
        features = encoder(pictures(encoder.frames, side)[None] if encoder.frames > 1 else pictures(1, side))
        assert features.shape[:2] == (1, CHANNELS[backbone])
        assert encoder.pooled(features).shape == (1, encoder.dim)
        assert encoder.grid(features, 3).shape == (1, 3, 3, encoder.channels)
    assert torch.isfinite(features).all()
    assert features.std() > 0


def test_pooled_is_the_mean_of_the_grid_and_scenes_cnn_adds_the_maximum():
    resnet, scenes = with_weights("resnet18", "random", 1), with_weights("scenes_cnn", "random", 1)
    with torch.inference_mode():
        features = resnet(pictures(2, 64))
        torch.testing.assert_close(resnet.pooled(features), resnet.grid(features, 1).flatten(1))
        features = scenes(pictures(2, 64))
        assert features.shape == (2, 192, 8, 8)
        expected = torch.cat([features.flatten(2).amax(2), features.flatten(2).mean(2)], 1)
        torch.testing.assert_close(scenes.pooled(features), expected)


@pytest.mark.parametrize("backbone", ["scenes_cnn", "resnet18"])
def test_a_clips_features_are_the_mean_over_its_frames_and_over_space(backbone):
    encoder = with_weights(backbone, "random", 1)
    clips = pictures(12, 64).unflatten(0, (3, 4))
    with torch.inference_mode():
        features = encoder(clips)
        frames = torch.stack([encoder(clip) for clip in clips])
        torch.testing.assert_close(features, frames.mean(1))
        torch.testing.assert_close(encoder.grid(features, 1).flatten(1), frames.mean((1, 3, 4)))
        # The order of single frames is lost.
        torch.testing.assert_close(encoder(clips.flip(1)), features)


def test_clips_cnn_reads_each_frame_with_the_next_one():
    encoder = with_weights("clips_cnn", "random", 1)
    clips = pictures(10, 64).unflatten(0, (2, 5))
    with torch.inference_mode():
        features = encoder(clips)
        pairs = [encoder(clips[:, number : number + 2]) for number in range(4)]
        torch.testing.assert_close(features, torch.stack(pairs).mean(0))
        torch.testing.assert_close(encoder.pooled(features), features.mean((2, 3)))
        # The first frame's channels, then those of the next one.
        torch.testing.assert_close(pairs[0], encoder._map(torch.cat([clips[:, 0], clips[:, 1]], 1)))
        assert encoder.dim == encoder.channels == 256
        # Which of two frames comes first makes a difference.
        assert (encoder(clips.flip(1)) - features).abs().max() > 1e-2


@pytest.mark.parametrize(("right", "down"), [(2, 0), (-1, 0), (0, 2), (0, -2)])
def test_the_flow_is_how_far_a_thing_moves(right, down):
    frame = torch.zeros(1, 3, 40, 40)
    # It fades out over 13 pixels, so that the gradient tells the distance.
    ramp = torch.cat([torch.arange(13.0), torch.arange(13.0).flip(0)]) / 13
    frame[:, :, 7:33, 7:33] = torch.minimum(ramp[:, None], ramp[None])
    flow = normal_flow(frame, frame.roll((down, right), (2, 3)))[0]
    across, along = (flow[axis][flow[axis].abs() > 0.5] for axis in range(2))
    assert len(across) + len(along) > 50
    moved = along if down else across
    assert (moved.median() - (right + down)).abs() < 0.3
    assert flow[0 if down else 1].mean().abs() < 0.01
    assert not normal_flow(frame, frame).any()
    # Colours are summed, not cancelled.
    contrary = torch.cat([frame[:, :1], 1 - frame[:, 1:2], frame[:, 2:]], 1)
    both = normal_flow(contrary, contrary.roll((down, right), (2, 3)))[0]
    torch.testing.assert_close(both[:, 9:31, 9:31], flow[:, 9:31, 9:31], atol=1e-3, rtol=1e-3)


def test_a_grid_cell_is_where_it_is_in_the_image():
    features = torch.zeros(1, 128, 8, 8)
    features[0, 5, 1, 6] = 4.0
    grid = Encoder("scenes_cnn").grid(features, 4)
    assert grid[0, 0, 3, 5] == 1.0
    assert grid.sum() == 1.0


def test_scenes_cnn_knows_left_from_right():
    encoder = with_weights("scenes_cnn", "random", 1)
    left, right = torch.zeros(2, 1, 3, 64, 64, dtype=torch.uint8)
    left[..., 8:16], right[..., 48:56] = 255, 255
    with torch.inference_mode():
        difference = (encoder.pooled(encoder(left)) - encoder.pooled(encoder(right))).abs().max()
    assert difference > 1e-3


@pytest.mark.parametrize("backbone", ["resnet18", "mobilenet_v2", "inception_v3"])
def test_a_checkpoint_gives_what_torchvisions_own_network_gives(backbone, tmp_path, torchvision):
    torch.manual_seed(0)
    options: dict[str, Any] = {"init_weights": False, "transform_input": True} if backbone == "inception_v3" else {}
    network = torchvision.models.get_model(backbone, **options).eval()
    for head in ("fc", "classifier"):
        if hasattr(network, head):
            setattr(network, head, torch.nn.Identity())
    torch.save(network.state_dict(), tmp_path / "x.pth")
    save_weights(tmp_path / "x.safetensors", network.state_dict(), {})
    images = pictures(2, 96)
    with torch.inference_mode():
        expected = network(imagenet(images))
        for name in ("x.pth", "x.safetensors"):
            encoder = with_weights(backbone, str(tmp_path / name), seed=3)
            torch.testing.assert_close(encoder.pooled(encoder(images)), expected, rtol=1e-4, atol=1e-5)


def test_save_then_load_gives_the_same_features_and_bytes(tmp_path):
    encoder = with_weights("scenes_cnn", "random", seed=5)
    encoder.save(tmp_path / "a.safetensors", {"weights": "random"})
    again = Encoder.load(tmp_path / "a.safetensors")
    again.save(tmp_path / "b.safetensors", {"weights": "random"})
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    with torch.inference_mode():
        assert torch.equal(encoder(pictures(1, 64)), again(pictures(1, 64)))
    # Random weights follow the seed.
    with_weights("scenes_cnn", "random", seed=5).save(tmp_path / "b.safetensors", {"weights": "random"})
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    other = with_weights("scenes_cnn", "random", seed=6).state_dict()
    assert any(not torch.equal(other[name], weight) for name, weight in encoder.state_dict().items())


class Attack:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (os.environ["ATTACKED"],)


def test_wrong_checkpoints_are_one_line_and_run_no_code(tmp_path, monkeypatch):
    weights = Encoder("scenes_cnn").body.state_dict()
    name = next(iter(weights))
    monkeypatch.setenv("ATTACKED", str(tmp_path / "attacked"))
    cases: dict[str, Any] = {
        "Missing key": {k: v for k, v in weights.items() if k != name},
        "Unexpected key.*more": {**weights, "more": torch.zeros(1)},
        "size mismatch": {**weights, name: torch.zeros(1)},
        "does not map names to tensors": {"model": "scenes"},
        r"is not a checkpoint \(it does not hold tensors alone\); give": {"model": Attack()},
    }
    for message, content in cases.items():
        torch.save(content, tmp_path / "x.pth")
        with pytest.raises(InputError, match=rf"x\.pth: .*{message}"):
            with_weights("scenes_cnn", str(tmp_path / "x.pth"), 1)
    assert not (tmp_path / "attacked").exists()
    for name in ("x.pth", "x.safetensors"):
        (tmp_path / name).write_bytes(b"not weights")
        with pytest.raises(InputError, match=name):
            with_weights("scenes_cnn", str(tmp_path / name), 1)
    with pytest.raises(InputError, match="does not exist"):
        with_weights("scenes_cnn", str(tmp_path / "gone.pth"), 1)
    for content in (b"", b"\x80", b"\x80\x02"):
        (tmp_path / "short.pth").write_bytes(content)
        with pytest.raises(InputError, match=r"short\.pth: is not a checkpoint \(\S.*\); give a"):
            with_weights("scenes_cnn", str(tmp_path / "short.pth"), 1)


@pytest.mark.usefixtures("torchvision")
def test_nobody_is_told_to_run_the_code_of_a_file(tmp_path, monkeypatch):
    """As torch does in three places: of objects, of TorchScript, and of its first format."""
    path = tmp_path / "x.pth"
    monkeypatch.setenv("ATTACKED", str(tmp_path / "attacked"))

    def save_tar() -> None:
        with tarfile.open(path, "w"):
            pass

    for save in (
        lambda: torch.save({"model": Attack()}, path),
        lambda: torch.jit.save(torch.jit.script(torch.nn.ReLU()), path),
        save_tar,
    ):
        save()
        with pytest.raises((RuntimeError, UnpicklingError), match="weights_only` set to `False` will likely") as torchs:
            torch.load(path, weights_only=True)
        with pytest.raises(InputError, match=r"x\.pth: is not a checkpoint \(it does not hold tensors alone\)"):
            with_weights("scenes_cnn", str(path), 1)
        # The same where torchvision reads the file.
        with monkeypatch.context() as patch:
            patch.setenv("TORCH_HOME", str(tmp_path))
            patch.setattr("torchvision.models._api.load_state_dict_from_url", Mock(side_effect=torchs.value))
            with pytest.raises(InputError, match=r"downloaded \(it does not hold tensors alone\)"):
                with_weights("resnet18", "imagenet", 1)


def test_imagenet_weights_that_cannot_be_had_say_where_to_put_them(tmp_path, monkeypatch):
    def no_network(*_: Any, **__: Any) -> None:
        raise URLError("no network")

    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr(torch.hub, "download_url_to_file", no_network)
    with pytest.raises(
        InputError, match=r"resnet18-f37072fd\.pth: .*no network.*put https://.*TORCH_HOME to the absolute path"
    ):
        with_weights("resnet18", "imagenet", 1)
    (tmp_path / "hub" / "checkpoints" / "resnet18-f37072fd.pth").write_bytes(b"half a download")
    with pytest.raises(InputError, match="is damaged"):
        with_weights("resnet18", "imagenet", 1)
    with pytest.raises(InputError, match="scenes_cnn has no ImageNet weights"):
        with_weights("scenes_cnn", "imagenet", 1)


def test_mobilenet_v2_on_photographs(shared, torchvision, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(shared / "torch_home"))
    encoder = with_weights("mobilenet_v2", "imagenet", 1)
    network = torchvision.models.mobilenet_v2(weights="IMAGENET1K_V1").eval()
    source = ImageSource(shared / "data" / "flickr8k")
    files = ["1000268201_693b08cb0e", "1001773457_577c3a7d70", "1002674143_1b742ab4b8", "1003163366_44323f5815"]
    images = torch.stack([torch.from_numpy(np.array(source.read(f"{f}.jpg"))).permute(2, 0, 1) for f in files])
    with torch.inference_mode():
        pooled = encoder.pooled(encoder(images))
        expected = network.features(imagenet(images)).mean((2, 3))
        dogs = network(imagenet(images))[1].argmax()
    assert pooled.shape == (4, 1280)
    torch.testing.assert_close(pooled, expected, rtol=1e-4, atol=1e-5)
    # "A black dog and a spotted dog are fighting": ImageNet's classes 151-268 are dogs.
    assert 151 <= dogs <= 268
