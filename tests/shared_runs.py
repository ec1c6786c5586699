"""Small whole runs to pack and to compare: scripted listeners on synthetic clips."""

from pathlib import Path
from typing import Any

from earwitness.api import Result, judge
from earwitness.report.build import Options
from sounds import events_reply, manifest, noise, script

CAPTION = "A dog barks followed by a cat meowing"
RIGHT = events_reply(("Bark", 0.0, 0.1), ("Meow", 0.3, 0.4))
WRONG = events_reply(("Meow", 0.0, 0.1), ("Bark", 0.3, 0.4))
FEW = Options(spectrograms=0, draws=1000)


def order_run(
    folder: Path,
    skill: dict[str, int],
    *,
    n: int = 6,
    run: str = "run",
    ids: str = "{index}",
    caption: str = CAPTION,
    wrong: set[tuple[str, int]] = frozenset(),
    unheard: set[tuple[str, int]] = frozenset(),
    options: Options = FEW,
    **changes: Any,
) -> Result:
    """A run of the order task by a detector that answers as planned.

    Args:
        skill: How many of a system's clips are right, by system.
        ids: How samples are called, with ``{index}`` and ``{system}``.
        wrong, unheard: Clips that are judged otherwise than ``skill`` says.
    """
    rows, answers, seed = [], [], 0
    for system, right in skill.items():
        for index in range(n):
            path = folder / "clips" / system / f"{index}.wav"
            pcm_hash = noise(path, seed)
            seed += 1
            good = index < right and (system, index) not in wrong
            answer: dict[str, Any] = {"reply": RIGHT if good else WRONG}
            if (system, index) in unheard:
                answer = {"reason": "refused", "detail": f"could not listen to {path}"}
            answers.append({"pcm_hash": pcm_hash, "question": "events", **answer})
            sample = ids.format(index=index, system=system)
            rows.append({"audio": str(path), "system": system, "sample_id": sample, "caption": caption,
                         "pair_id": f"pair{index}"})  # fmt: skip
    return judge(
        "order",
        manifest(folder / f"{run}.jsonl", rows),
        run=folder / run,
        listener=script(folder / f"{run}-script.jsonl", answers),
        options=options,
        **changes,
    )


EDIT = {
    "source_events": [{"label": "dog", "onset_s": 0.0, "offset_s": 0.2}],
    "edited_events": [{"label": "cat", "onset_s": 0.0, "offset_s": 0.2}],
    "intended_change": "dog to cat",
    "edit_success": 5,
    "nontarget_preservation": 4,
    "temporal_preservation": 4,
    "naturalness": 3,
    "verdict": "good_edit",
    "notes": "scripted",
}


def edit_run(folder: Path, systems: list[str], n: int = 3, **changes: Any) -> Result:
    """A run of the edit task by a judge that marks every edit alike; sources are shared."""
    rows = []
    for index in range(n):
        noise(folder / "clips" / "sources" / f"{index}.wav", index)
        for number, system in enumerate(systems, 1):
            noise(folder / "clips" / system / f"{index}.wav", 100 * number + index)
            rows.append({
                "system": system, "sample_id": f"s{index}", "source_audio": f"clips/sources/{index}.wav",
                "edited_audio": f"clips/{system}/{index}.wav", "source_caption": "a dog barks",
                "target_caption": "a cat meows", "instruction": f"make it a cat, {index}",
            })  # fmt: skip
    lines = [{"pcm_hash": "*", "question": name, "reply": EDIT} for name in ("edit", "edit_exchanged")]
    return judge(
        "edit",
        manifest(folder / "edits.jsonl", rows),
        run=folder / "run",
        listener=script(folder / "script.jsonl", lines),
        options=FEW,
        **changes,
    )
