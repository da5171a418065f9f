"""The machine of a stage."""

import pytest

from seqcap.files.json_file import write_json
from seqcap.system import hardware, machine


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        ("model name\t: A Xeon\nflags\t\t: fpu avx avx2 avx512f avx512bw\n", ("A Xeon", "AVX-512")),
        ("model name\t: An EPYC\nflags\t\t: fpu avx avx2\n", ("An EPYC", "AVX2")),
        ("processor\t: 0\nFeatures\t: fp asimd crc32\n", (None, "NEON")),
        ("", (None, None)),
    ],
)
def test_a_processor_has_a_name_and_an_instruction_set(cpuinfo, expected, monkeypatch):
    monkeypatch.setattr(hardware.platform, "machine", lambda: "aarch64")
    name, instructions = expected
    assert hardware.processor(cpuinfo) == {"processor": name or "aarch64", "instructions": instructions}


def test_a_machine_with_gpus_is_named_by_them(tmp_path, monkeypatch):
    """Unless params.yaml keeps to the CPU."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hardware, "version", lambda package: "2.13.0+cu130")
    monkeypatch.setattr(hardware, "_names_of_gpus", lambda: "NVIDIA H100\nNVIDIA H100")
    hardware.note("train-a")
    gpus = {"processor": "2 x NVIDIA H100", "instructions": None, "cores": None, "torch": "2.13.0+cu130"}
    assert hardware.noted("train-a") == gpus
    assert hardware.noted("train-b") is None
    write_json(machine.MACHINE, {"device": "cpu", "workers": 1, "launcher": "python"})
    assert hardware.this_machine()["cores"] is not None
