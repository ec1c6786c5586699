"""Options that several verbs share, and the request they make.

A verb takes ``**given`` and is decorated with the groups it has; typer sees the joined signature.
"""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earwitness.cli import show
from earwitness.errors import UserError

if TYPE_CHECKING:
    from earwitness.api import Request
    from earwitness.report.build import Options

Group = Mapping[str, tuple[Any, Any]]
"""Parameter -> its annotation for typer, and its default."""


def option(kind: Any, text: str, default: Any, *names: str, **more: Any) -> tuple[Any, Any]:
    """An option; one without a default may be left out and is then None."""
    if default is None:
        kind, more = kind | None, {"show_default": False, **more}
    return Annotated[kind, typer.Option(*names, help=text, **more)], default


RUN: Group = {
    "out": option(Path, "The run folder.", Path("run"), "--out", "-o"),
    "limit": option(int, "Take a seeded sample of this many samples, the same for every system.", None),
    "seed": option(int, "Seed of sampling, order of items, and intervals.", 0),
}
MANIFEST: Group = {
    "manifest": (
        Annotated[
            Path | None,
            typer.Argument(
                metavar="MANIFEST", help="CSV, JSONL, or a folder with metadata.csv.", show_default=False
            ),
        ],
        None,
    ),
    "rename": option(list[str], "Rename a column. Repeat it.", None, "--map", metavar="OURS=THEIRS"),
    **RUN,
}
OUTPUTS: Group = {
    "prompts": option(Path, "Prompt file, used with --outputs.", None),
    "outputs": option(list[str], "NAME=FOLDER: a system's clips, named by prompt_id. Repeat it.", None),
    "id_from": option(str, "Regular expression whose first group is the prompt_id in a clip's path.", ""),
}
LISTENING: Group = {
    "listener": option(
        list[str], "Who hears; see: earwitness listeners. Repeat it for several judges.", ["yamnet"]
    ),
    "weights": option(Path, "Your own weights file, for machines with no network.", None),
    "workers": option(int, "Clips heard at a time by the embedded listener; all cores by default.", None),
    "engine": option(
        str, "local, or ray: the embedded listener hears on the cluster that RAY_ADDRESS names.", "local"
    ),
    "retry": option(bool, "Ask again whatever ended unheard.", False, "--retry"),
}
JUDGE: Group = {
    "repeats": option(int, "Independent hearings an item: 3 for LLM judges, else 1.", None),
    "prompt": option(
        list[str],
        "Your own wording for the judge's question. Repeat it for other questions of the run.",
        None,
        metavar="[QUESTION=]FILE",
    ),
    "generator_encoder": option(
        str, "Encoder family of the systems under test; a judge of the same family is warned of.", ""
    ),
    "estimate": option(bool, "Print calls, tokens and price, and send nothing.", False, "--estimate"),
    "max_cost": option(
        float, "Stop before the call that would bring the run's cost over this.", None, metavar="USD"
    ),
    "base_url": option(str, "Another server that speaks the model's format (openai:MODEL for vLLM).", ""),
    "output": option(
        str, "native asks for a JSON schema, prompted describes it in the prompt, auto chooses.", "auto"
    ),
    "judge_rate": option(int, "Rate at which sound is sent to a judge, Hz.", 16000),
    "temperature": option(float, "Sent with every call.", 0.0),
    "max_tokens": option(int, "Longest reply of a judge, thinking included.", 8192),
    "thinking_tokens": option(int, "Budget for thinking; the model's own by default.", None),
    "in_flight": option(int, "Most calls under way at a time.", 8),
    "requests_per_minute": option(float, "Quota of calls; no limit by default.", None),
    "audio_s_per_minute": option(float, "Quota of seconds of sound a minute; no limit by default.", None),
    "attempts": option(int, "How often a call is tried that fails in transport.", 6),
    "timeout": option(float, "Seconds to wait for a reply.", 120.0),
    "price": option(
        str, "Dollars per million tokens, where none is known.", None, metavar="TEXT,AUDIO,OUTPUT"
    ),
}
SHOWN: Group = {
    "spectrograms": option(int, "Draw spectrograms for at most this many clips.", 500),
    "level": option(float, "Confidence level of the intervals.", 0.95),
    "columns": option(str, "Metrics of the md and LaTeX tables, comma-separated.", None),
    "decimals": option(int, "Decimals in the md and LaTeX tables.", None),
    "name": option(list[str], "Display name in tables.", None, metavar="SYSTEM=SHOWN"),
    "percent": option(bool, "Show shares as percentages in tables.", False, "--percent"),
    "unclaimed": option(
        bool, "Judge sounds it does not claim to know too (exploratory).", None, "--unclaimed/--claimed"
    ),
}
UNCLAIMED = SHOWN["unclaimed"][0]
SCORING: Group = {
    "mode": option(str, "How relations are scored: default, paper or released.", None),
    "counting": option(str, "instances: a sound that comes back is another; tracks: it is the same.", None),
    "order_rule": option(str, "When a sound is before another: extent, any-pair or onset.", None),
}
_DISTANCES = "Backbone in whose embeddings clips are held against references, or none."
DISTANCES: Group = {
    "distances": option(str, f"{_DISTANCES} yamnet by default.", None, metavar="BACKBONE"),
    "distance_weights": option(Path, "Weights file of a backbone that needs yours.", None),
}
REFERENCED: Group = {
    "reference": option(str, "System whose clips are the others' references: measures distances, too.", ""),
    "distances": option(str, f"{_DISTANCES} yamnet with --reference.", None, metavar="BACKBONE"),
    "distance_weights": DISTANCES["distance_weights"],
}


def with_options(*groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb the options of the groups; it receives them by name."""

    def joined(verb: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(verb).parameters.values() if p.kind is not p.VAR_KEYWORD]
        shared = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for group in groups
            for name, (annotation, default) in group.items()
        ]
        parameters = [*shared, *(p.replace(kind=p.KEYWORD_ONLY) for p in own)]

        def run(**given: Any) -> None:
            verb(**given)

        run.__doc__ = verb.__doc__
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return joined


def request(task: str, given: Mapping[str, Any]) -> "Request":
    """The request that a verb's options make.

    Raises:
        UserError: Naming an option that cannot be understood.
    """
    from earwitness.api import Request
    from earwitness.listeners.llm import LlmOptions
    from earwitness.manifest import parse_rename

    llm = LlmOptions(
        base_url=given["base_url"],
        output=given["output"],
        rate_hz=given["judge_rate"],
        temperature=given["temperature"],
        max_tokens=given["max_tokens"],
        thinking_tokens=given["thinking_tokens"],
        in_flight=given["in_flight"],
        requests_per_minute=given["requests_per_minute"],
        audio_s_per_minute=given["audio_s_per_minute"],
        attempts=given["attempts"],
        timeout_s=given["timeout"],
        price=_price(given["price"]),
    )
    outputs = given.get("outputs")
    return Request(
        task,
        given["manifest"],
        prompts=given.get("prompts"),
        outputs=given.get("systems") or (show.pairs("--outputs", outputs) if outputs else {}),
        id_from=given.get("id_from", ""),
        rename=parse_rename(given.get("rename") or []),
        listener=tuple(given["listener"]),
        weights=given["weights"],
        llm=llm,
        repeats=given["repeats"],
        ask=given.get("ask", "seed"),
        prompt=_prompts(given["prompt"] or ()),
        generator_encoder=given["generator_encoder"],
        baselines=given.get("baselines", False),
        swap=given["swap_share"] if given.get("swap") else 0.0,
        max_cost=given["max_cost"],
        seed=given["seed"],
        limit=given["limit"],
        workers=given["workers"],
        engine=given["engine"],
        retry=given["retry"],
        scoring=scoring(given),
        distances=given.get("distances"),
        distance_weights=given.get("distance_weights"),
        reference=given.get("reference", ""),
        options=shown(given),
        command=show.typed_command(),
    )


def scoring(given: Mapping[str, Any]) -> dict[str, str]:
    """What was said of how relations are scored, from the options of :data:`SCORING`."""
    return {name: given[name] for name in SCORING if given.get(name) is not None}


def shown(given: Mapping[str, Any]) -> "Options":
    """How a run is shown, from the options of :data:`SHOWN`."""
    from earwitness.report.build import Options
    from earwitness.report.tables import TableOptions

    table = TableOptions(
        columns=tuple(c.strip() for c in given["columns"].split(",")) if given["columns"] else None,
        decimals=given["decimals"],
        names=show.pairs("--name", given["name"] or ()),
        percent=given["percent"],
    )
    return Options(
        table=table,
        spectrograms=given["spectrograms"],
        level=given["level"],
        unclaimed=given["unclaimed"],
        scoring=scoring(given) or None,
        ordered_only=given.get("ordered_only", False),
    )


def _price(text: str | None) -> tuple[float, float, float] | None:
    if text is None:
        return None
    try:
        words, sound, reply = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(
            f"--price {text!r} is not three numbers.", "For example --price 1.25,1.25,10 (dollars a million)."
        ) from None
    return words, sound, reply


def _prompts(given: list[str] | tuple[str, ...]) -> dict[str, str | Path]:
    """``FILE`` for the main question, ``QUESTION=FILE`` for another; a file's own name may hold ``=``."""
    from earwitness.questions import QUESTIONS

    found: dict[str, str | Path] = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not equals or (name not in QUESTIONS and Path(text).exists()):
            name, file = "", text
        elif name not in QUESTIONS:
            asked = ", ".join(name for name, question in QUESTIONS.items() if question.prompt)
            raise UserError(f"--prompt {text!r}: there is no question {name!r}.", f"Known: {asked}.")
        if name in found:
            raise UserError(f"--prompt words a question twice: {text!r}.", "Give one file a question.")
        found[name] = file
    return found
