"""The runner on real files, with listeners whose answers, prices and faults are known."""

import collections
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness import runner
from earwitness.errors import UserError
from earwitness.ledger import Ledger
from earwitness.listeners import open_listener
from earwitness.listeners.base import Call, Hearing, Unheard
from earwitness.manifest import AUDIO, SOURCE, Item
from earwitness.questions import QUESTIONS
from earwitness.runner import Ask, Counts
from running import DOG, Ear, ThreadedEar, hear, item, outcomes, stored
from sounds import events_reply, noise, script

Answers = Iterator[tuple[str, Hearing | Unheard]]


def make_clips(folder: Path, seeds: Sequence[int]) -> list[Item]:
    """A clip for each seed; the same seed gives the same sound."""
    for index, seed in enumerate(seeds):
        noise(folder / f"clip{index}.wav", seed, 0.5)
    return [item(folder / f"clip{index}.wav") for index in range(len(seeds))]


@pytest.fixture
def clips(tmp_path: Path) -> list[Item]:
    return make_clips(tmp_path, range(4))


# --- what is heard ---------------------------------------------------------------------------------


def test_every_item_is_heard_and_nothing_twice(tmp_path: Path, clips: list[Item]) -> None:
    assert hear(tmp_path / "run", clips, Ear()) == Counts(asked=4)
    assert hear(tmp_path / "run", clips, Ear()) == Counts()
    assert outcomes(tmp_path / "run") == {f"clip{i}": [""] for i in range(4)}


def test_identical_sound_is_heard_once_and_counted_for_each_item(tmp_path: Path, clips: list[Item]) -> None:
    twin = tmp_path / "twin.wav"
    twin.write_bytes(clips[0].audio.read_bytes())
    for in_flight, folder in ((1, "known"), (2, "on its way")):
        counts = hear(tmp_path / folder, [clips[0], item(twin, system="b")], Ear(in_flight=in_flight))
        assert counts == Counts(asked=1, reused=1)
        assert outcomes(tmp_path / folder) == {"clip0": [""], "twin": [""]}


def test_a_new_system_costs_only_its_own_clips(tmp_path: Path, clips: list[Item]) -> None:
    hear(tmp_path / "run", clips[:3], Ear())
    assert hear(tmp_path / "run", clips, Ear()).asked == 1


def test_repeats_are_separate_hearings(tmp_path: Path, clips: list[Item]) -> None:
    ear = Ear()
    assert (
        hear(tmp_path / "run", clips[:1], ear, [Ask("clip", "events", repeat=r) for r in range(3)]).asked == 3
    )
    assert len({call.call_id for call in ear.asked}) == 3
    assert [call.repeat for call in ear.asked] == [0, 1, 2]


def test_the_order_of_items_is_shuffled_by_the_seed_alone(tmp_path: Path) -> None:
    clips, ears = make_clips(tmp_path, range(12)), [Ear(), Ear()]
    for number, ear in enumerate(ears):
        hear(tmp_path / f"run{number}", clips, ear)
    heard = [[call.call_id for call in ear.asked] for ear in ears]
    assert heard[0] == heard[1]
    by_row = [
        hear(tmp_path / "one", [clip], one) and one.asked[0].call_id for clip in clips for one in [Ear()]
    ]
    assert sorted(by_row) == sorted(heard[0])
    assert by_row != heard[0]


def test_a_call_tells_nothing_of_the_system_or_the_path(tmp_path: Path, clips: list[Item]) -> None:
    ear = Ear()
    hear(tmp_path / "run", [item(clips[0].audio, "sample-77", "secret-system")], ear)
    told = repr(ear.asked)
    assert not any(name in told for name in ("secret-system", "sample-77", "clip0", str(tmp_path)))


# --- files -----------------------------------------------------------------------------------------


def test_unusable_files_are_recorded_with_their_reason_and_the_run_goes_on(
    tmp_path: Path, clips: list[Item]
) -> None:
    broken, empty, short, gone = (tmp_path / f"{name}.wav" for name in ("broken", "empty", "short", "gone"))
    broken.write_bytes(b"this is no sound at all" * 9)
    empty.write_bytes(b"")
    noise(short, 9, seconds=0.010)
    hear(tmp_path / "run", [*map(item, (broken, empty, short, gone)), *clips], Ear())
    assert outcomes(tmp_path / "run") == {
        "broken": ["unreadable"], "empty": ["empty"], "short": ["too_short"], "gone": ["unreadable"],
        **{f"clip{i}": [""] for i in range(4)},
    }  # fmt: skip


def test_a_broken_clip_can_be_put_right_and_is_then_heard_on_retry(tmp_path: Path) -> None:
    path = tmp_path / "late.wav"
    path.write_bytes(b"half a file")
    hear(tmp_path / "run", [item(path)], Ear())
    noise(path, 5)
    assert hear(tmp_path / "run", [item(path)], Ear()).asked == 0
    assert hear(tmp_path / "run", [item(path)], Ear(), retry=True).asked == 1
    assert outcomes(tmp_path / "run") == {"late": [""]}


def test_what_a_file_showed_is_kept(tmp_path: Path, clips: list[Item]) -> None:
    hear(tmp_path / "run", clips[:1], Ear())
    [kept] = stored(tmp_path / "run")
    assert kept.files[AUDIO].pcm_hash == noise(tmp_path / "again.wav", 0)
    assert kept.facts["duration_s"] == 0.5
    assert kept.facts["warnings"] == []


EDIT = {"target_caption": "a cat meows"}
EDIT_ASKS = (
    Ask("edit", "edit", EDIT, 0, (SOURCE, AUDIO)),
    Ask("swapped", "edit_exchanged", EDIT, 0, (AUDIO, SOURCE)),
    Ask("clip", "events"),
)


def edit_reply() -> dict[str, object]:
    heard = [{"label": "dog", "onset_s": 0.0, "offset_s": 0.4}]
    marks = ("edit_success", "nontarget_preservation", "temporal_preservation", "naturalness")
    return {
        "source_events": heard, "edited_events": heard, "intended_change": "dog to cat",
        **dict.fromkeys(marks, 4), "verdict": "good_edit", "notes": "",
    }  # fmt: skip


def test_an_edit_is_heard_with_both_clips_and_exchanged_clips_are_other_content(
    tmp_path: Path, clips: list[Item]
) -> None:
    replies = {"edit": edit_reply(), "edit_exchanged": edit_reply(), "events": DOG}
    lines = [{"pcm_hash": "*", "question": name, "reply": reply} for name, reply in replies.items()]
    listener = open_listener(script(tmp_path / "s.jsonl", lines))
    edited = [item(clips[i].audio, source_audio=clips[0].audio, caption="a cat meows") for i in (1, 2)]
    assert hear(tmp_path / "run", edited, listener, EDIT_ASKS).asked == 6
    assert outcomes(tmp_path / "run") == {"clip1": ["", "", ""], "clip2": ["", "", ""]}
    files = [kept.files for kept in stored(tmp_path / "run")]
    assert [sorted(roles) for roles in files] == [[AUDIO, SOURCE]] * 2
    assert files[0][SOURCE] == files[1][SOURCE] != files[0][AUDIO]


def test_an_unreadable_source_takes_only_the_asks_that_need_it(tmp_path: Path, clips: list[Item]) -> None:
    (tmp_path / "bad.wav").write_bytes(b"no sound")
    edited = item(clips[1].audio, source_audio=tmp_path / "bad.wav")
    counts = hear(tmp_path / "run", [edited], Ear(), EDIT_ASKS)
    assert counts == Counts(asked=1, unheard=2)
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        heard = {h.side: (h.reason, h.detail) for h in ledger.heard(1)}
    assert heard["clip"] == ("", "")
    assert heard["edit"] == heard["swapped"]
    assert heard["edit"][0] == "unreadable"
    assert heard["edit"][1].startswith("the source clip: ")


# --- answers ---------------------------------------------------------------------------------------


def test_a_reply_that_breaks_the_questions_rules_is_invalid_not_a_number(
    tmp_path: Path, clips: list[Item]
) -> None:
    backwards = events_reply(("Dog", 0.4, 0.1))
    name = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": backwards}])
    hear(tmp_path / "run", clips[:1], open_listener(name))
    assert outcomes(tmp_path / "run") == {"clip0": ["invalid"]}


def test_only_retry_asks_again_what_was_refused(tmp_path: Path, clips: list[Item]) -> None:
    line = {"pcm_hash": "*", "question": "events", "reason": "refused", "detail": "no"}
    listener = open_listener(script(tmp_path / "s.jsonl", [line]))
    assert hear(tmp_path / "run", clips, listener).asked == 4
    assert hear(tmp_path / "run", clips, listener).asked == 0
    assert hear(tmp_path / "run", clips, listener, retry=True).asked == 4


def test_a_failure_is_asked_once_a_run_for_all_who_share_the_sound(tmp_path: Path) -> None:
    clips = make_clips(tmp_path, [0, 0, 0])
    assert hear(tmp_path / "run", clips, Ear(fails=1)) == Counts(asked=1, reused=2, unheard=3)
    assert hear(tmp_path / "run", clips, Ear()) == Counts(asked=1, reused=2)


class Breaks(Ear):
    """Raises on one clip, as a listener with a fault in it would; answers the others."""

    def __init__(self, bad: str) -> None:
        super().__init__(in_flight=2)
        self._bad = bad

    def _answer(self, call: Call) -> tuple[str, Hearing | Unheard]:
        if self._bad in ("*", call.clips[0].pcm_hash):
            raise RuntimeError("planted")
        return super()._answer(call)


def test_a_listener_that_breaks_on_one_clip_loses_only_that_clip(tmp_path: Path, clips: list[Item]) -> None:
    bad = noise(tmp_path / "clip2.wav", 2)
    assert hear(tmp_path / "run", clips, Breaks(bad)).unheard == 1
    assert outcomes(tmp_path / "run") == {
        "clip0": [""], "clip1": [""], "clip2": ["transport"], "clip3": [""],
    }  # fmt: skip
    # What failed in transport is asked again by the next run, and only that.
    assert hear(tmp_path / "run", clips, Ear()) == Counts(asked=1)


def test_a_listener_that_always_breaks_leaves_a_reason_for_every_item(
    tmp_path: Path, clips: list[Item]
) -> None:
    hear(tmp_path / "run", clips, Breaks("*"))
    assert set(map(tuple, outcomes(tmp_path / "run").values())) == {("transport",)}
    with Ledger.read(tmp_path / "run" / "ledger.sqlite") as ledger:
        assert "planted" in ledger.heard(1)[0].detail


class NoCredit(Ear):
    """Stops with a word to the user after two answers, as a provider does that takes no more calls."""

    def hear(self, calls: Iterable[Call]) -> Answers:
        yield from islice(super().hear(calls), 2)
        raise UserError("the key is out of credit.")


def test_what_was_answered_before_a_listener_gave_up_is_kept(tmp_path: Path, clips: list[Item]) -> None:
    with pytest.raises(UserError, match="out of credit"):
        hear(tmp_path / "run", clips, NoCredit(in_flight=2))
    assert sorted(outcomes(tmp_path / "run").values()) == [[], [], [""], [""]]
    assert hear(tmp_path / "run", clips, Ear()) == Counts(asked=2)


class Silent(Ear):
    def hear(self, calls: Iterable[Call]) -> Answers:
        for _ in calls:
            yield from ()


class Tires(Ear):
    """Takes a few calls and is done."""

    def hear(self, calls: Iterable[Call]) -> Answers:
        return super().hear(islice(calls, self.in_flight))


def test_a_listener_that_gives_no_answer_leaves_the_reason(tmp_path: Path, clips: list[Item]) -> None:
    hear(tmp_path / "run", clips[:2], Silent())
    assert outcomes(tmp_path / "run") == {"clip0": ["transport"], "clip1": ["transport"]}


def test_a_listener_that_stops_early_is_asked_on_and_one_that_never_begins_is_a_fault(
    tmp_path: Path, clips: list[Item]
) -> None:
    assert hear(tmp_path / "run", clips, Tires(in_flight=3)) == Counts(asked=4)
    with pytest.raises(RuntimeError, match="ear left calls undrawn"):
        hear(tmp_path / "none", clips, Tires(in_flight=0))


def test_progress_ends_at_the_total_however_answers_come(tmp_path: Path) -> None:
    clips = make_clips(tmp_path, [0, 0, 1, 2])
    (tmp_path / "bad.wav").write_bytes(b"no sound")
    clips.append(item(tmp_path / "bad.wav"))
    seen: list[tuple[int, int, float | None]] = []
    asks = [Ask("clip", "events", repeat=r) for r in range(2)]
    hear(
        tmp_path / "run", clips, Ear(in_flight=3, cost=0.5, fails=3), asks, progress=lambda *s: seen.append(s)
    )
    assert (seen[0], seen[-1]) == ((0, 10, None), (10, 10, 3.0))
    assert [s[0] for s in seen] == sorted(s[0] for s in seen)
    seen.clear()
    hear(tmp_path / "run", clips, Ear(), asks, progress=lambda *s: seen.append(s))
    assert seen[-1][0] == seen[-1][1] > 0
    assert seen[-1][2] == 3.0  # what was spent before counts


# --- money -----------------------------------------------------------------------------------------


def test_budget_stops_before_the_call_that_would_exceed_it_and_resumes_with_the_rest(tmp_path: Path) -> None:
    clips = make_clips(tmp_path, range(10))
    ear = Ear(in_flight=4, expected=1.0, cost=1.0)
    assert hear(tmp_path / "run", clips, ear, max_cost_usd=6.5) == Counts(asked=6, unheard=4, over_budget=4)
    assert ear.charged == 6.0
    assert ear.most_at_risk <= 6.5
    reasons = collections.Counter(r for (r,) in outcomes(tmp_path / "run").values())
    assert reasons == {"": 6, "budget": 4}

    again = Ear(in_flight=4, expected=1.0, cost=1.0)  # spent is counted over both runs
    assert hear(tmp_path / "run", clips, again, max_cost_usd=6.5).over_budget == 4
    assert again.asked == []
    assert hear(tmp_path / "run", clips, again, max_cost_usd=8.0) == Counts(asked=2, unheard=2, over_budget=2)
    assert hear(tmp_path / "run", clips, again) == Counts(asked=2)
    heard_before = {call.call_id for call in ear.asked}
    assert not heard_before & {call.call_id for call in again.asked}


def test_a_budget_of_exactly_what_the_calls_cost_is_enough(tmp_path: Path, clips: list[Item]) -> None:
    assert hear(tmp_path / "run", clips[:3], Ear(expected=0.1, cost=0.1), max_cost_usd=0.3) == Counts(asked=3)


@pytest.mark.parametrize("in_flight", [1, 4])
def test_what_calls_really_cost_is_learnt_from_the_first(tmp_path: Path, in_flight: int) -> None:
    clips = make_clips(tmp_path, range(10))
    ear = Ear(in_flight=in_flight, expected=2.0, cost=0.5)
    counts = hear(tmp_path / "run", clips, ear, max_cost_usd=4.0)
    assert (counts.asked, counts.over_budget, ear.charged) == (8, 2, 4.0)


def test_a_first_call_that_should_cost_more_than_the_budget_is_not_made(tmp_path: Path) -> None:
    ear = Ear(expected=2.0, cost=0.5)
    counts = hear(tmp_path / "run", make_clips(tmp_path, range(3)), ear, max_cost_usd=1.0)
    assert (counts.asked, counts.over_budget) == (0, 3)


@pytest.mark.parametrize("in_flight", [2, 8])
def test_calls_dearer_than_expected_are_reckoned_at_the_dearest_so_far(
    tmp_path: Path, in_flight: int
) -> None:
    clips = make_clips(tmp_path, range(12))
    ear = Ear(in_flight=in_flight, expected=0.1, cost=1.0)
    counts = hear(tmp_path / "run", clips, ear, max_cost_usd=5.0)
    assert (counts.asked, ear.charged) == (5, 5.0)


def test_a_resumed_run_knows_what_calls_cost_before(tmp_path: Path) -> None:
    clips = make_clips(tmp_path, range(12))
    hear(tmp_path / "run", clips[:1], Ear(expected=0.1, cost=1.0), max_cost_usd=1.0)
    ear = Ear(in_flight=8, expected=0.1, cost=1.0)
    counts = hear(tmp_path / "run", clips, ear, max_cost_usd=4.0)
    assert (counts.asked, ear.charged) == (3, 3.0)


def test_failed_calls_are_paid_for_and_are_not_asked_twice_for_lack_of_money(tmp_path: Path) -> None:
    clips = make_clips(tmp_path, range(8))
    ear = Ear(in_flight=3, expected=1.0, cost=1.0, fails=2)
    counts = hear(tmp_path / "run", clips, ear, max_cost_usd=4.0)
    assert (counts.asked, counts.over_budget, ear.charged) == (4, 4, 4.0)
    reasons = collections.Counter(r for (r,) in outcomes(tmp_path / "run").values())
    assert reasons == {"": 2, "transport": 2, "budget": 4}


@pytest.mark.parametrize("kind", [Ear, ThreadedEar])
def test_a_budget_without_a_price_is_refused_before_any_call(
    tmp_path: Path, clips: list[Item], kind: type[Ear]
) -> None:
    class Unpriced(kind):  # type: ignore[misc, valid-type]
        def expected(self, *_: object) -> dict[str, float]:
            return {"input_audio_tokens": 320.0}

    ear = Unpriced(in_flight=2)
    with pytest.raises(UserError, match="no price is known for ear"):
        hear(tmp_path / "run", clips, ear, max_cost_usd=1.0)
    assert ear.asked == []
    assert outcomes(tmp_path / "run") == {f"clip{i}": [] for i in range(4)}


def test_a_listener_that_costs_nothing_has_no_use_for_a_budget(tmp_path: Path, clips: list[Item]) -> None:
    assert hear(tmp_path / "run", clips, Ear(), max_cost_usd=0.0) == Counts(asked=4)


# --- any order, threads, kills ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def sounds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sounds")
    for seed in range(5):
        noise(folder / f"{seed}.wav", seed)
    (folder / "bad.wav").write_bytes(b"no sound")
    return [*(folder / f"{seed}.wav" for seed in range(5)), folder / "bad.wav"]


@settings(max_examples=40, deadline=None)
@given(
    which=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    repeats=st.integers(1, 3),
    kind=st.sampled_from([Ear, ThreadedEar]),
    in_flight=st.integers(1, 6),
    expected=st.sampled_from([0.25, 1.0, 2.0]),
    cost=st.sampled_from([0.25, 1.0, 2.0]),
    fails=st.integers(0, 3),
    budget=st.sampled_from([None, 0.0, 1.0, 3.5, 8.0]),
    seed=st.integers(0, 99),
)
def test_nothing_is_lost_or_doubled_however_answers_and_money_come(
    sounds: list[Path],
    which: list[int],
    repeats: int,
    kind: type[Ear],
    in_flight: int,
    expected: float,
    cost: float,
    fails: int,
    budget: float | None,
    seed: int,
) -> None:
    items = [item(sounds[index], str(row)) for row, index in enumerate(which)]
    asks = [Ask("clip", "events", repeat=r) for r in range(repeats)]
    total, usable = len(items) * repeats, sum(index < 5 for index in which) * repeats
    distinct = len({index for index in which if index < 5}) * repeats
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        ear = kind(in_flight=in_flight, expected=expected, cost=cost, fails=fails, seed=seed)
        seen: list[tuple[int, int, float | None]] = []
        counts = hear(run, items, ear, asks, max_cost_usd=budget, progress=lambda *s: seen.append(s))
        reasons = collections.Counter(r for found in outcomes(run).values() for r in found)
        assert sum(reasons.values()) == total
        assert counts.asked == len(ear.asked) == len({call.call_id for call in ear.asked})
        assert counts.over_budget == reasons["budget"]
        assert counts.unheard == total - reasons[""]
        assert seen[-1][:2] == (total - counts.over_budget, total)
        if budget is None:
            assert counts.asked == distinct
            assert counts.reused == usable - distinct
        elif cost <= expected:
            assert ear.charged <= budget
        with Ledger.read(run / "ledger.sqlite") as ledger:
            assert ledger.usage().get("cost_usd", 0.0) == ear.charged

        rest = kind(in_flight=in_flight, seed=seed)
        hear(run, items, rest, asks)
        heard_well = reasons[""]
        assert len(rest.asked) <= distinct
        final = collections.Counter(r for found in outcomes(run).values() for r in found)
        assert (
            final == collections.Counter({"": usable, "unreadable": total - usable}) - collections.Counter()
        )
        assert heard_well <= usable
        assert hear(run, items, Ear(), asks).asked == 0


SLOW = """
    import sys, time
    from pathlib import Path
    from running import Ear, hear, item
    folder = Path(sys.argv[1])
    log = open(folder / "asked.txt", "a", buffering=1)
    class Slow(Ear):
        def _answer(self, call):
            time.sleep(0.004)
            return super()._answer(call)
        def hear(self, calls):
            def logged():
                for call in calls:
                    log.write(call.call_id + "\\n")
                    yield call
            return super().hear(logged())
    clips = [item(path) for path in sorted(folder.glob("*.wav"))]
    hear(folder / "run", clips, Slow(in_flight=4))
"""


def test_a_run_killed_midway_goes_on_where_it_stopped(tmp_path: Path) -> None:
    n, in_flight = 60, 4
    clips = make_clips(tmp_path, range(n))
    log = tmp_path / "asked.txt"
    log.touch()
    command = [sys.executable, "-c", textwrap.dedent(SLOW), str(tmp_path)]
    for stop_after in (15, 35, None):
        process = subprocess.Popen(command, cwd=Path(__file__).parent)
        if stop_after is None:
            assert process.wait(60) == 0
        else:
            until = time.monotonic() + 60
            while len(log.read_text().splitlines()) < stop_after:
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.005)
            process.kill()
            assert process.wait() == -9
    asked = log.read_text().splitlines()
    assert len(set(asked)) == n
    assert n < len(asked) <= n + 2 * in_flight  # at each kill at most the calls in flight were lost
    assert set(map(tuple, outcomes(tmp_path / "run").values())) == {("",)}
    with sqlite3.connect(tmp_path / "run" / "ledger.sqlite") as db:
        assert db.execute("SELECT count(*), count(DISTINCT key) FROM hearings").fetchone() == (n, n)
        assert db.execute("SELECT count(*) FROM item_hearings").fetchone() == (n,)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert hear(tmp_path / "run", clips, Ear()) == Counts()


def test_what_a_thread_draws_while_another_meets_the_end_is_not_lost() -> None:
    drawing, ended = threading.Event(), threading.Event()
    drawn: list[object] = []
    call = Call("key", (), QUESTIONS["events"])

    def draw() -> Call | None:
        if not drawing.is_set():
            drawing.set()
            ended.wait(0.2)  # meanwhile the other thread asks too
            return call
        ended.set()
        return None

    source = runner._Drawn(draw)
    first = threading.Thread(target=lambda: drawn.extend(source))
    first.start()
    drawing.wait()
    assert list(source) == []
    first.join()
    assert drawn == [call]
