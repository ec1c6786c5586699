"""The RiTTA task in whole runs: ceilings, floors, planted systems, classes nobody knows, modes, judges."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from earwitness import audio
from earwitness.errors import UserError
from earwitness.events import Event
from earwitness.ledger import Ledger
from earwitness.manifest import Manifest
from earwitness.report import build
from earwitness.scenes.ritta.classes import CLASSES
from earwitness.scenes.scene import Scene
from earwitness.scores.relations import MAIN, RELATIONS, SPATIAL, Expected
from earwitness.tasks import ritta_classes, ritta_sources
from earwitness.tasks.rows import Summary
from earwitness.tasks.task import Hearer
from ritta_runs import (
    PER_RELATION,
    SURE,
    Answer,
    hear,
    listener,
    make_data,
    make_silence,
    reference_lines,
    rows_of,
    scenes_of,
    silence_lines,
    skilled,
    summary_of,
    system_lines,
    true_events,
    values,
)

SKILLS = {"good": 1.0, "middling": 0.67, "bad": 0.33}
FACTORS = ("presence", "relation", "parsimony", "msr")
COMMON = frozenset(("Bark", "Dog", "Meow", "Cat", "Vehicle horn, car horn, honking", "Whistling", "Speech"))


@dataclass(frozen=True)
class World:
    """A data set, and what a listener says of its clips and of silence."""

    data: Path
    silence: Path
    lines: list[Answer]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("ritta")
    data, silence = make_data(folder / "DATA"), make_silence(folder / "silence.wav")
    return World(data, silence, reference_lines(data) + silence_lines(silence))


@dataclass(frozen=True)
class Ran:
    """A finished run of three systems of known skill."""

    folder: Path
    clips: Path
    lines: list[Answer]
    found: Manifest


@pytest.fixture(scope="module")
def ran(world: World, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("planted")
    lines = list(world.lines)
    for seed, (name, share) in enumerate(SKILLS.items()):
        lines += system_lines(folder / name, world.data, skilled(share), seed)
    found = ritta_sources.manifest(
        world.data, {name: folder / name for name in SKILLS}, silence=world.silence
    )
    hear(folder / "run", listener(folder / "script.jsonl", lines), found)
    return Ran(folder / "run", folder, lines, found)


def one_system(world: World, folder: Path, lines: list[Answer], known: frozenset[str] = frozenset()) -> Path:
    """A run of the system ``ours``, whose clips and answers are there already."""
    found = ritta_sources.manifest(world.data, {"ours": folder / "ours"}, silence=world.silence)
    hear(folder / "run", listener(folder / "script.jsonl", [*world.lines, *lines], known), found)
    return folder / "run"


# --- ceilings and floors ---------------------------------------------------------------------------


def test_true_events_score_exactly_one_in_every_relation(ran: Ran) -> None:
    found = summary_of(ran.folder)
    for metric in FACTORS:
        told = values(found, metric)["oracle"]
        assert len(told) == 1 + len(MAIN) + len(RELATIONS)
        assert set(told.values()) == {1.0}, metric


def test_the_data_sets_own_clips_score_one_when_they_are_heard_rightly(ran: Ran) -> None:
    """Levels are measured from the clips' sound, so the spatial relations are really there."""
    found = summary_of(ran.folder)
    assert set(values(found)["reference"].values()) == {1.0}
    row = next(row for row in found.rows if row.system == "reference")
    for relation in SPATIAL:
        error = row.parts[relation]["level_error_db"].value
        assert error is not None
        assert error < 2.0
    difference = [row.parts[relation]["level_difference_db"].value or 0.0 for relation in SPATIAL]
    assert difference[0] > 3 > abs(difference[2])
    assert difference[1] < -3


@pytest.mark.parametrize(
    ("mode", "oracle_not", "oracle_or", "silence_not"),
    [("default", 1.0, 1.0, 1.0), ("paper", 0.904837, 1.0, 1.0), ("released", 0.0, 0.0, 0.0)],
)
def test_ceilings_and_floors_are_those_that_the_mode_states(
    ran: Ran, mode: str, oracle_not: float, oracle_or: float, silence_not: float
) -> None:
    found = summary_of(ran.folder, {"mode": mode})
    told = values(found)
    assert told["oracle"]["not"] == pytest.approx(oracle_not, abs=1e-6)
    assert told["oracle"]["or"] == oracle_or
    assert told["oracle"]["count"] == told["oracle"]["Temporal_Order"] == told["oracle"]["closefirst"] == 1.0
    assert told["silence"] == {
        part: silence_not / {"all": 11, "Compositionality": 4, "not": 1}.get(part, float("inf"))
        for part in told["silence"]
    }
    floor = f"mAMSR of silence should be {silence_not / 11:.3f}"
    assert any(note.startswith(floor) and f"it is {silence_not / 11:.3f}" in note for note in found.notes)


def test_planted_systems_come_out_in_order_on_every_main_relation(ran: Ran) -> None:
    told = values(summary_of(ran.folder))
    for part in (*MAIN, "all"):
        good, middling, bad, shuffled = (told[name][part] or 0.0 for name in (*SKILLS, "shuffled"))
        assert good > middling > bad, part
        if part != "Compositionality":  # a clip of another prompt meets 'not'
            assert bad > shuffled, part
    pairs = [pair for pair in summary_of(ran.folder).comparisons if pair.metric == "msr"]
    assert {(pair.winner, pair.items, pair.clusters) for pair in pairs} == {
        ("good", 66, 66),
        ("middling", 66, 66),
    }


# --- rescoring ---------------------------------------------------------------------------------------


def test_other_modes_are_scored_from_the_ledger_alone(ran: Ran) -> None:
    before = (ran.folder / "ledger.sqlite").read_bytes()
    told = {mode: values(summary_of(ran.folder, {"mode": mode})) for mode in ("default", "paper", "released")}
    assert told["default"]["good"]["all"] == 1.0
    assert told["paper"]["good"]["all"] == pytest.approx((10 + 0.904837) / 11, abs=1e-6)
    assert told["released"]["good"]["all"] == pytest.approx(8 / 11)
    onsets = summary_of(ran.folder, {"order_rule": "onset", "counting": "tracks"})
    assert values(onsets)["good"]["all"] == 1.0
    assert (ran.folder / "ledger.sqlite").read_bytes() == before


def test_the_scoring_of_a_run_may_change_when_it_is_extended_and_nothing_is_heard_again(
    ran: Ran, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "ledger.sqlite").write_bytes((ran.folder / "ledger.sqlite").read_bytes())
    ear = listener(ran.clips / "script.jsonl", ran.lines)
    counts = hear(tmp_path / "run", ear, ran.found, scoring={"mode": "paper"})
    assert (counts.asked, counts.unheard) == (0, 0)
    assert values(summary_of(tmp_path / "run")) == values(summary_of(ran.folder, {"mode": "paper"}))


def test_an_unknown_way_of_scoring_is_refused_by_name(ran: Ran) -> None:
    with pytest.raises(UserError, match="mode cannot be 'strict'"):
        summary_of(ran.folder, {"mode": "strict"})


def test_another_system_costs_its_own_clips_alone(ran: Ran, world: World, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "ledger.sqlite").write_bytes((ran.folder / "ledger.sqlite").read_bytes())
    outputs = {**{name: ran.clips / name for name in SKILLS}, "new": tmp_path / "new"}
    system_lines(tmp_path / "new", world.data, skilled(1.0), seed=77)
    found = ritta_sources.manifest(world.data, outputs, silence=world.silence)
    counts = hear(tmp_path / "run", listener(ran.clips / "script.jsonl", ran.lines), found)
    assert counts.asked == len(RELATIONS) * PER_RELATION + len(SPATIAL) * PER_RELATION


# --- classes -----------------------------------------------------------------------------------------


def detector(known: frozenset[str] = frozenset(), *, unclaimed: bool = False) -> Hearer:
    return Hearer("ear", "1", True, 0.1, known, 1, unclaimed)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_known_by_its_names_and_its_audioset_labels(name: str) -> None:
    one = CLASSES[name]
    for label in (name, one.phrase, one.published, *ritta_classes.audioset(name)):
        assert ritta_classes.of_detector(label) == name
        if label != "Ship":  # a ship sounds in many ways, and a judge can say which
            assert ritta_classes.of_judge(label) == name


@pytest.mark.parametrize(
    ("label", "detected", "judged"),
    [
        ("Whistle", None, "whistling"),  # AudioSet's is a referee's; nobody's words are that exact
        ("Animal", None, None),
        ("Music", None, None),
        ("a dog barks twice", None, "dog_barking"),
        ("man speaking", None, "talking"),
        ("Male speech, man speaking", "talking", "talking"),
        ("tyres squeal", None, "emergency_brake"),
        ("wind", None, None),
        ("Ship", "boat_horn", None),  # a detector has no word for the horn; a judge has
        ("a ship's horn", None, "boat_horn"),
        ("paper", None, None),
        ("shredding paper", "paper_shredder", "paper_shredder"),
        ("a paper shredder in an office", None, "paper_shredder"),
        ("door closing hard", None, None),
    ],
)
def test_what_a_label_names(label: str, detected: str | None, judged: str | None) -> None:
    assert ritta_classes.of_detector(label) == detected
    assert ritta_classes.of_judge(label) == judged


def test_prompts_of_classes_that_the_listener_does_not_know_are_unmapped(
    world: World, tmp_path: Path
) -> None:
    lines = system_lines(tmp_path / "ours", world.data, skilled(1.0), seed=5)
    run = one_system(world, tmp_path, lines, COMMON)
    known = {"dog_barking", "cat_meowing", "car_horn", "whistling", "talking"}
    rows, _ = rows_of(run)
    assert {row.status for row in rows if row.system != "oracle"} == {"scored", "unheard"}
    for row in rows:
        asked = wanted_labels(world, row.sample_id)
        if row.system == "oracle" or known.issuperset(asked):
            assert row.status == "scored"
        else:
            assert (row.status, row.reason) == ("unheard", "unmapped")
            assert "outside the labels the listener claims to know" in row.detail
    found = summary_of(run)
    told = values(found)
    assert told["oracle"]["all"] == 1.0
    assert told["ours"]["all"] == told["reference"]["all"] == 1.0
    missing = [name for name in RELATIONS if told["reference"][name] is None]
    if missing:
        note = f"are over {11 - len(missing)} of 11 relations"
        assert any(note in each and ", ".join(missing) in each for each in found.notes)


def wanted_labels(world: World, sample_id: str) -> tuple[str, ...]:
    expected = scenes_of(world.data)[sample_id].expected
    assert isinstance(expected, Expected)
    return expected.labels


def test_unclaimed_classes_may_be_judged_too_from_the_same_hearings(world: World, tmp_path: Path) -> None:
    lines = system_lines(tmp_path / "ours", world.data, skilled(1.0), seed=5)
    run = one_system(world, tmp_path, lines, COMMON)
    rows, _ = rows_of(run, unclaimed=True)
    assert {row.status for row in rows} == {"scored"}


def test_sounds_that_the_listener_does_not_claim_to_know_do_not_tell_against_a_clip(
    world: World, tmp_path: Path
) -> None:
    """A breaking glass is heard beside the asked sounds, in every clip of the system."""

    def plan(name: str, one: object) -> list[Event]:
        return [*true_events(one), Event("Shatter", 9.0, 9.5, SURE)]  # type: ignore[arg-type]

    lines = system_lines(tmp_path / "ours", world.data, plan, seed=6)
    known = frozenset(label for name in CLASSES if name != "glass_drop" for label in [name])
    run = one_system(world, tmp_path, lines, known)
    for unclaimed, parsimony in ((False, 1.0), (True, 0.904837)):
        rows, _ = rows_of(run, unclaimed=unclaimed)
        rows = [row for row in rows if row.system == "ours" and row.status == "scored"]
        plain = [row for row in rows if "glass_drop" not in wanted_labels(world, row.sample_id)]
        told = {round(row.values["parsimony"] or 0.0, 6) for row in plain if row.stratum != "not"}
        assert told == {parsimony}


def test_two_labels_for_one_sound_are_one_sound_in_every_mode(world: World, tmp_path: Path) -> None:
    """What a detector of AudioSet's labels says: "Dog" and "Bark" at once, and so for every class."""

    def plan(name: str, one: object) -> list[Event]:
        doubled = []
        for event in true_events(one):  # type: ignore[arg-type]
            labels = sorted(ritta_classes.audioset(event.label))[:2]
            doubled += [
                Event(label, event.onset_s, event.offset_s, 0.95 + 0.02 * k) for k, label in enumerate(labels)
            ]
        return doubled

    lines = system_lines(tmp_path / "ours", world.data, plan, seed=7)
    run = one_system(world, tmp_path, lines)
    for mode in ("default", "paper", "released"):
        told = values(summary_of(run, {"mode": mode}))
        assert told["ours"] == told["oracle"], mode


def test_an_unsure_label_does_not_lengthen_a_sure_one(world: World, tmp_path: Path) -> None:
    """Bark is sure where it ought to be; Dog, unsure, runs on into what should come after."""

    def plan(name: str, one: object) -> list[Event]:
        found = true_events(one)  # type: ignore[arg-type]
        if name.startswith("before"):
            first = found[0]
            alias = sorted(ritta_classes.audioset(first.label))[0]
            return [Event(alias, first.onset_s, 10.0, 0.55), *found]
        return found

    lines = system_lines(tmp_path / "ours", world.data, plan, seed=8)
    run = one_system(world, tmp_path, lines)
    rows = [row for row in rows_of(run)[0] if row.system == "ours" and row.stratum == "before"]
    assert {row.values["relation@0.6"] for row in rows} == {1.0}
    assert {row.values["relation@0.5"] for row in rows} == {0.0}
    assert {row.verdict for row in rows} == {"wrong"}
    assert {row.values["relation"] for row in rows} == {0.75}


# --- judges and listeners without levels -----------------------------------------------------------


def test_a_judge_hears_blind_in_its_own_words_and_gives_no_distances(world: World, tmp_path: Path) -> None:
    said = {name: f"the sound of {one.phrase}" for name, one in CLASSES.items()}
    lines = []
    for name, one in scenes_of(world.data).items():
        pcm_hash = audio.read(world.data / "audio" / f"{name}.wav").pcm_hash
        listed = [
            {"label": said[e.label], "onset_s": e.onset_s, "offset_s": e.offset_s, "confidence": 0.9}
            for e in true_events(one)
        ]
        for repeat, its in ((0, listed), (1, listed), (2, [])):
            reply = {"events_heard": its, "notes": ""}
            lines.append({"pcm_hash": pcm_hash, "question": "listen", "repeat": repeat, "reply": reply})
    empty = {"events_heard": [], "notes": "silent"}
    lines.append({"pcm_hash": audio.read(world.silence).pcm_hash, "question": "listen", "reply": empty})
    found = ritta_sources.manifest(world.data, {}, silence=world.silence)
    counts = hear(tmp_path / "run", listener(tmp_path / "script.jsonl", lines), found, repeats=3)
    heard = 8 * PER_RELATION
    assert counts.asked == 3 * heard + 3  # every clip once, though two baselines share it, and silence
    rows, _ = rows_of(tmp_path / "run")
    for row in rows:
        if row.stratum in SPATIAL and row.system != "oracle":
            assert (row.status, row.reason) == ("unheard", "unsupported")
        elif row.system == "reference":
            right = 1.0 if row.stratum == "not" else pytest.approx(2 / 3)
            assert (row.values["msr"], row.verdict) == (right, "right")
            assert row.values["flip_rate"] == (0.0 if row.stratum == "not" else pytest.approx(2 / 3))
    told = summary_of(tmp_path / "run")
    assert values(told)["reference"]["Spatial_Distance"] is None
    assert values(told)["oracle"]["Spatial_Distance"] == 1.0


def test_words_of_a_judge_that_name_no_class_are_counted_and_told(world: World, tmp_path: Path) -> None:
    said = {name: one.phrase for name, one in CLASSES.items()} | {"dog_barking": "An upset animal"}
    lines, with_dog = [], set()
    for name, one in scenes_of(world.data).items():
        if one.expected is not None and one.expected.relation not in SPATIAL:
            with_dog |= {name for e in one.events if e.label == "dog_barking"}
        its = [
            {"label": said[e.label], "onset_s": e.onset_s, "offset_s": e.offset_s, "confidence": 0.9}
            for e in true_events(one)
        ]
        pcm_hash = audio.read(world.data / "audio" / f"{name}.wav").pcm_hash
        reply = {"events_heard": its, "notes": ""}
        lines.append({"pcm_hash": pcm_hash, "question": "listen", "reply": reply})
    empty = {"events_heard": [], "notes": ""}
    lines.append({"pcm_hash": audio.read(world.silence).pcm_hash, "question": "listen", "reply": empty})
    found = ritta_sources.manifest(world.data, {}, silence=world.silence)
    hear(tmp_path / "run", listener(tmp_path / "script.jsonl", lines), found, repeats=1)
    warned = "heard in words that name none of the 25 sounds, not counted: 'An upset animal'"
    rows, _ = rows_of(tmp_path / "run")
    mine = [row for row in rows if row.system == "reference" and row.status == "scored"]
    assert with_dog
    assert {row.sample_id for row in mine if warned in row.warnings} == with_dog
    with build.open_run(tmp_path / "run") as ledger:
        run = build.of_ledger(ledger)
        notes = build.summary_of(run, run.rows(), build.Options(draws=20)).notes
    (note,) = [note for note in notes if "name none of the 25" in note]
    clips = len(mine) + 1
    assert f"in {len(with_dog)} of {clips} clips heard" in note
    assert f"'an upset animal' ({len(with_dog)})" in note


def test_a_detector_that_measures_no_levels_hears_no_distances(world: World, tmp_path: Path) -> None:
    lines = [line for line in world.lines if line["question"] == "events"]
    found = ritta_sources.manifest(world.data, {}, silence=world.silence)
    hear(tmp_path / "run", listener(tmp_path / "script.jsonl", lines), found)
    rows = [row for row in rows_of(tmp_path / "run")[0] if row.system == "reference"]
    assert {row.reason for row in rows if row.stratum in SPATIAL} == {"unsupported"}
    assert {row.status for row in rows if row.stratum not in SPATIAL} == {"scored"}


# --- what a reader is told ---------------------------------------------------------------------------


def test_clips_of_another_length_are_listed_and_scored_as_they_are(world: World, tmp_path: Path) -> None:
    lines = system_lines(tmp_path / "ours", world.data, skilled(1.0), seed=9, seconds=5.0)
    run = one_system(world, tmp_path, lines)
    found = summary_of(run)
    assert values(found)["ours"]["all"] == 1.0
    told = [note for note in found.notes if note.startswith("Clips shorter")]
    assert told == ["Clips shorter than the data set's, scored as they are: ours 66 of 66."]
    row = next(row for row in rows_of(run)[0] if row.system == "ours")
    assert "lasts 5.00 s, the data set's clip 10.00 s: scored as it is" in row.warnings


def test_silent_clips_meet_not_in_vain_and_this_is_told(world: World, tmp_path: Path) -> None:
    lines = system_lines(tmp_path / "ours", world.data, lambda name, one: [], seed=10)
    found = summary_of(one_system(world, tmp_path, lines))
    assert values(found, "vacuous")["ours"]["not"] == 1.0
    assert values(found, "vacuous")["ours"]["count"] is None
    note = "'not' is met because nothing at all is heard: ours 6 of 6, silence 6 of 6."
    assert note in found.notes
    assert "mAMSR is not above that of the floor silence: ours." in found.notes


def test_a_listener_that_hears_nothing_can_tell_nothing_and_this_is_told(
    world: World, tmp_path: Path
) -> None:
    lines = system_lines(tmp_path / "ours", world.data, skilled(1.0), seed=11)
    deaf = [
        line | {"reply": line["reply"] | {"events": []}} if "events" in line["reply"] else line
        for line in world.lines
    ]
    found = ritta_sources.manifest(world.data, {"ours": tmp_path / "ours"}, silence=world.silence)
    hear(tmp_path / "run", listener(tmp_path / "script.jsonl", [*deaf, *lines]), found)
    notes = " ".join(summary_of(tmp_path / "run").notes)
    assert "The ceiling, mAMSR 0.091 of reference, is not above the floor silence, shuffled" in notes


def test_rows_hold_what_a_reader_needs(ran: Ran, world: World) -> None:
    rows, _ = rows_of(ran.folder)
    for row in rows:
        assert row.texts["Sub-relation"] == row.stratum
        assert row.cluster == " ".join(row.caption.casefold().split())
        phrases = [CLASSES[label].phrase for label in wanted_labels(world, row.sample_id)]
        no = "no " if row.stratum == "not" else ""
        assert [asked.phrase for asked in row.asked] == [f"{no}{phrase}" for phrase in phrases]
        places = [asked.place for asked in row.asked]
        assert places == ([0, 1] if row.stratum in ("before", "after") else [0] * len(places))
        if row.system == "bad":
            kinds = ("unwanted",) if row.stratum == "not" else ("missing", "miscounted")
            assert row.verdict == "right" or row.error_kind in kinds
        assert (row.verdict == "right") == (row.values["relation@0.5"] == 1.0)


# --- the data set and the systems' clips -------------------------------------------------------------


def test_the_data_set_itself_may_be_a_system(world: World) -> None:
    found = [
        ritta_sources.manifest(world.data, {"ours": folder}, silence=world.silence)
        for folder in (world.data, world.data / "audio")
    ]
    assert found[0].items == found[1].items
    ours = [item for item in found[0].items if item.system == "ours"]
    assert len(ours) == len(RELATIONS) * PER_RELATION
    assert {item.audio.parent for item in ours} == {(world.data / "audio").resolve()}
    assert not found[0].notes


def test_baselines_have_the_prompts_that_some_system_answers(world: World, tmp_path: Path) -> None:
    for name in ("and-00001", "not-00003", "stray"):
        (tmp_path / f"take_{name}.wav").write_bytes((world.data / "audio" / "and-00000.wav").read_bytes())
    found = ritta_sources.manifest(
        world.data, {"ours": tmp_path}, silence=world.silence, id_from=r"take_(.+)\.wav"
    )
    for system in ("ours", "reference", "oracle", "silence", "shuffled"):
        assert [item.sample_id for item in found.items if item.system == system] == ["and-00001", "not-00003"]
    told = " ".join(found.notes)
    assert "files without a prompt (1): take_stray.wav" in told
    assert "prompts without a file (64)" in told
    assert "the data set has 66 prompts; baselines have those that some system has a clip of" in told


def test_a_system_may_not_bear_the_name_of_a_baseline(world: World) -> None:
    told = rf"'reference' is the name of a baseline.*{world.data}(.|\n)*NAME=FOLDER"
    with pytest.raises(UserError, match=told):
        ritta_sources.manifest(world.data, {"reference": world.data}, silence=world.silence)


def test_shuffled_never_has_a_clip_that_asks_for_the_same_and_stays_when_prompts_are_added() -> None:
    rows = [
        (f"{relation}-{index}", f"{relation} prompt {index % 13}", relation, f"{relation} asks {index % 7}")
        for index in range(60)
        for relation in ("and", "or")
    ]
    found = ritta_sources.shuffled(rows, seed=3)
    by_id = {row[0]: row for row in rows}
    for name, other in found.items():
        assert other is not None
        one, two = by_id[name], by_id[other]
        assert one[2] == two[2]
        assert one[1] != two[1]
        assert one[3] != two[3]
    fewer = ritta_sources.shuffled(rows[:80], seed=3)
    assert fewer == {name: found[name] for name in fewer}
    assert found != ritta_sources.shuffled(rows, seed=4)
    alike = ritta_sources.shuffled([("a", "p", "and", "x"), ("b", "p", "and", "x")], seed=0)
    assert alike == {"a": None, "b": None}


# --- a run that is extended ---------------------------------------------------------------------------


def some(world: World, folder: Path, seed: int, keep: Callable[[str], bool]) -> list[Answer]:
    """A system that answers some prompts only."""
    lines = system_lines(folder, world.data, skilled(1.0), seed)
    for file in folder.iterdir():
        if not keep(file.stem):
            file.unlink()
    return lines


def test_notes_are_true_of_the_whole_run_after_it_was_extended(world: World, tmp_path: Path) -> None:
    lines = [*world.lines, *system_lines(tmp_path / "A", world.data, skilled(1.0), 21)]
    lines += some(world, tmp_path / "B", 22, lambda name: name.endswith("0"))
    lines += some(world, tmp_path / "C", 23, lambda name: name < "count-00003")
    lines += some(world, tmp_path / "more", 24, lambda name: name.endswith("1"))
    ear = listener(tmp_path / "script.jsonl", lines)

    def extended(**folders: str) -> tuple[Summary, str]:
        outputs = {system: tmp_path / folder for system, folder in folders.items()}
        hear(tmp_path / "run", ear, ritta_sources.manifest(world.data, outputs, silence=world.silence))
        found = summary_of(tmp_path / "run")
        return found, "\n".join(found.notes)

    first, told = extended(A="A", B="B")
    assert "B: prompts without a file (55)" in told
    assert "reference has 66 prompts in this run; with fewer: B 11." in told
    found, told = extended(C="C")
    fewer = {"B", "C"}
    assert "B: prompts without a file (55)" in told
    assert "C: prompts without a file" in told
    assert "reference has 66 prompts in this run; with fewer: B 11, C " in told
    assert "the systems have different samples" in told
    assert "A 66, B 11, C " in told
    assert "have a clip of some system" not in told
    assert [mark.systems for mark in found.marks if mark.sign == "‡"] == [fewer]
    assert [mark.systems for mark in first.marks] == [{"B"}]
    _, told = extended(B="more")
    assert "C: prompts without a file" in told
    assert "with fewer: B 22, C " in told
    assert "what is said of the files of B is of those given last alone" in told


# --- levels that cannot be measured -------------------------------------------------------------------


def test_what_cannot_be_measured_is_bounded_and_marked_where_it_might_pay(
    world: World, tmp_path: Path
) -> None:
    """Of each spatial relation two clips are right, two wrong, and two covered all over by another sound."""

    def plan(name: str, one: Scene) -> list[Event]:
        events, index = true_events(one), int(name.rpartition("-")[2])
        if one.expected is None or one.expected.relation not in SPATIAL or index < 2:
            return events
        if index < 4:
            return events[1:]
        other = "car_horn" if events[0].label != "car_horn" else "dog_barking"
        return [*events, Event(other, 0.0, 10.0, SURE)]

    found = summary_of(one_system(world, tmp_path, system_lines(tmp_path / "ours", world.data, plan, 31)))
    ours = next(row for row in found.rows if row.system == "ours")
    assert ours.parts["Spatial_Distance"]["relation"].value == 0.5
    said = next(
        note for note in found.notes if note.startswith("ours: no level could be measured in 6 of 18")
    )
    assert "wrong, mARel of its spatial relations would be 0.333 and mAMSR 0.333;" in said
    assert "were all right, 0.667 and 0.667." in said
    mark = next(mark for mark in found.marks if mark.sign == "§")
    assert mark.systems == {"ours"}
    assert "reference (0.0%)" in mark.meaning


def test_what_is_exact_has_no_interval(ran: Ran) -> None:
    for row in summary_of(ran.folder).rows:
        bounded = [m.low is not None for its in (row.metrics, *row.parts.values()) for m in its.values()]
        assert any(bounded) == (row.system not in ("oracle", "silence"))


@pytest.fixture
def copied(world: World, tmp_path: Path) -> Path:
    """A copy of the data set whose files may be altered; the mixes are links."""
    folder = tmp_path / "copy"
    for file in world.data.rglob("*"):
        if file.is_file():
            to = folder / file.relative_to(world.data)
            to.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".wav":
                to.symlink_to(file)
            else:
                to.write_bytes(file.read_bytes())
    return folder


def test_every_fault_of_the_truth_is_listed_with_its_file_and_row(world: World, copied: Path) -> None:
    """Sounds of one label that overlap, a sound beyond the clip, a scene and a mix that are gone."""
    file = copied / "scenes" / "closefirst-00000.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    told["events"][1]["onset"] = told["events"][0]["onset"] + 10
    file.write_text(json.dumps(told), encoding="utf-8")
    file = copied / "scenes" / "before-00002.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    told["events"][1]["onset"] = told["samples"] - 5
    file.write_text(json.dumps(told), encoding="utf-8")
    (copied / "scenes" / "and-00001.json").unlink()
    (copied / "audio" / "not-00004.wav").unlink()
    with pytest.raises(UserError) as caught:
        ritta_sources.manifest(copied, {}, silence=world.silence)
    text = str(caught.value)
    row = {name: 2 + index for index, name in enumerate(scenes_of(world.data))}
    for name, words in (
        ("closefirst-00000", "overlaps itself"),
        ("before-00002", "does not lie within its 160000 samples"),
        ("and-00001", "cannot be read"),
        ("not-00004", "no such file"),
    ):
        line = next(line for line in text.splitlines() if name in line)
        assert f"row {row[name]}:" in line
        assert words in line


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('""relation"": ""and""', '""relation"": ""xor""', "there is no relation 'xor'"),
        (",and,", ",or,", "relation is 'or', but 'and' in the column expected"),
        ("audio/and-00000.wav,and-00000", "audio/and-00000.wav,and-00001", "is the scene of another prompt"),
    ],
)
def test_rows_that_were_altered_are_named(world: World, copied: Path, old: str, new: str, words: str) -> None:
    file = copied / "metadata.csv"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    index = next(k for k, line in enumerate(lines) if line.startswith("audio/and-00000.wav"))
    assert old in lines[index]
    lines[index] = lines[index].replace(old, new)
    file.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(UserError, match=rf"row {index + 1}: .*{words}"):
        ritta_sources.manifest(copied, {}, silence=world.silence)


def test_prompts_without_sound_are_refused_with_the_remedy(world: World, copied: Path) -> None:
    file = copied / "metadata.csv"
    text = file.read_text(encoding="utf-8")
    for name in scenes_of(world.data):
        text = text.replace(f"audio/{name}.wav", "")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"(?s)prompts without sound.*import --bank"):
        ritta_sources.manifest(copied, {}, silence=world.silence)


def test_a_folder_that_is_no_data_set_is_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no metadata\.csv"):
        ritta_sources.manifest(tmp_path, {}, silence=world.silence)


def test_items_that_do_not_say_what_they_ask_for_stop_the_run_before_anything_is_heard(
    ran: Ran, world: World, tmp_path: Path
) -> None:
    broken = [replace(item, expected="", row=4) for item in ran.found.items[:1]]
    broken += [replace(item, expected='{"relation": "and"}', row=5) for item in ran.found.items[1:2]]
    with pytest.raises(UserError, match=r"(?s)row 4 .*expected is empty.*row 5 .*'distances_m'"):
        hear(
            tmp_path / "run", listener(tmp_path / "s.jsonl", world.lines), Manifest(tuple(broken), (), "DATA")
        )
    with Ledger.create(tmp_path / "run" / "ledger.sqlite") as ledger:
        assert not ledger.item_ids()
