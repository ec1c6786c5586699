"""Judges in the order task, asked in both ways: who is asked what, and what their own events say of them."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import earwitness
from earwitness import runner
from earwitness.ledger import Heard, Ledger
from earwitness.listeners.base import Call, Hearing, Unheard
from earwitness.listeners.scripted import Scripted
from earwitness.manifest import Item, Manifest
from earwitness.scores import order, repeats
from earwitness.tasks import settings
from earwitness.tasks.order import TASK
from earwitness.tasks.rows import ItemRow
from earwitness.tasks.task import BLIND, SEED, WAYS, Setup
from sounds import alignment_reply, manifest, noise, script

CAPTION = "A dog barks followed by a cat meowing"
REVERSED = "a cat meowing followed by a dog barks"
RIGHT = (("dog barking", 0.0), ("cat meow", 0.3))
WRONG = (("cat meow", 0.0), ("dog barking", 0.3))
ONLY_DOG = (("dog barking", 0.0),)

Told = Sequence[tuple[str, float]]


def events(told: Told) -> list[dict[str, Any]]:
    return [{"label": n, "onset_s": at, "offset_s": at + 0.1, "confidence": 0.9} for n, at in told]


def judged(
    match: float | None,
    marks: tuple[int, int],
    told: Told = RIGHT,
    recall: float = 1.0,
    precision: float = 1.0,
) -> dict[str, dict[str, Any]]:
    """A judge's replies on both sides: the order right on one side is wrong on the other."""
    other = {1.0: 0.5, 0.5: 1.0}.get(match, match) if match is not None else None
    own = {"events_heard": events(told), "event_recall": recall, "event_precision": precision}
    return {
        "caption": alignment_reply(match, marks[0]) | own,
        "reversed": alignment_reply(other, marks[1]) | own,
        "listen": {"events_heard": events(told), "notes": "scripted"},
    }


GOOD, BAD = judged(1.0, (5, 2)), judged(0.5, (2, 5), WRONG)


class Watched(Scripted):
    """A scripted judge that keeps the calls it was given."""

    def __init__(self, path: Path, **more: Any) -> None:
        super().__init__(path, **more)
        self.calls: list[Call] = []

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        for call in calls:
            self.calls.append(call)
            yield from super().hear([call])


def lines(ask: str, said: Sequence[dict[str, Any]], pcm_hash: str = "*") -> list[dict[str, Any]]:
    """A script with one set of replies a repeat; a reply that is a reason is unheard."""
    question = "alignment_after_listening" if ask == BLIND else "alignment"
    told = []
    for repeat, sides in enumerate(said):
        asked = [(question, CAPTION, "caption"), (question, REVERSED, "reversed")]
        asked += [("listen", "*", "listen")] if ask == BLIND else []
        for name, caption, side in asked:
            line = {"pcm_hash": pcm_hash, "question": name, "caption": caption, "repeat": repeat}
            answer = {"reply": sides[side]} if isinstance(sides[side], dict) else {"reason": sides[side]}
            told.append(line | answer)
    return told


def ask_judge(
    folder: Path, ask: str, said: Sequence[Sequence[dict[str, Any]]], **more: Any
) -> tuple[list[ItemRow], Watched, list[list[Heard]]]:
    """Items judged by a script; ``said`` holds one set of replies for every repeat of every item."""
    items, script_lines = [], []
    for number, replies in enumerate(said):
        path = folder / f"{number}.wav"
        script_lines += lines(ask, replies, noise(path, number))
        items.append(Item("a", str(number), path, CAPTION, REVERSED, pair_id=f"pair{number}"))
    script(folder / "script.jsonl", script_lines)
    ear = Watched(folder / "script.jsonl", **more)
    with Ledger.create(folder / "run" / "ledger.sqlite") as ledger:
        setup = Setup(repeats=len(said[0]), ask=ask)
        hearer = settings.begin(ledger, ear, Manifest(tuple(items), (), "test"), TASK, setup)
        for stage in TASK.stages(ledger, hearer):
            runner.run(ledger, ear, stage.plan, settings.questions(ledger), seed=0)
        rows = list(TASK.rows(ledger, hearer))
        return rows, ear, [ledger.heard(item_id) for item_id in ledger.item_ids()]


def test_a_blind_judge_listens_once_a_repeat_and_both_sides_get_that_list(tmp_path: Path) -> None:
    said = [GOOD, judged(1.0, (4, 1), (("Bark", 0.1), ("Meow", 0.35)))]
    _, ear, (heard,) = ask_judge(tmp_path, BLIND, [said])
    assert [(h.side, h.repeat) for h in heard] == [
        (side, repeat) for side in ("caption", "listen", "reversed") for repeat in (0, 1)
    ]
    assert [call.question.name for call in ear.calls[:2]] == ["listen"] * 2  # all listening comes first
    for repeat, replies in enumerate(said):
        shown = [h.texts for h in heard if h.repeat == repeat and h.side != "listen"]
        assert [text["caption"] for text in shown] == [CAPTION, REVERSED]
        assert shown[0]["heard"] == shown[1]["heard"]
        assert json.loads(shown[0]["heard"]) == replies["listen"]["events_heard"]
    for call in ear.calls:
        words = call.question.words(call.texts)
        if call.question.name == "listen":
            assert not call.texts
            assert "dog" not in words.replace('"dog barking"', "")  # the prompt's own example
        else:
            assert '"heard": "[{\\"label\\":' in words


def test_a_judge_asked_with_the_caption_in_sight_is_asked_twice_a_repeat(tmp_path: Path) -> None:
    _, ear, (heard,) = ask_judge(tmp_path, SEED, [[GOOD] * 3])
    assert len(ear.calls) == 6
    assert {h.question for h in heard} == {"alignment"}
    assert all(set(call.texts) == {"caption"} for call in ear.calls)


@pytest.mark.parametrize("ask", WAYS)
def test_a_judge_that_belies_its_own_events_is_found_out(tmp_path: Path, ask: str) -> None:
    """It calls the order right and everything heard; its list has it the other way round, or half of it."""
    honest, turned, half = GOOD, judged(1.0, (5, 2), WRONG), judged(1.0, (5, 2), ONLY_DOG)
    more = judged(1.0, (5, 2), (*RIGHT, ("siren", 0.2), ("rain", 0.1)))
    rows, _, _ = ask_judge(tmp_path, ask, [[honest], [turned], [half], [more]])
    assert [row.values["toa"] for row in rows] == [1.0] * 4
    assert [row.values["order_from_events"] for row in rows] == [1.0, 0.0, 0.0, 1.0]
    assert [row.values["order_disagreement"] for row in rows] == [0.0, 1.0, 1.0, 0.0]
    assert [row.values["event_recall"] for row in rows] == [1.0, 1.0, 0.5, 1.0]
    assert [row.values["judge_event_recall"] for row in rows] == [1.0] * 4
    assert [row.values["recall_disagreement"] for row in rows] == [0.0, 0.0, 0.5, 0.0]
    assert [row.values["event_precision"] for row in rows] == [1.0, 1.0, 1.0, 0.5]
    assert [row.values["precision_disagreement"] for row in rows] == [0.0, 0.0, 0.0, 0.5]
    assert "'cat meowing' from 0.00 s" in rows[1].detail
    assert "'cat meowing' not heard" in rows[2].detail


def test_a_blind_list_counts_and_not_the_one_given_with_the_caption_in_sight(tmp_path: Path) -> None:
    parrot = GOOD | {"listen": judged(1.0, (5, 2), ONLY_DOG)["listen"]}
    (row,), _, _ = ask_judge(tmp_path, BLIND, [[parrot]])
    assert (row.values["event_recall"], row.values["judge_event_recall"]) == (0.5, 1.0)
    assert row.values["order_disagreement"] == 1.0
    assert [event.label for event in row.heard] == ["dog barking"]


def test_figures_are_means_over_repeats_and_say_how_far_these_part(tmp_path: Path) -> None:
    said = [judged(1.0, (5, 2), recall=1.0), judged(1.0, (4, 2), ONLY_DOG, recall=0.5), BAD]
    (row,), _, _ = ask_judge(tmp_path, SEED, [said])
    values = row.values
    assert values["toa"] == 1.0
    assert values["alignment"] == pytest.approx(11 / 3)
    assert values["judge_event_recall"] == pytest.approx(2.5 / 3)
    assert values["event_recall"] == pytest.approx(2.5 / 3)
    assert values["recall_disagreement"] == 0.0
    assert values["order_from_events"] == 0.0  # right in one of three lists
    assert values["flip_rate"] == pytest.approx(2 / 3)  # right-right, right-wrong, right-wrong
    assert values["alignment_spread"] == pytest.approx(1.527525)
    assert "order right in 2 of 3 repeats" in row.detail


def test_one_repeat_says_nothing_of_flips(tmp_path: Path) -> None:
    (row,), _, _ = ask_judge(tmp_path, SEED, [[GOOD]])
    assert row.values["flip_rate"] is None
    assert row.values["alignment_spread"] is None
    assert "repeats" not in row.detail


def test_a_tie_is_named_and_is_not_right(tmp_path: Path) -> None:
    (row,), _, _ = ask_judge(tmp_path, SEED, [[GOOD, BAD]])
    assert row.verdict == "wrong"
    assert "2 repeats, tie: right, wrong" in row.detail
    assert row.values["flip_rate"] == 1.0


def test_a_repeat_whose_listen_was_unheard_is_asked_nothing_more_and_not_scored(tmp_path: Path) -> None:
    refused = BAD | {"listen": "refused"}
    (row,), ear, (heard,) = ask_judge(tmp_path, BLIND, [[GOOD, refused]])
    assert (row.status, row.values["toa"], row.values["flip_rate"]) == ("scored", 1.0, None)
    assert [(h.side, h.repeat) for h in heard if h.repeat == 1] == [("listen", 1)]
    assert len(ear.calls) == 4


def test_an_item_that_was_never_listened_to_is_unheard_for_that_reason(tmp_path: Path) -> None:
    blocked = GOOD | {"listen": "blocked"}
    rows, ear, _ = ask_judge(tmp_path, BLIND, [[blocked, blocked], [GOOD, GOOD]])
    assert [(row.status, row.reason) for row in rows] == [("unheard", "blocked"), ("scored", "")]
    assert rows[0].values == {}
    assert len(ear.calls) == 2 + 6


def test_a_side_that_was_unheard_leaves_its_repeat_out(tmp_path: Path) -> None:
    half = GOOD | {"reversed": "truncated"}
    rows, _, _ = ask_judge(tmp_path, SEED, [[half, BAD], [half, half]])
    assert rows[0].verdict == "wrong"
    assert rows[0].values["flip_rate"] is None
    assert rows[1].reason == "truncated"


def test_a_failed_listen_is_asked_again_and_then_scored(tmp_path: Path) -> None:
    """Transport faults are asked again on resume; only then is there a list to go on with."""
    noise(tmp_path / "c.wav", 0)
    path = tmp_path / "script.jsonl"
    item = Item("a", "1", tmp_path / "c.wav", CAPTION, REVERSED)
    found: list[tuple[int, str]] = []
    with Ledger.create(tmp_path / "run" / "ledger.sqlite") as ledger:
        for listen in ("transport", GOOD["listen"]):
            script(path, lines(BLIND, [GOOD | {"listen": listen}]))
            ear = Watched(path)
            ear.version = "the same"
            hearer = settings.begin(ledger, ear, Manifest((item,), (), "test"), TASK, Setup(ask=BLIND))
            for stage in TASK.stages(ledger, hearer):
                runner.run(ledger, ear, stage.plan, settings.questions(ledger), seed=0)
            found += [(len(ear.calls), row.status) for row in TASK.rows(ledger, hearer)]
    assert found == [(1, "unheard"), (3, "scored")]


def test_a_listener_of_whole_seconds_tells_no_order_of_closer_onsets(tmp_path: Path) -> None:
    (row,), _, _ = ask_judge(tmp_path, SEED, [[GOOD]], resolution_s=1.0)
    assert row.values["order_from_events"] == 0.0
    assert row.values["order_disagreement"] == 1.0
    assert row.values["event_recall"] == 1.0


def test_what_names_cannot_tell_apart_is_not_recomputed_and_says_why(tmp_path: Path) -> None:
    noise(tmp_path / "c.wav", 0)
    caption, turned = "a siren followed by a police siren", "a police siren followed by a siren"
    told = judged(1.0, (5, 2), (("siren", 0.0), ("police siren", 0.3)))
    answers = [
        {"pcm_hash": "*", "question": "alignment", "caption": text, "reply": told[side]}
        for text, side in ((caption, "caption"), (turned, "reversed"))
    ]
    row = {"audio": "c.wav", "system": "a", "sample_id": "1", "caption": caption, "reversed_caption": turned}
    result = earwitness.judge(
        "order",
        manifest(tmp_path / "m.jsonl", [row]),
        run=tmp_path / "run",
        listener=script(tmp_path / "s.jsonl", answers),
    )
    (found,) = result.items.to_dicts()
    assert (found["status"], found["toa"]) == ("scored", 1.0)  # its own verdict stands
    for name in ("event_recall", "order_from_events", "order_disagreement", "recall_disagreement"):
        assert found[name] is None
    assert found["event_precision"] == 1.0
    assert "cannot be told apart" in found["detail"]


def test_a_blind_run_writes_every_reply_and_says_how_it_was_asked(tmp_path: Path) -> None:
    noise(tmp_path / "c.wav", 0)
    row = {
        "audio": "c.wav",
        "system": "a",
        "sample_id": "1",
        "caption": CAPTION,
        "reversed_caption": REVERSED,
    }
    result = earwitness.judge(
        "order",
        manifest(tmp_path / "m.jsonl", [row]),
        run=tmp_path / "run",
        listener=script(tmp_path / "s.jsonl", lines(BLIND, [GOOD, GOOD])),
        repeats=2,
        ask=BLIND,
        generator_encoder="Scripted",
    )
    with (tmp_path / "run" / "replies.csv").open(encoding="utf-8", newline="") as file:
        replies = list(csv.DictReader(file))
    assert [(r["side"], r["repeat"]) for r in replies] == [
        (side, repeat) for side in ("caption", "listen", "reversed") for repeat in "01"
    ]
    listens = [r for r in replies if r["side"] == "listen"]
    assert all(json.loads(r["events_heard"]) == events(RIGHT) for r in listens)
    assert all(r["overall_alignment"] == "" and r["notes"] == "scripted" for r in listens)
    protocol = (tmp_path / "run" / "protocol.md").read_text(encoding="utf-8")
    for words in ("Asked blind, it first lists what it hears", "asked 2 times", "same model family"):
        assert words in protocol
    assert any("same model family" in note for note in result.summary.notes)
    table = (tmp_path / "run" / "tables" / "order.md").read_text(encoding="utf-8")
    for head in (
        "TOA",
        "Order match",
        "Recall (judge's)",
        "Precision (judge's)",
        "Disagreement",
        "Flip rate",
    ):
        assert head in table


def test_detectors_have_no_columns_of_judges() -> None:
    def of(detector: bool) -> set[str]:
        hearer = settings.Hearer("x", "1", detector, 0.1, frozenset(), 1)
        return {spec.name for spec in TASK.measures(hearer).specs}

    assert of(False) - of(True) == {
        "judge_event_recall", "judge_event_precision", "order_from_events", "order_disagreement",
        "recall_disagreement", "precision_disagreement", "flip_rate", "alignment_spread",
    }  # fmt: skip
    assert of(True) - of(False) == {"toa_lenient"}


@pytest.mark.parametrize("ask", WAYS)
def test_planted_error_rates_come_out(tmp_path: Path, ask: str) -> None:
    """Ten items, three repeats, and a wrong answer planted in 0, 1, 2 or all of them."""
    planted = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3]
    said = [[BAD] * wrong + [GOOD] * (3 - wrong) for wrong in planted]
    rows, _, _ = ask_judge(tmp_path, ask, said)
    assert [row.values["toa"] for row in rows] == [1.0] * 7 + [0.0] * 3
    assert sum(row.values["flip_rate"] or 0 for row in rows) == pytest.approx(6 * 2 / 3)
    assert all(row.values["order_disagreement"] == 0.0 for row in rows)


verdicts = st.lists(st.sampled_from(["right", "wrong", "unclear"]), min_size=1, max_size=7)


@given(verdicts, st.randoms(use_true_random=False))
def test_flips_are_counted_alike_in_any_order(given_verdicts: list[str], random: Any) -> None:
    flips = repeats.flip_rate(given_verdicts)
    if len(given_verdicts) == 1:
        assert flips is None
        return
    assert flips is not None
    assert 0 <= flips <= 1
    assert flips == pytest.approx(repeats.flip_rate(random.sample(given_verdicts, len(given_verdicts))))
    assert (flips == 0) == (len(set(given_verdicts)) == 1)
    most = repeats.majority(given_verdicts)
    assert all(given_verdicts.count(v) == max(map(given_verdicts.count, given_verdicts)) for v in most)


@given(st.lists(st.tuples(st.sampled_from([1.0, 0.5, 0.0, None]), st.integers(1, 5), st.integers(1, 5)),
                min_size=1, max_size=5))  # fmt: skip
def test_a_tie_of_order_is_never_right(answers: list[tuple[float | None, int, int]]) -> None:
    orders = [order.order_of_replies(match, a, None, b) for match, a, b in answers]
    joined = order.over_repeats(orders)
    share = sum(o.match == 1.0 for o in orders) / len(orders)
    assert joined.order_right == (share > 0.5)
    assert joined.correct <= joined.order_right
    if all(o.right for o in orders):
        assert joined.correct
