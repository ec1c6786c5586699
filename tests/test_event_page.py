"""The page of event tables: its verdicts are those of the counts, in words and in a real browser."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import earwitness
from earwitness.cli.main import app
from earwitness.errors import InputFaults, UserError
from earwitness.events import Event, EventTable, write_dcase, write_json
from earwitness.report.event_page import worst_first
from earwitness.report.event_sounds import sounds
from earwitness.report.event_verdicts import COUNTED, FALSE_ALARM, HIT, MISS, SUBSTITUTION, judged
from earwitness.scenes import scene
from earwitness.scenes.scene import Placed, Scene
from earwitness.scores.event_metrics import Rule
from earwitness.tasks.event_result import EventScores
from earwitness.tasks.event_scores import COUNT, Heard, Settings, scored
from sounds import noise
from test_page import HOSTILE, browser, problems  # noqa: F401

TRUTH = {
    "a": (("dog", 1.0, 2.0), ("cat", 4.0, 6.0), ("siren", 7.0, 9.0), ("dog", 9.2, 9.8)),
    "b": (("dog", 3.0, 3.5),),
    "c": (),
}
OURS = {
    # hit; onset and offset outside the collar; substitution; missed; twice; false alarm
    "a": (("dog", 1.1, 2.1), ("cat", 4.5, 6.9), ("dog", 7.1, 9.1), ("dog", 1.4, 1.8)),
    "b": (("dog", 3.0, 3.5),),
    "c": (("cat", 0.0, 1.0),),
}
BASE = {"a": (), "b": (("dog", 3.1, 3.6), ("dog", 3.3, 3.7)), "c": ()}


def tables(rows: Any) -> dict[str, EventTable]:
    return {clip: EventTable(tuple(Event(*row) for row in its), 10.0) for clip, its in rows.items()}


def folder(path: Path, rows: Any) -> Path:
    path.mkdir()
    for clip, table in tables(rows).items():
        write_json(path / f"{clip}.json", table)
    return path


def clips_of(page: Path) -> list[dict[str, Any]]:
    """What the scripts are given."""
    lines = (page / "page" / "clips.js").read_text().split("\n")
    return [json.loads(line.removesuffix(",")) for line in lines if line.startswith('{"')]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, EventScores]:
    """Truth with its sound beside it, two systems, and the page."""
    home = tmp_path_factory.mktemp("events")
    truth = folder(home / "truth", TRUTH)
    for seed, clip in enumerate(("a", "b")):
        noise(truth / f"{clip}.wav", seed, seconds=10.0)
    noise(home / "c.wav", 9)  # beside the folder that is read, not in it
    systems = {"ours": folder(home / "ours", OURS), "base": folder(home / "base", BASE)}
    return home / "out", earwitness.score_events(truth, systems, out=home / "out", draws=100)


# --- verdicts ---------------------------------------------------------------------------------------


def test_verdicts_on_the_page_add_up_to_the_counts_of_the_tables(made: tuple[Path, EventScores]) -> None:
    out, scores = made
    clips = clips_of(out)
    for at, system in enumerate(scores.systems):
        for clip in clips:
            kinds = Counter(bar["kind"] for bar in clip["heard"][at]["bars"])
            counts = system.by_clip[clip["sample"]]
            assert {name: kinds[kind] for kind, name in COUNTED.items()} == {
                name: counts[f"event_{name}"] for name in COUNTED.values()
            }
            assert clip["heard"][at]["counts"] == [counts[f"event_{name}"] for name in COUNTED.values()]
    assert [clip["sample"] for clip in clips] == ["a", "b", "c"]
    assert [clip["errors"] for clip in clips] == [5 + 4, 0 + 1, 1 + 0]


def test_each_verdict_says_why(made: tuple[Path, EventScores]) -> None:
    clip = clips_of(made[0])[0]
    tips = [bar["tip"] for bar in clip["heard"][0]["bars"]]
    assert tips == [
        "hit: dog 1.10 to 2.10 s; onset 0.10 s late, offset 0.10 s late",
        "false alarm: dog 1.40 to 1.80 s; another event was already matched to this dog",
        "missed: cat 4.00 to 6.00 s; heard from 4.50 to 6.90 s: onset 0.50 s late (more than 0.2 s), "
        "offset 0.90 s late (more than 0.4 s)",
        "false alarm: cat 4.50 to 6.90 s; true from 4.00 to 6.00 s: onset 0.50 s late (more than 0.2 s), "
        "offset 0.90 s late (more than 0.4 s)",
        "substitution: dog 7.10 to 9.10 s; the true event is siren 7.00 to 9.00 s; onset 0.10 s late, "
        "offset 0.10 s late",
        "missed: dog 9.20 to 9.80 s",
    ]
    assert [(bar["onsetOut"], bar["offsetOut"]) for bar in clip["heard"][0]["bars"]][2:4] == [
        (True, True)
    ] * 2


times = st.integers(0, 12).map(lambda tenths: tenths / 10)
rows = st.lists(st.tuples(st.sampled_from(["x", "y", "z"]), times, times), max_size=6)


@settings(max_examples=60, deadline=None)
@given(rows, rows, st.booleans())
def test_verdicts_are_the_counts_whatever_overlaps(true: Any, found: Any, offset: bool) -> None:
    """Dense events: hits and substitutions can often be matched in several ways."""
    both = [EventTable(tuple(Event(a, b, b + c) for a, b, c in side), 9.0) for side in (true, found)]
    rule = Rule(offset=offset)
    truth, heard = {"clip": both[0]}, Heard("s", {"clip": both[1]}, {}, COUNT)
    scores = scored(truth, heard, Settings(rule, draws=2), {})
    verdicts = judged(truth, heard, scores, rule, ["clip"])["clip"].verdicts
    counts = scores.by_clip["clip"]
    kinds = Counter(one.kind for one in verdicts)
    assert [kinds[kind] for kind in COUNTED] == [counts[f"event_{name}"] for name in COUNTED.values()]
    estimated = Counter(one.event for one in verdicts if one.kind != MISS)
    assert estimated == Counter(both[1]), "each estimated event has one verdict"
    met = [one.other for one in verdicts if one.kind in (HIT, SUBSTITUTION)]
    missed = [one.event for one in verdicts if one.kind == MISS]
    assert Counter([*met, *missed]) == Counter(both[0]), "and each true one"
    for one in verdicts:
        if one.kind == HIT:
            assert one.other
            assert one.event.label == one.other.label
        if one.kind == SUBSTITUTION:
            assert one.other
            assert one.event.label != one.other.label
        if one.kind in (MISS, FALSE_ALARM) and one.other is not None:
            assert one.onset_out or one.offset_out, "what fits in time would have been matched"
    missing = [one.event for one in verdicts if one.kind == MISS and one.other is None]
    hits = [one.other for one in verdicts if one.kind == HIT and one.other]
    for one in verdicts:
        if one.kind == FALSE_ALARM and one.other is None:
            assert not any(overlap(one.event, event) for event in missing), "it would be its partner"
            assert one.again == any(overlap(one.event, event) for event in hits)


def overlap(one: Event, other: Event) -> bool:
    ends = min(one.offset_s, other.offset_s), max(one.onset_s, other.onset_s)
    return one.label == other.label and ends[0] > ends[1]


def test_time_errors_shown_are_those_of_the_tables(made: tuple[Path, EventScores]) -> None:
    out, scores = made
    base = [bar["why"] for clip in clips_of(out) for bar in clip["heard"][1]["bars"] if bar["kind"] == HIT]
    assert base == ["onset 0.10 s late, offset 0.10 s late"]
    assert scores.systems[1].whole.metrics["onset_mae_s"].value == pytest.approx(0.1)


# --- what is on it ----------------------------------------------------------------------------------


def test_clips_are_worst_first_and_limited_and_the_page_says_so(tmp_path: Path) -> None:
    truth = {f"{n:02}": (("dog", 1.0, 2.0),) for n in range(12)}
    heard = {clip: tuple(("dog", 4.0 + at, 5.0 + at) for at in range(int(clip) % 4)) for clip in truth}
    sides = folder(tmp_path / "truth", truth), folder(tmp_path / "ours", heard)
    scores = earwitness.score_events(*sides, out=tmp_path / "out", draws=10, page=3)
    assert [clip["sample"] for clip in clips_of(tmp_path / "out")] == ["03", "07", "11"]
    index = (tmp_path / "out" / "index.html").read_text()
    assert "The 3 clips with most errors of 12 are on this page; 9 are not" in index
    assert worst_first(sorted(truth), scores.systems)[-3:] == ["00", "04", "08"]


def test_without_a_page_none_is_left_from_before(tmp_path: Path) -> None:
    sides = folder(tmp_path / "truth", TRUTH), folder(tmp_path / "ours", OURS)
    for page, there in ((1, True), (0, False)):
        earwitness.score_events(*sides, out=tmp_path / "out", draws=10, page=page)
        assert (tmp_path / "out" / "index.html").exists() is there
    with pytest.raises(UserError, match="page must be at least 0"):
        earwitness.score_events(*sides, page=-1)


def test_another_page_is_not_written_over(tmp_path: Path) -> None:
    sides = folder(tmp_path / "truth", TRUTH), folder(tmp_path / "ours", OURS)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "index.html").write_text("mine")
    with pytest.raises(InputFaults, match=r"index\.html is not of earwitness events and would be lost"):
        earwitness.score_events(*sides, out=tmp_path / "out", draws=10)
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["index.html"]


@pytest.mark.parametrize("page", [0, 1])
@pytest.mark.parametrize("mine", ["index.html", "page/page.css", f"page/spectrograms/{'0' * 16}.png"])
def test_what_was_put_beside_the_tables_is_kept(tmp_path: Path, mine: str, page: int) -> None:
    sides = folder(tmp_path / "truth", TRUTH), folder(tmp_path / "ours", OURS)
    out = tmp_path / "out"
    earwitness.score_events(*sides, out=out, draws=10, page=0)
    (out / mine).parent.mkdir(parents=True, exist_ok=True)
    (out / mine).write_text("mine")
    (out / "events.csv").unlink()
    with pytest.raises(InputFaults, match="is not of earwitness events"):
        earwitness.score_events(*sides, out=out, draws=10, page=page)
    assert (out / mine).read_text() == "mine"
    assert not (out / "events.csv").exists(), "nothing is written"


def test_a_page_goes_with_its_files_and_no_others(
    made: tuple[Path, EventScores], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, out = made[0].parent, tmp_path / "out"
    mine, old = (out / "page" / "spectrograms" / name for name in ("my.png", f"{'0' * 16}.png"))

    def run(page: int) -> None:
        earwitness.score_events(home / "truth", home / "ours", out=out, draws=10, page=page)

    run(3)
    for one in (mine, old):
        one.write_text("")
    run(3)
    assert mine.exists()
    assert not old.exists(), "a spectrogram that no clip needs"
    run(0)
    assert [one for one in (out / "page").rglob("*") if one.is_file()] == [mine]
    assert not (out / "index.html").exists()
    run(3)  # what is left is in nobody's way
    mine.unlink()
    with monkeypatch.context() as broken:
        broken.setattr("earwitness.report.event_page.parts.script_json", None)
        with pytest.raises(TypeError):
            run(3)
    assert "Run the command again" in (out / "index.html").read_text()
    run(0)
    assert not (out / "page").exists(), "a page that was not finished is known, too"


def test_same_tables_same_bytes(made: tuple[Path, EventScores], tmp_path: Path) -> None:
    home = made[0].parent
    systems = {name: home / name for name in ("ours", "base")}
    earwitness.score_events(home / "truth", systems, out=home / "again", draws=100)
    for name in ("index.html", "page/clips.js"):
        assert (home / "again" / name).read_bytes() == (home / "out" / name).read_bytes()


def test_scenes_are_heard_and_labels_that_are_left_out_count_nowhere(tmp_path: Path) -> None:
    data, run = tmp_path / "pairs", tmp_path / "run" / "labels"
    (data / "scenes").mkdir(parents=True)
    run.mkdir(parents=True)
    placed = Placed("dog_bark", "0" * 64, "n", "r", 0, 16_000, 16_000, 0, 0.0, -20.0)
    scene.write(
        data / "scenes" / "s.json", Scene("s", "order", 16_000, 160_000, "rms", 0.0, (placed,), "p", 0)
    )
    noise(data / "audio" / "s.wav", 0, seconds=10.0)
    heard = [("Bark", 1.0, 1.6), ("Dog", 1.05, 2.0), ("Animal", 1.0, 2.0), ("Rain", 0.0, 9.0)]
    row = {
        "system": "reference", "sample_id": "s", "file_name": "s.wav", "duration_s": 10.0,
        "status": "scored", "reason": "",
        "events": [{"label": a, "onset_s": b, "offset_s": c, "confidence": 0.9} for a, b, c in heard],
    }  # fmt: skip
    (run / "labels.jsonl").write_text(json.dumps(row) + "\n")
    command = ["events", str(data), f"ours={tmp_path / 'run'}", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "Page, worst clips first" in result.stdout
    (clip,) = clips_of(tmp_path / "out")
    assert clip["sound"]["file"] == "../pairs/audio/s.wav"
    (ours,) = clip["heard"]
    assert [bar["tip"] for bar in ours["bars"]] == [
        "hit: dog_bark 1.00 to 2.00 s, heard as Bark + Dog, confidence 0.90; onset exact, offset exact"
    ]
    assert [event["tip"] for event in ours["left"]] == [
        "Rain 0.00 to 9.00 s, confidence 0.90, outside the classes, not counted",
        "Animal 1.00 to 2.00 s, confidence 0.90, outside the classes, not counted",
    ]


# --- where the sound is -----------------------------------------------------------------------------


def test_a_clip_heard_by_a_label_run_or_in_the_folder_of_lengths_has_its_sound(tmp_path: Path) -> None:
    audio = tmp_path / "audio"
    truth = {"a": TRUTH["a"], "b": TRUTH["b"]}
    for seed, clip in enumerate(truth):
        noise(audio / f"{clip}.wav", seed, seconds=10.0)
    write_dcase(tmp_path / "truth.tsv", tables(truth))
    write_dcase(tmp_path / "ours.tsv", tables({clip: OURS[clip] for clip in truth}))
    earwitness.label(audio, run=tmp_path / "run", workers=1)
    for estimate, lengths in ((tmp_path / "ours.tsv", audio), (tmp_path / "run", 10.0)):
        out = tmp_path / f"out of {estimate.stem}"
        earwitness.score_events(tmp_path / "truth.tsv", estimate, durations=lengths, out=out, draws=10)
        found = {clip["sample"]: clip["sound"]["file"] for clip in clips_of(out)}
        assert found == {clip: f"../audio/{clip}.wav" for clip in truth}


def test_only_what_was_named_is_looked_at(made: tuple[Path, EventScores], tmp_path: Path) -> None:
    files = {clip["sample"]: clip["sound"]["file"] for clip in clips_of(made[0])}
    assert files == {"a": "../truth/a.wav", "b": "../truth/b.wav", "c": ""}, "c.wav lies outside the folder"
    assert len(list((made[0] / "page" / "spectrograms").iterdir())) == 2
    assert not list(made[0].rglob("*.wav")), "sounds are linked, never copied"
    noise(tmp_path / "secret.wav", 1)
    rows = {"../secret": TRUTH["a"], str(tmp_path / "secret"): TRUTH["b"]}
    table = tmp_path / "tables" / "truth.tsv"
    table.parent.mkdir()
    write_dcase(table, tables(rows))
    earwitness.score_events(table, table, durations=10.0, out=tmp_path / "out", draws=10)
    assert [clip["sound"]["src"] for clip in clips_of(tmp_path / "out")] == ["", ""]


def test_two_files_that_may_be_a_clip_are_no_sound_of_it(tmp_path: Path) -> None:
    truth = folder(tmp_path / "truth", TRUTH)
    noise(truth / "a.wav", 1)
    (truth / "a.flac").write_bytes((truth / "a.wav").read_bytes())
    noise(truth / "b.wav", 2, seconds=10.0)
    earwitness.score_events(truth, folder(tmp_path / "ours", OURS), out=tmp_path / "out", draws=10)
    assert {clip["sample"] for clip in clips_of(tmp_path / "out") if clip["sound"]["src"]} == {"b"}


def test_a_sound_of_another_length_or_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    truth = folder(tmp_path / "truth", TRUTH)
    for clip, length_s in (("a", 20.0), ("b", 10.05)):
        noise(truth / f"{clip}.wav", 1, seconds=length_s)
    (truth / "c.wav").write_bytes(b"none")
    earwitness.score_events(truth, folder(tmp_path / "ours", OURS), out=tmp_path / "out", draws=10)
    clips = {clip["sample"]: clip for clip in clips_of(tmp_path / "out")}
    assert [clip for clip, its in clips.items() if its["sound"]["src"]] == ["b"]
    assert clips["a"]["warnings"] == ["No sound: ../truth/a.wav lasts 20.00 s, but the clip 10.00 s."]
    assert clips["c"]["warnings"][0].startswith("No sound: ../truth/c.wav: not decodable")
    assert len(list((tmp_path / "out" / "page" / "spectrograms").iterdir())) == 1
    assert "The sound of 2 of the 3 clips is left out" in (tmp_path / "out" / "index.html").read_text()


def test_a_file_of_another_folder_is_no_sound_of_a_clip(tmp_path: Path) -> None:
    files = ["train/a.wav", "b.wav", "test/deep/c.wav"]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    found = sounds(["test/a", "test/b", "deep/c"], [], [tmp_path])
    assert found == {"test/b": tmp_path / "b.wav", "deep/c": tmp_path / "test/deep/c.wav"}


# --- in a browser -----------------------------------------------------------------------------------


@pytest.fixture
def show(browser: Any, problems: list[str]) -> Iterator[Callable[..., Any]]:  # noqa: F811
    """Open a page from disk; afterwards nothing may have failed or left the disk."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    asked: list[str] = []

    def open_page(index: Path, width: int = 1280) -> Any:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda fault: problems.append(str(fault)))
        page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(index.as_uri())
        page.wait_for_selector("#count:not(:empty)")
        page.asked = asked
        return page

    yield open_page
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert problems == []


@pytest.mark.browser
def test_lanes_verdicts_and_player(made: tuple[Path, EventScores], show: Any) -> None:
    out, scores = made
    page = show(out / "index.html")
    for system, row in zip(scores.systems, page.locator(".measures.sortable tbody tr").all(), strict=True):
        lanes = page.locator(f".lane[data-system={system.system}]")
        for kind, name in COUNTED.items():
            shown = int(row.locator(f"[data-count={name}]").inner_text())
            assert shown == system.whole.counts[f"event_{name}"]
            assert lanes.locator(f".bar.{kind}").count() == shown, (system.system, kind)
    first = page.locator("#clip-1")
    assert first.locator(".badge").inner_text() == "9 errors"
    assert first.locator(".truth .bar").count() == 4
    assert first.locator(".bar.onset-out").count() == 2
    assert page.locator("#clip-3 .play").count() == 0, "its sound is not known"
    assert "The sound of 1 of the 3 clips is not known" in page.locator(".notes").inner_text()
    # The same moment lies at the same place in every lane.
    lefts = [
        first.locator(part).first.bounding_box()["x"]
        for part in (".truth .bar >> nth=1", ".bar.miss >> nth=0")
    ]
    assert abs(lefts[0] - lefts[1]) < 1
    first.locator(".bar.substitution").hover()
    assert "the true event is siren" in page.locator("#tip").inner_text()
    first.locator("summary").click()
    assert first.locator(".events-table tbody tr").count() == 4 + 6 + 4
    first.locator(".play").click()
    page.wait_for_timeout(300)
    assert page.evaluate("() => document.querySelector('audio').error") is None
    assert page.evaluate("() => document.querySelector('audio').duration") == pytest.approx(10.0, abs=0.05)
    page.get_by_label("Search").fill("siren")
    page.wait_for_timeout(300)
    assert page.locator(".clip").count() == 1
    home = made[0].parent.as_uri()
    inside = (f"{home}/out/", f"{home}/truth/", "data:")
    assert all(url.startswith(inside) for url in page.asked), "nothing but the page and the clips it names"


@pytest.mark.browser
def test_nothing_that_counts_is_not_nothing(tmp_path: Path, show: Any) -> None:
    truth = folder(tmp_path / "truth", {"a": (), "b": (("dog", 1.0, 2.0),), "c": ()})
    ours = folder(tmp_path / "ours", {"a": (("owl", 1.0, 2.0),), "b": (), "c": ()})
    noise(truth / "a.wav", 1, seconds=12.0)
    earwitness.score_events(truth, ours, out=tmp_path / "out", draws=10, outside="leave")
    page = show(tmp_path / "out" / "index.html")
    said = {
        clip.locator(".caption").inner_text(): clip.locator(".lane[data-system=ours] em").all_inner_texts()
        for clip in page.locator(".clip").all()
    }
    assert said == {"a": ["nothing that counts"], "b": [], "c": ["nothing, rightly"]}
    assert "lasts 12.00 s, but the clip 10.00 s" in page.locator(".clip .warnings").inner_text()
    assert page.locator(".clip .play").count() == 0


@pytest.mark.browser
def test_hostile_names_are_text(tmp_path: Path, show: Any) -> None:
    labels = [text for text in HOSTILE if text.isprintable()]
    assert "<script>alert(1)</script>" in labels
    truth = {"a": tuple((label, at, at + 1.0) for at, label in enumerate(labels))}
    write_dcase(tmp_path / "truth.tsv", {"<img src=x onerror=alert(1)>.wav": tables(truth)["a"]})
    write_dcase(
        tmp_path / "ours.tsv",
        {"<img src=x onerror=alert(1)>.wav": EventTable((Event("<b>said</b>", 0.0, 1.0),), 10.0)},
    )
    name = "<script>alert(2)</script>"
    earwitness.score_events(
        tmp_path / "truth.tsv", {name: tmp_path / "ours.tsv"}, durations=10.0, out=tmp_path / "out", draws=10
    )
    for file in ("index.html", "page/clips.js"):
        text = (tmp_path / "out" / file).read_text()
        assert not any(bad in text for bad in ("<script>alert", "<img", "<svg", "<b>said"))
    page = show(tmp_path / "out" / "index.html")
    assert page.locator(".clip .caption").inner_text() == "<img src=x onerror=alert(1)>"
    tips = page.locator(".truth .bar").evaluate_all("bars => bars.map(b => b.getAttribute('aria-label'))")
    assert tips == [f"true: {label} {at:.2f} to {at + 1:.2f} s" for at, label in enumerate(labels)]
    assert name in page.locator(".clip .lane-of").all_inner_texts()[1]
    assert page.locator(".clip img, .clip b, .clip script").count() == 0


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_sticks_out_sideways(made: tuple[Path, EventScores], show: Any, width: int) -> None:
    page = show(made[0] / "index.html", width)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
