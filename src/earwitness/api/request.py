"""What a user asks for: the clips, the task, who hears and how. The command line's options, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np

from earwitness import manifest as manifests
from earwitness import tasks
from earwitness.errors import UserError
from earwitness.listeners import has_weights, open_listener, trained_in
from earwitness.listeners.base import Listener
from earwitness.listeners.llm import LlmOptions
from earwitness.listeners.llm_secrets import command_without_credentials
from earwitness.listeners.on_ray import OnRay
from earwitness.manifest import Manifest
from earwitness.manifest.edits import read_edits
from earwitness.manifest.folder import read_clips
from earwitness.report.build import Options
from earwitness.report.panel import slug
from earwitness.scenes import dataset, scene
from earwitness.tasks import ritta_sources, settings
from earwitness.tasks.edit_sources import with_baselines
from earwitness.tasks.run_distances import SOURCE
from earwitness.tasks.task import SEED, WAYS, Setup
from earwitness.weights import cache_folder
from earwitness.workers import check as check_engine

NO_DISTANCES = "none"
BACKBONE = "yamnet"
"""What distances are measured with by default."""


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides what is heard and how it is scored.

    Attributes:
        task: ``order``, ``edit``, ``label`` or ``ritta``.
        manifest: CSV, JSONL or folder with metadata (for ``label`` any folder of clips, for ``ritta`` the
            data set); or else give prompts and outputs.
        prompts, outputs: For ``order``: a prompt file, and for every system the folder of its clips; for
            ``ritta`` outputs alone.
        id_from: Regular expression that finds the prompt_id in an output's path; the stem by default.
        rename: Our column -> theirs.
        listener: Name of the listener, see ``earwitness listeners``; several names make a panel.
        weights: The user's own weights file.
        llm: How an LLM is asked: server, limits, temperature, price (see LlmOptions).
        repeats: Independent hearings of each item; by default 3 for LLM judges and 1 for others.
        ask: ``seed`` or ``blind``: whether a judge first listens without knowing the caption (order).
        prompt: The user's own wording, by question; the key ``""`` is the task's main question.
        generator_encoder: Encoder family of the systems under test; a judge of that family is warned of.
        baselines: Judge the unchanged source and an unrelated clip beside every edit (edit).
        swap: Share of the items heard again with the clips exchanged, 0 to 1 (edit, judges).
        max_cost: Dollars that the run may cost in all.
        seed: Of sampling, order of items and bootstrap.
        limit: Judge a seeded sample of that many samples, the same for every system.
        workers: Clips heard at a time by the embedded listener; all cores by default.
        engine: ``local``, or ``ray`` to hear on a cluster (docs/scale.md). It changes no answer.
        retry: Ask again whatever ended unheard.
        scoring: How relations are scored (ritta; see tasks.ritta.SCORING).
        distances: Backbone in whose embeddings clips are held against reference clips (docs/distances.md);
            ``none`` for no distances. By default yamnet where there are references: for ritta, and where
            a reference is named.
        distance_weights: Weights file of that backbone, for one that needs the user's.
        reference: The system whose clips are the others' references, by sample_id (order, edit, label); of
            edits also ``source``, if no system is called so: the unedited clips.
        options: How the run is shown.
        command: What to record as the command; built from the arguments by default.
    """

    task: str
    manifest: str | Path | None = None
    prompts: str | Path | None = None
    outputs: Mapping[str, str | Path] = field(default_factory=dict)
    id_from: str = ""
    rename: Mapping[str, str] = field(default_factory=dict)
    listener: str | Sequence[str] = "yamnet"
    weights: str | Path | None = None
    llm: LlmOptions = field(default_factory=LlmOptions)
    repeats: int | None = None
    ask: str = SEED
    prompt: Mapping[str, str | Path] = field(default_factory=dict)
    generator_encoder: str = ""
    baselines: bool = False
    swap: float = 0.0
    max_cost: float | None = None
    seed: int = 0
    limit: int | None = None
    workers: int | None = None
    engine: str = "local"
    retry: bool = False
    scoring: Mapping[str, str] = field(default_factory=dict)
    distances: str | None = None
    distance_weights: str | Path | None = None
    reference: str = ""
    options: Options = field(default_factory=Options)
    command: str = ""

    def __post_init__(self) -> None:
        """Check what can be checked without looking at a file.

        Raises:
            UserError: Naming the argument and what it may be.
        """
        tasks.find(self.task)
        check_engine(self.engine)
        for name, least in (("repeats", 1), ("limit", 1), ("workers", 1), ("seed", 0), ("max_cost", 0)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise UserError(f"{name} must be at least {least}, not {value}.")
        if self.ask not in WAYS:
            raise UserError(f"there is no way to ask {self.ask!r}.", f"Known: {', '.join(WAYS)}.")
        if not 0 <= self.swap <= 1:
            raise UserError(f"the share of exchanged items must lie in 0 to 1, not {self.swap}.")
        if self.task != "order" and (self.prompts or self.ask != SEED):
            raise UserError(f"prompts and ask are of the order task, not of {self.task}.")
        if self.task not in ("order", "ritta") and (self.outputs or self.id_from):
            raise UserError(f"outputs and id_from are of the tasks order and ritta, not of {self.task}.")
        if self.task != "ritta" and self.scoring:
            raise UserError(f"scoring is of the task ritta, not of {self.task}.")
        if self.task != "edit" and (self.baselines or self.swap):
            raise UserError(f"baselines and swap are of the edit task, not of {self.task}.")
        self._check_distances()
        if not self.listeners:
            raise UserError("no listener is named.", "See: earwitness listeners")
        if len(set(self.listeners)) < len(self.listeners):
            raise UserError("a listener is named twice.", "Name every listener once.")

    def _check_distances(self) -> None:
        if self.reference and self.task == "ritta":
            raise UserError(
                "reference is of the tasks order, edit and label, not of ritta. The references of ritta are "
                "the data set's own clips."
            )
        if self.backbone and self.task != "ritta" and not self.reference:
            also = f", or {SOURCE} for the unedited clips" * (self.task == "edit")
            raise UserError(
                "distances need clips to be distant from.",
                f"Name the system that has them as the reference{also}.",
            )
        for name in ("reference", "distance_weights"):
            if getattr(self, name) and not self.backbone:
                raise UserError(f"{name} is given, but no distances are asked for.", "Leave one of them out.")

    @property
    def backbone(self) -> str:
        """Name of the backbone that distances are measured with; empty for no distances."""
        usual = BACKBONE if self.task == "ritta" or self.reference else NO_DISTANCES
        chosen = usual if self.distances is None else self.distances
        return "" if chosen == NO_DISTANCES else chosen

    @property
    def listeners(self) -> tuple[str, ...]:
        """Who hears, one name each."""
        return (self.listener,) if isinstance(self.listener, str) else tuple(self.listener)

    def open(self, listener: str) -> Listener:
        """The listener of that name, set as the request says.

        Raises:
            UserError: If there is none, or an option does not apply.
        """
        weights = Path(self.weights) if self.weights and has_weights(listener) else None
        if self.weights and not any(map(has_weights, self.listeners)):
            raise UserError(f"listener {listener!r} has no weights.", "Leave --weights out.")
        if self.engine == "ray":
            return OnRay(listener, weights=weights, workers=self.workers)
        return open_listener(listener, weights=weights, workers=self.workers, llm=self.llm)

    def folder(self, run: Path, listener: str) -> Path:
        """Where that listener's run lies: the folder itself, or one within it if there are several."""
        if len(self.listeners) == 1:
            return run
        # a trained detector by the name that its run keeps: a folder's name would not tell whose run it is
        return run / slug(self.open(listener).name if trained_in(listener) is not None else listener)

    def items(self) -> Manifest:
        """The clips that are asked for, checked.

        Raises:
            UserError: Naming every fault of the input, before any work.
        """
        found = self._manifest()
        task = tasks.find(self.task)
        task.check(found)
        if self.baselines:  # before the sample is drawn: a baseline must not depend on its size
            found = with_baselines(found, self.seed)
        if self.limit is not None:
            hearer = settings.asked(self.open(self.listeners[0]), Setup(seed=self.seed, ask=self.ask))
            found = manifests.limited(
                found, self.limit, self.seed, lambda item: not task.not_asked(item, hearer)
            )
        return found

    def setup(self, listener: Listener) -> Setup:
        """How that listener is asked, with the user's prompts read.

        Raises:
            UserError: If a prompt cannot be read or is for a question that is not asked.
        """
        plain = Setup(
            seed=self.seed,
            repeats=self.repeats,
            ask=self.ask,
            swap=self.swap,
            unclaimed=bool(self.options.unclaimed),
            scoring=self.scoring,
            generator_encoder=self.generator_encoder,
            command=command_without_credentials(self.command or self.call()),
        )
        asked = tasks.find(self.task).questions(settings.asked(listener, plain))
        prompts = {}
        for name, file in self.prompt.items():
            try:
                prompts[name or asked[0].name] = Path(file).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as fault:
                raise UserError(f"{file}: the prompt cannot be read: {fault}.") from fault
        settings.reworded(asked, prompts)
        return replace(plain, prompts=prompts)

    def call(self) -> str:
        """The Python call, without what was left at its default."""
        told = []
        for one in fields(self):
            value = getattr(self, one.name)
            default = one.default_factory() if callable(one.default_factory) else one.default
            if one.name != "task" and value != default:
                told.append(f"{one.name}={str(value) if isinstance(value, Path) else value!r}")
        return f"earwitness.judge({', '.join([repr(self.task), *told])})"

    def _manifest(self) -> Manifest:
        if self.task == "order":
            return self._order_manifest()
        if self.manifest is None:
            raise UserError("no clips are given.", "Name a manifest or, for labels, a folder of clips.")
        if self.task == "ritta":
            folders = {name: Path(folder) for name, folder in self.outputs.items()}
            data = Path(self.manifest)
            return ritta_sources.manifest(
                data, folders, silence=_silence(data), id_from=self.id_from, seed=self.seed
            )
        read = {"edit": read_edits, "label": read_clips}[self.task]
        return read(Path(self.manifest), rename=self.rename)

    def _order_manifest(self) -> Manifest:
        if (self.manifest is None) == (self.prompts is None):
            raise UserError(
                "give either a manifest, or prompts with outputs.",
                "For example: judge order clips.csv, or judge order --prompts p.csv --outputs ours=out/ours.",
            )
        if self.manifest is not None:
            if self.outputs or self.id_from:
                raise UserError("outputs and id_from go with prompts, not with a manifest.")
            return manifests.read_manifest(Path(self.manifest), rename=self.rename)
        if not self.outputs:
            raise UserError("prompts need outputs.", "Add one --outputs NAME=FOLDER for every system.")
        assert self.prompts is not None
        folders = {name: Path(folder) for name, folder in self.outputs.items()}
        return manifests.from_outputs(Path(self.prompts), folders, id_from=self.id_from, rename=self.rename)


def _silence(data: Path) -> Path:
    """A silent clip as long as those of a data set, kept in the cache: its name says all that is in it."""
    first = min((data / dataset.SCENES).glob("*.json"), default=None)
    if first is None:
        return data  # there is nothing to score, as reading the data set will tell
    like = scene.read(first)
    path = cache_folder() / f"silence-{like.samples}-at-{like.rate_hz}.wav"
    if not path.exists():
        dataset.write_sound(path, np.zeros(like.samples, np.float32), like.rate_hz)
    return path
