"""`precision: bfloat16`: cheaper products in training steps, everything else as in float32."""

import pytest
import torch
from small_task import (
    needs_precision,
    run_config,
    same_bytes,
    train_group,
    translation_config,
    write_translation_task,
)

from seqcap.errors import InputError
from seqcap.models.likelihood import ROWS, cross_entropy
from seqcap.system import machine
from seqcap.training.captioners import Job, checkpoint_folder

IMAGE_MODELS = {
    "lstm": {"hidden": 16, "image_input": "every_step"},
    "attention": {"hidden": 16},
    "transformer": {"hidden": 16, "layers": 1, "heads": 2, "feed_forward": 16},
}


@pytest.fixture
def bfloat16():
    needs_precision("bfloat16")


@pytest.fixture
def task(small_images):
    write_translation_task(small_images)
    return small_images


def run_of(architecture, **changes):
    if architecture == "translator":
        return translation_config(**changes)
    return run_config(architecture=architecture, captioner=architecture, model=IMAGE_MODELS[architecture], **changes)


def first_step(run):
    """Loss and gradients of a run's first step, and what its captioner then says of logits."""
    job = Job(run, 1)
    state = job.begin()
    state.learner.train()
    batch = next(job.read(state))
    loss, _ = state.learner(batch)
    loss.backward()
    return loss.item(), {name: parameter.grad for name, parameter in state.learner.named_parameters()}, state, batch


@pytest.mark.parametrize("architecture", [*IMAGE_MODELS, "translator"])
def test_loss_and_gradients_are_those_of_float32_rounded(task, bfloat16, architecture):
    exact, gradients, *_ = first_step(run_of(architecture))
    rounded, found, state, _ = first_step(run_of(architecture, precision="bfloat16"))
    assert rounded != exact
    assert rounded == pytest.approx(exact, rel=0.01)
    for name, gradient in gradients.items():
        assert found[name].dtype == torch.float32
        assert (found[name] - gradient).norm() < 0.1 * gradient.norm() + 1e-3, name
    assert {parameter.dtype for parameter in state.learner.parameters()} == {torch.float32}


@pytest.mark.parametrize("architecture", [*IMAGE_MODELS, "translator"])
def test_products_are_rounded_while_training_only(task, bfloat16, architecture):
    *_, state, batch = first_step(run_of(architecture, precision="bfloat16"))
    captioner, captions = state.learner.captioner, batch.captions[:, 0]
    with torch.no_grad():
        assert captioner.teacher_force(batch.features, captions).dtype == torch.bfloat16
        captioner.eval()
        assert captioner.teacher_force(batch.features, captions).dtype == torch.float32
        exact = captioner.encode(batch.features)[0].clone()
        captioner.train()
        captioner.dropout = 0.0
        # The image's, too.
        assert not torch.equal(captioner.encode(batch.features)[0].float(), exact)


@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_cross_entropy_is_torch_s(reduction):
    torch.manual_seed(0)
    tokens = torch.randint(0, 11, (2 * ROWS + 3,))
    weights = torch.rand(len(tokens))
    found = []
    for dtype in (torch.float32, torch.bfloat16):
        logits = (3 * torch.randn(len(tokens), 11, generator=torch.Generator().manual_seed(1))).bfloat16().to(dtype)
        logits.requires_grad_(True)
        losses = cross_entropy(logits, tokens, reduction)
        assert losses.dtype == torch.float32
        (weights * losses).sum().backward()
        found.append((losses, logits.grad.float()))
    (exact, gradient), (losses, rounded) = found
    torch.testing.assert_close(losses, exact)
    torch.testing.assert_close(rounded, gradient, rtol=2**-7, atol=1e-8)


def test_an_interrupted_run_resumes_to_the_same_bytes(task, bfloat16, killed_after_saving):
    """In the precision that it was begun in alone."""
    run = run_of("transformer", precision="bfloat16")
    [[expected]] = train_group(run.model_copy(update={"weights": "one"}))
    [[resumed]], kills = killed_after_saving(lambda: train_group(run))
    assert (resumed.curves, kills) == (expected.curves, 4)
    assert same_bytes("one", run.weights)
    assert checkpoint_folder(run.model_copy(update={"precision": "float32"}), {}) != checkpoint_folder(run, {})


def test_a_processor_without_the_instructions_is_one_line(task, monkeypatch):
    problem = (
        "params.yaml: precision is 'bfloat16', but torch finds neither AVX512-BF16 nor AMX on this CPU; use float32"
    )
    monkeypatch.setattr(machine, "_lstm_takes_bfloat16", lambda: True)
    for has in ({"avx512_bf16": True}, {"amx_bf16": True}):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda has=has: has)
        machine.check_precision("bfloat16", torch.device("cpu"))
    # ONEDNN_MAX_CPU_ISA forbids them.
    monkeypatch.setattr(machine, "_lstm_takes_bfloat16", lambda: False)
    with pytest.raises(InputError, match=problem):
        machine.check_precision("bfloat16", torch.device("cpu"))
    monkeypatch.setattr(machine, "_lstm_takes_bfloat16", lambda: True)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_f": True, "avx512_bf16": False})
    machine.check_precision("float32", torch.device("cpu"))
    with pytest.raises(InputError, match=problem):
        train_group(run_config(precision="bfloat16"))
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: including_emulation)
    with pytest.raises(InputError, match="this GPU has no instructions for it; use float32"):
        machine.check_precision("bfloat16", torch.device("cuda"))
