"""The stages that follow from the parameters, and what several kinds ask of both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from seqcap import objectives, retrieval, rewards
from seqcap.config import StageConfig
from seqcap.data.datasets import GENERATED
from seqcap.errors import InputError
from seqcap.evaluation.search import DecodeConfig, DecodingRun
from seqcap.files.schemas import ORIGIN
from seqcap.pipeline.code import closure
from seqcap.pipeline.forms import RetrieverParams
from seqcap.pipeline.kind import Stage, kinds
from seqcap.pipeline.parameter_files import LISTENER, PARAMS
from seqcap.pipeline.params import Params
from seqcap.pipeline.reported import paper_fields
from seqcap.pipeline.validation import config_class, find
from seqcap.tasks import KINDS
from seqcap.training.run import TrainConfig, TrainingRun

C = TypeVar("C", bound=StageConfig)


@dataclass(frozen=True)
class RetrieverFiles:
    """A retriever that stages read.

    Attributes:
        folder: with its weights.
        module: the module of its code.
    """

    folder: str
    module: str


class Project:
    """A checkout's parameters and stages. The stages of a kind are made when they are first asked for.

    Args:
        params: of the checkout.
    """

    def __init__(self, params: Params) -> None:
        self.params, self.shared = params, params.shared
        self._stages: dict[str, dict[str, Stage]] = {}

    def all_stages(self) -> Mapping[str, Mapping[str, Stage]]:
        """Kind -> name -> stage: each kind after those whose stages it reads."""
        for kind in kinds():
            self.stages(kind)
        return self._stages

    def stages(self, kind: str) -> Mapping[str, Stage]:
        """The stages of a kind, by name."""
        if kind not in self._stages:
            script = kinds()[kind].script
            made = {}
            for stage in kinds()[kind].stages(self):
                code = closure(stage.modules, [script], stage.data)
                made[stage.name] = replace(stage, config=stage.config.model_copy(update={"code": code}))
            self._stages[kind] = made
        return self._stages[kind]

    def configs(self, kind: str, form: type[C]) -> dict[str, C]:
        """The configurations of a kind's stages, by name."""
        configs = {}
        for name, stage in self.stages(kind).items():
            assert isinstance(stage.config, form)
            configs[name] = stage.config
        return configs

    # --- What stages read

    def task(self, name: str) -> list[str]:
        """What stages read of a task: its data, and its features if it has any."""
        return [*self.written("data", name), *self.written("features", name)]

    def origins(self, name: str) -> list[str]:
        """What starts read of a task. They depend on what its features are made of (stages/features.py), not on their
        bytes, which differ between kinds of processors: so that starts from git need not be trained again."""
        features = [f"{folder}/{ORIGIN}" for folder in self.written("features", name)]
        return [*self.written("data", name), *features]

    def pretrained(self, captioner: str, source: Path, place: str) -> TrainingRun:
        """The pretraining of a captioner that a parameter names."""
        run: TrainingRun = find(self.configs("pretrain", TrainConfig), captioner, source, place).runs[0]
        return run

    def trained(self) -> dict[str, dict[str, TrainingRun]]:
        """Group -> its runs, by name."""
        configs = self.configs("train", TrainConfig)
        return {group: {run.name: run for run in config.runs} for group, config in configs.items()}

    def decoded(self, evaluation: str) -> list[DecodingRun]:
        """What the groups of an evaluation decode."""
        configs = self.configs("decode", DecodeConfig)
        groups = [group for group, own in self.params.groups.items() if own == evaluation]
        return [run for group in groups for run in configs[group].runs]

    def listener(self, name: str, task: str, source: Path, place: str, seeds: int = 1) -> RetrieverFiles:
        """The retriever that runs of a task start with: of the run's own seed, or that which has mined for it."""
        mined, known = self.stages("mine"), self.shared.retrievers
        usable = {key: value for key, value in known.items() if key in mined or not value.folder}
        retriever = find(_of_task(usable, task), name, source, place)
        self.check_one_vector(retriever, source, f"{place} is {name!r}", "name")
        if name not in mined and retriever.seed_offset != 0:
            fix = "run and listener share their seed: name a retriever with seed_offset 0"
            raise InputError(source, f"{place} is {name!r}", fix)
        if retriever.seeds < seeds:
            fix = f"each seed of the run needs its own: give the retriever at least {seeds} seeds"
            raise InputError(source, f"{place} is {name!r}", fix)
        return self._retriever(name, "mine" if name in mined else "retriever")

    def listener_of(self, name: str) -> RetrieverFiles | None:
        """The retriever that the objective of a run, or of an ensemble's runs, reads, if it reads one."""
        params = self.params
        run = params.runs[params.ensembles[name].run if name in params.ensembles else name]
        if LISTENER not in objectives.model_class(run.objective).reads:
            return None
        task = self.shared.captioners[run.captioner].task
        return self.listener(run.listener or "none", task, params.source(name), f"runs.{name}.listener")

    def check_one_vector(self, retriever: RetrieverParams, source: Path, place: str, verb: str) -> None:
        """InputError for a retriever that compares words with cells: objectives and mining need one vector."""
        what = f"{place}, whose architecture is {retriever.architecture}"
        config_class(retrieval, retriever.architecture, PARAMS, what)
        if not retrieval.model_class(retriever.architecture).one_vector:
            raise InputError(source, what, f"{verb} a dual_encoder or a clip")

    def retriever(self, name: str, task: str, source: Path, place: str) -> RetrieverFiles:
        """A task's retriever."""
        find(_of_task(self.shared.retrievers, task), name, source, place)
        return self._retriever(name, "retriever")

    def _retriever(self, name: str, kind: str) -> RetrieverFiles:
        (folder,) = self.written(kind, name)
        return RetrieverFiles(folder, f"seqcap.retrieval.{self.shared.retrievers[name].architecture}")

    def written(self, kind: str, name: str) -> list[str]:
        stage = self.stages(kind).get(name)
        return [] if stage is None else list(stage.writes)

    def paper(self, name: str) -> dict[str, Any]:
        """What the configurations of a paper's part of the report share (`PaperConfig`)."""
        return paper_fields(self, name)

    # --- What parameters mean

    def seeds(self, number: int, offset: int = 0) -> tuple[int, ...]:
        first = self.shared.seed + offset
        return tuple(range(first, first + number))

    def reward(self, name: str | None, task: str, source: Path, place: str) -> Mapping[str, float]:
        """The weights of the reward that an entry at `place` names."""
        if name is None:
            return {}
        weights = find(self.shared.rewards, name, source, f"{place}.reward")
        english = [metric for metric, weight in weights.items() if weight and metric in rewards.ENGLISH]
        if english and not KINDS[self.shared.tasks[task].kind].english:
            what = f"{place}.reward is {name!r}, with {english[0]}"
            raise InputError(source, what, f"{english[0]} is not for translations")
        return weights

    def data_root(self, task: str) -> str:
        """The folder of a task's images, clips or texts."""
        params = self.shared.tasks[task]
        if params.dataset in GENERATED:
            return f"artifacts/{task}/data"
        if params.root is None:
            raise InputError(PARAMS, f"tasks.{task}.root is null, but {params.dataset} is on disk", "name its folder")
        return params.root

    def split(self, evaluation: str) -> str:
        """The split that is decoded. Only scenes have the split "server". Other datasets use `evaluate_on` instead."""
        wanted = self.params.evaluations[evaluation]
        task = self.shared.tasks[wanted.task]
        is_absent = wanted.split == "server" and task.dataset != "scenes"
        return task.evaluate_on if wanted.split is None or is_absent else wanted.split


def _of_task(retrievers: Mapping[str, RetrieverParams], task: str) -> dict[str, RetrieverParams]:
    return {name: retriever for name, retriever in retrievers.items() if retriever.task == task}
