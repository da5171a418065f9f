"""`seqcap show`: one training run as it is resolved, on one screen, and where each of its values comes from."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from seqcap.errors import InputError
from seqcap.pipeline.forms import RunParams
from seqcap.pipeline.parameter_files import PAPERS, PARAMS, read_yaml, scale_file
from seqcap.pipeline.params import ALPHA, Params, read_params
from seqcap.pipeline.project import Project

Key = tuple[str, ...]
BY_PIPELINE = "by the graph"
DEFAULT = "default"


def show(name: str) -> list[str]:
    """The lines of `seqcap show`: key, value and origin. InputError if there is no such run."""
    params = read_params()
    run = find_run(params, name)
    resolved = Project(params).trained()[run.group][name]
    origins = Origins(params, name)
    captioner = f"{PARAMS}: captioners.{run.captioner}"
    rows = [
        ("label", run.label, origins.of(("label",))),
        ("task", resolved.task, f"{captioner}.task"),
        ("captioner", f"{run.captioner} ({resolved.architecture})", origins.of(("captioner",))),
        *(leaf(f"  {key}", value, f"{captioner}.model") for key, value in resolved.model.items()),
        ("objective", resolved.objective, origins.of(("objective",))),
        *(leaf(f"  {key}", value, origins.of(("settings", key))) for key, value in resolved.settings),
        ("reward", run.reward or "none", origins.of(("reward",))),
        *(leaf(f"  {key}", value, f"{PARAMS}: rewards.{run.reward}") for key, value in resolved.reward.items()),
        ("training", "", ""),
        *(leaf(f"  {key}", value, origins.of(("training", key))) for key, value in resolved.training),
        ("seeds", ", ".join(map(str, resolved.seeds)), f"{PARAMS}: seed; {origins.of(('seeds',), captioner)}"),
        ("starts from", resolved.start or "random weights", origins.of(("start",), BY_PIPELINE)),
        *(leaf(f"reads {key}", value, origins.of((key,), BY_PIPELINE)) for key, value in resolved.reads.items()),
        ("precision", resolved.precision, f"{PARAMS}: precision"),
        ("trained by", f"stage train-{run.group}", origins.of(("group",))),
        ("weights", resolved.weights, BY_PIPELINE),
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return [f"{key:{widths[0]}}  {value:{widths[1]}}  {origin}".rstrip() for key, value, origin in rows]


def find_run(params: Params, name: str) -> RunParams:
    """A run by its name; an InputError names those that are spelled much like it."""
    if name not in params.runs:
        near = get_close_matches(name, params.runs) or sorted(params.runs)[:5]
        raise InputError(PAPERS, f"there is no run {name!r}", f"perhaps {' or '.join(near)}")
    return params.runs[name]


def leaf(key: str, value: Any, origin: str) -> tuple[str, str, str]:
    return key, str(value), origin


class Origins:
    """Where the values of a run are written. The later in this order wins: what the entries that it is `like` say, in
    their order, then its own entry; for each of them its file, then the scale's.

    Args:
        params: all parameters that were read.
        name: the run's.
    """

    def __init__(self, params: Params, name: str) -> None:
        file = params.source(name)
        files = [file, scale_file(file, params.shared.scale)]
        self._layers = {str(path): read_yaml(path).get("runs", {}) for path in files if path.is_file()}
        self._entry = self._entry_of(name)

    def of(self, key: Key, otherwise: str = DEFAULT) -> str:
        """The file and the entry that decide a key of the run; `otherwise` if none does."""
        found = otherwise
        for entry in self._chain(self._entry):
            for file, entries in self._layers.items():
                value = at(entries.get(entry, {}), key)
                if value is not None:
                    found = f"{file}: runs.{entry}" + (f", {PARAMS}: alpha" if value == ALPHA else "")
        return found

    def _entry_of(self, name: str) -> str:
        """The entry of a run; of a sweep's run that is not written itself, the sweep's."""
        entries = next(iter(self._layers.values()))
        return name if name in entries else max((entry for entry in entries if name.startswith(entry)), key=len)

    def _chain(self, entry: str) -> Iterator[str]:
        like = next(iter(self._layers.values()))[entry].get("like", [])
        for other in like if isinstance(like, list) else [like]:
            yield from self._chain(other)
        yield entry


def at(values: Mapping[str, Any], key: Key) -> Any:
    """The value at a key with dots; None if there is none."""
    for part in key:
        if not isinstance(values, Mapping) or part not in values:
            return None
        values = values[part]
    return values
