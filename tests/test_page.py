"""The listening page in a real browser, opened from disk as a reader would."""

import os
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from earwitness.events import Event
from earwitness.report.page import write_overview, write_page
from earwitness.report.page_view import percent
from earwitness.tasks.rows import Asked, Comparison, ItemRow, Mark, Source, Summary
from pages import (
    EDIT,
    LABEL,
    build,
    edit,
    item,
    label,
    listed,
    summary_of,
    systems_of,
    three_systems,
    unheard,
    until,
)
from related import MEASURES, ritta
from sounds import noise

CHROMIUM = shutil.which("chromium")
ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><svg onload=alert(1)>",
    '=HYPERLINK("http://x","y") {{ 7 * 7 }} ${7 * 7}',
    "\u202eright to left\u202c عربى 🐕‍🦺 \u2028 & &amp; \\u003c \ud800",
    "javascript:alert(1)",
]


NAMES = [
    "a b.wav", "50%.wav", "%41.wav", "what?.wav", "#1.wav", "a,b;c&d=e.wav", "naïve 日本.wav", "🐕.wav",
    "'q\"<b>.wav", "javascript:x.wav", "back\\slash.wav", os.fsdecode(b"not utf-8: caf\xe9.wav"),
]  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("needs Debian's chromium: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install earwitness[test]")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield opened
        opened.close()


@pytest.fixture
def problems() -> list[str]:
    return []


@pytest.fixture
def show(browser: Any, problems: list[str]) -> Iterator[Callable[..., Any]]:
    """Open a page from disk; afterwards nothing may have failed, asked a question or left the disk."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})

    def open_page(index: Path, fragment: str = "") -> Any:
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda fault: problems.append(str(fault)))
        page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on(
            "request",
            lambda r: None if r.url.startswith(("file:", "data:")) else problems.append(f"network: {r.url}"),
        )
        page.goto(index.as_uri() + fragment)
        page.wait_for_selector("#count:not(:empty)")
        return page

    yield open_page
    context.close()
    assert problems == []


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    for seed in range(9):
        noise(folder / f"{seed}.wav", seed, seconds=2.0)
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def mixed(clips: list[Path]) -> list[ItemRow]:
    return three_systems(clips)


@pytest.fixture(scope="module")
def mixed_page(mixed: list[ItemRow], tmp_path_factory: pytest.TempPathFactory) -> Path:
    compared = Comparison("toa", "ours", "base", 3, 0.33, -0.1, 0.7, 0.2, 0.2)
    summary = summary_of(mixed, comparisons=(compared,), notes=("Two clips are short.",))
    return build(tmp_path_factory.mktemp("mixed"), mixed, summary=summary)


def test_opens_from_disk_and_shows_the_run(mixed_page: Path, show: Any) -> None:
    page = show(mixed_page)
    assert page.locator("h1").inner_text() == "Order kept"
    figures = page.locator(".figures li").all_inner_texts()
    assert [" ".join(figure.split()) for figure in figures] == [
        "3 systems", "9 clips", "6 scored", "2 unheard", "1 not applicable", "75 % coverage, below 95 %",
    ]  # fmt: skip
    assert "2026-01-02" in page.locator(".masthead").inner_text()
    assert "0 of 1 pair" in page.locator(".compared h3").inner_text()
    page.get_by_text("1 without a winner").click()
    assert "No winner" in page.locator(".sentences").inner_text()
    assert page.locator(".notes").inner_text() == "Two clips are short."
    assert page.locator("tr", has_text="ours").first.locator(".flag").count() == 0
    assert page.locator("tr", has_text="none").first.locator(".flag").count() == 1
    assert page.locator(".systems .interval").count() == 2  # the third system has no scored clip
    until(page, "() => document.images[0].complete && document.images[0].naturalWidth === 800")
    assert page.locator("#clip-6 .warnings").inner_text() == "the right channel is silent"
    assert page.locator("#clip-7 .badge").inner_text() == "Unheard: too short"
    assert page.locator("#clip-9 .why").inner_text() == "detail 9"


@pytest.mark.parametrize(
    ("share", "words"),
    [(None, "–"), (0, "0 %"), (0.001, "1 %"), (0.309, "31 %"), (0.996, "99 %"), (1, "100 %")],
)
def test_coverage_is_rounded_but_never_to_all_or_nothing(share: float | None, words: str) -> None:
    assert percent(share) == words


def test_the_clips_are_one_click_from_the_top(mixed_page: Path, show: Any) -> None:
    page = show(mixed_page)
    assert not page.locator("details.fold", has_text="All measures").locator("table").is_visible()
    before = page.evaluate("scrollY")
    page.get_by_role("link", name="To the clips", exact=True).click()
    until(page, f"() => scrollY > {before}")
    assert page.locator("#clips").bounding_box()["y"] < 100


def test_a_verdict_that_decides_nothing_looks_like_it(tmp_path: Path, clips: list[Path], show: Any) -> None:
    rows, summary = by_relation(clips)
    verdicts = {"right": "Right", "wrong": "Wrong", "unmeasured": "Not measurable"}
    rows = [replace(one, verdict=name) for one, name in zip(rows, 6 * [*verdicts], strict=True)]
    summary = replace(summary, measures=replace(summary.measures, verdicts=verdicts))
    page = show(build(tmp_path, rows, summary=summary))
    assert [page.locator(f"#clip-{n}").get_attribute("class").split()[1] for n in (1, 2, 3)] == [
        "tone-good", "tone-bad", "tone-plain",
    ]  # fmt: skip


def test_the_head_counts_what_systems_made(tmp_path: Path, clips: list[Path], show: Any) -> None:
    rows, summary = by_relation(clips)
    systems = tuple(
        one if one.baseline else replace(one, scored=1, unheard=2, coverage=1 / 3) for one in summary.rows
    )
    page = show(build(tmp_path, rows, summary=replace(summary, rows=systems)))
    figures = [" ".join(text.split()) for text in page.locator(".figures li").all_inner_texts()]
    assert figures[2:5] == ["6 clips", "2 scored", "4 unheard"]
    assert figures[-1] == "33 % coverage, below 95 %"


def test_heads_sort_the_systems(mixed_page: Path, show: Any) -> None:
    page = show(mixed_page)

    def order(head: str) -> list[str]:
        page.locator(".systems thead button", has_text=head).click()
        return page.locator(".systems tbody th").all_inner_texts()

    assert order("TOA") == ["ours", "base", "none"]
    assert order("TOA") == ["base", "ours", "none"]  # unscored stays last
    assert page.locator(".systems [aria-sort]").get_attribute("aria-sort") == "ascending"
    assert order("Unheard")[0] == "none"
    assert order("System") == ["base", "none", "ours"]


def test_filters_by_each_and_counts_what_the_others_leave(mixed_page: Path, show: Any) -> None:
    page = show(mixed_page)
    page.locator("[name=system]").select_option("base")
    assert listed(page) == [4, 5, 6]
    assert page.locator("#count").inner_text() == "3 of 9 clips."
    assert page.locator(".verdicts label").all_inner_texts() == [
        "All 3", "Right 1", "Wrong 2", "Not applicable 0", "Unheard 0",
    ]  # fmt: skip
    page.locator("[data-verdict=wrong]").click()
    assert listed(page) == [4, 5]
    page.locator("[name=kind]").select_option("missing")
    assert listed(page) == [4]
    assert page.locator("[name=kind] option").all_inner_texts() == ["any (2)", "missing (1)", "reversed (1)"]
    page.locator("button[type=reset]").click()
    assert len(listed(page)) == 9
    page.locator("[name=reason]").select_option("too_short")
    assert listed(page) == [7]
    page.locator("button[type=reset]").click()
    for words, found in (("quietly PURR", [3]), ("p2", [2, 5, 8]), ("#4", [4]), ("no such words", [])):
        page.locator("[name=q]").fill(words)
        until(page, "ids => [...document.querySelectorAll('.clip')].map(c => c.id).join() === ids",
              ",".join(f"clip-{number}" for number in found))  # fmt: skip
    assert page.locator("#count").inner_text() == "No clip passes these filters."
    page.reload()  # what is filtered stays in the address
    page.wait_for_selector("#count:not(:empty)")
    assert listed(page) == []
    page.locator("button[type=reset]").click()
    page.locator(".systems tbody tr", has_text="base").locator(".kind a").first.click()
    until(page, "document.querySelectorAll('.clip').length === 1")
    assert listed(page) == [4]


def test_one_sample_across_systems(mixed_page: Path, show: Any) -> None:
    page = show(mixed_page)
    page.locator("#clip-2").get_by_text("Same sample, other systems (2)").click()
    page.wait_for_selector(".compare")
    assert listed(page) == [2, 5, 8]
    tops = page.locator(".clip").evaluate_all("a => a.map(c => c.getBoundingClientRect().top)")
    assert tops[0] == tops[1]  # side by side
    page.get_by_text("Next sample").click()
    page.wait_for_selector("#clip-9")
    assert listed(page) == [3, 6, 9]
    page.get_by_text("All clips", exact=True).click()
    page.wait_for_selector("#clip-1")
    assert len(listed(page)) == 9


def test_a_link_shows_its_clip_even_when_filters_hide_it(
    tmp_path: Path, clips: list[Path], show: Any
) -> None:
    rows = [item(n, clips[0], "reversed" if n == 120 else "") for n in range(1, 121)]
    index = build(tmp_path, rows, spectrograms=0)
    page = show(index, "#clip-120")
    assert page.locator("#clip-120.linked").is_visible()
    assert len(listed(page)) == 51
    assert 0 <= page.locator("#clip-120").bounding_box()["y"] < 200
    page = show(index, "#verdict=right")
    assert 120 not in listed(page)
    page.evaluate("location.hash = '#clip-120'")
    page.wait_for_selector("#clip-120.linked")
    assert page.locator("[name=verdict]:checked").get_attribute("value") == "right"
    page.locator("#more").click()
    assert page.locator("#more").inner_text() == "Show 19 more (19 left)"
    page.locator("#more").click()
    assert sorted(listed(page)) == list(range(1, 121))


def test_a_sound_outside_the_stated_order_stands_apart(tmp_path: Path, show: Any) -> None:
    asked = (Asked("a dog barks", ("Dog",), 0), Asked("rain", ("Rain",), -1), Asked("a siren", ("Siren",), 1))
    clip = tmp_path / "a.wav"
    noise(clip, 1)
    page = show(build(tmp_path / "run", [item(1, clip, asked=asked)]))
    parts = page.locator(".asked > li").all_text_contents()
    assert parts == ["1a dog barks", "→", "2a siren", "at any time:", "•rain"]


def test_events_answer_in_the_colour_of_the_asked_sound(mixed_page: Path, show: Any) -> None:
    page = show(mixed_page)
    right = page.locator("#clip-1")
    assert right.locator(".chip").all_text_contents() == ["1a dog barks", "2a siren"]
    colour = "e => getComputedStyle(e).backgroundColor"
    for index, name in enumerate(("Dog", "Siren")):
        bar = right.locator(f'.bar[aria-label^="{name}:"]')
        assert bar.evaluate(colour) == right.locator(".chip").nth(index).evaluate(colour)
    dog, siren = (right.locator(f'.bar[aria-label^="{name}:"]') for name in ("Dog", "Siren"))
    assert dog.get_attribute("aria-label") == "Dog: 0.20 to 0.60 s, confidence 0.90, answers “a dog barks”"
    assert float(dog.evaluate("e => e.style.opacity")) > float(siren.evaluate("e => e.style.opacity"))
    lane, box = right.locator(".lane").first.bounding_box(), dog.bounding_box()
    assert box["x"] - lane["x"] == pytest.approx(lane["width"] * 0.1, abs=1)
    assert box["width"] == pytest.approx(lane["width"] * 0.2, abs=1)
    dog.hover()
    assert "answers “a dog barks”" in page.locator("#tip").inner_text()
    assert right.locator(".name.other").count() == 1
    assert not right.locator(".name.other").is_visible()  # what was not asked for is folded away
    right.locator(".fold-lanes").click()
    assert right.locator(".name.other").inner_text() == "Speech"

    def order(card: Any) -> list[str]:
        pins = card.locator(".pin").evaluate_all(
            "a => a.map(p => [p.getBoundingClientRect().x, p.textContent])"
        )
        return [text for _, text in sorted(pins)]

    assert (order(right), order(page.locator("#clip-2"))) == (["1", "2"], ["2", "1"])
    missing = page.locator("#clip-4")
    assert (order(missing), missing.locator(".absent em").all_inner_texts()) == (["2"], ["not heard"])
    assert page.locator("#clip-7 .absent").count() == 0  # an unheard clip claims nothing
    right.locator("summary").click()
    assert "TOA\t1" in right.locator(".values").inner_text()
    assert "Recall\t–" in right.locator(".values").inner_text()


def test_plays_seeks_and_obeys_keys(mixed_page: Path, show: Any) -> None:
    page = show(mixed_page)
    first, second = page.locator("#clip-1"), page.locator("#clip-2")
    assert first.locator("audio").get_attribute("preload") == "none"
    playing = """id => {
        const audio = document.querySelector(`#${id} audio`);
        return audio.duration > 1.9 && !audio.paused && audio.currentTime > 0.05;
    }"""
    first.locator(".play").click()
    until(page, playing, "clip-1")
    assert first.locator(".playhead").is_visible()
    box = second.locator(".picture").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 30)
    until(page, playing, "clip-2")
    at = second.locator("audio").evaluate("a => a.currentTime")
    assert 0.9 < at < 2.0
    assert first.locator("audio").evaluate("a => a.paused")
    head = second.locator(".playhead").bounding_box()
    assert head["x"] > box["x"] + box["width"] * 0.45
    second.locator(".play").click()
    until(page, "document.querySelector('#clip-2 audio').paused")
    page.locator("h1").click()
    current = "document.querySelector('.current')?.id"
    for key, wanted in (("j", "clip-1"), ("j", "clip-2"), ("j", "clip-3"), ("j", "clip-4"), ("k", "clip-3")):
        page.keyboard.press(key)
        assert page.evaluate(current) == wanted
    page.keyboard.press("Space")
    until(page, playing, "clip-3")
    page.keyboard.press("Space")
    until(page, "document.querySelector('#clip-3 audio').paused")
    page.locator("#clip-3 .surface").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.locator("#clip-3 .surface").get_attribute("aria-valuenow") == "0.5"
    page.locator("[name=q]").press("j")  # a letter, not a key
    until(page, "location.hash === '#q=j'")


def test_hostile_text_is_harmless_and_readable(tmp_path: Path, clips: list[Path], show: Any) -> None:
    rows = []
    for number, text in enumerate(HOSTILE, 1):
        asked, heard = (Asked(text, (text,), 0),), (Event(text, 0.1, 0.5, 0.5), Event(text + "?", 0.1, 0.5))
        texts = dict.fromkeys(("system", "sample_id", "caption", "reversed_caption", "detail"), text)
        more = {
            "asked": asked, "heard": heard, "warnings": (text,), "values": {text: 1.0, "toa": 0.0},
            "tags": (text, "plain"), "texts": {text: text + "!", "Instruction": text + "?"},
            "source": Source(str(clips[1]), 1.0, heard),
        }  # fmt: skip
        rows.append(item(number, clips[0], "reversed", **more, **texts))
        rows.append(unheard(100 + number, clips[0], **texts, reason=text))
    compared = Comparison("toa", HOSTILE[0], HOSTILE[1], 1, 0.5, 0.1, 0.9, 0.01, 0.01, HOSTILE[0])
    summary = summary_of(rows, notes=tuple(HOSTILE), comparisons=(compared,))
    facts = dict(zip(HOSTILE, HOSTILE, strict=True))
    names = {HOSTILE[2]: "shown as " + HOSTILE[1]}
    options = {"title": HOSTILE[1], "facts": facts, "spectrograms": 1, "names": names}
    page = show(build(tmp_path, rows, summary=summary, **options))
    tags = page.evaluate("[...new Set([...document.body.querySelectorAll('*')].map(e => e.localName))]")
    assert {"script", "style", "iframe", "object"}.isdisjoint(tags)
    assert page.locator("img:not(.picture img), svg[onload]").count() == 0
    for number, text in enumerate(HOSTILE, 1):
        shown = page.locator(f"#clip-{number} .caption").evaluate("e => e.textContent")
        assert shown == text or "\ud800" in text
        chip = page.locator(f"#clip-{number} .tags li").first.evaluate("e => e.textContent")
        instruction = page.locator(f"#clip-{number} .texts dd").last.evaluate("e => e.textContent")
        assert (chip, instruction) == (text, text + "?") or "\ud800" in text
        links = page.locator(f"#clip-{number} a").evaluate_all("a => a.map(l => l.protocol)")
        assert set(links) == {"file:"}
    first = page.locator(".systems tbody a").filter(has_text="img src").first
    first.click()
    until(page, "document.querySelectorAll('.clip').length === 2")
    page.wait_for_timeout(200)  # time for a handler to fire, if one were there


def test_the_policy_stops_what_gets_in_anyway(mixed_page: Path, show: Any, problems: list[str]) -> None:
    page = show(mixed_page)
    page.evaluate("""() => {
        const add = (tag, more) => document.body.append(Object.assign(document.createElement(tag), more));
        add('script', {textContent: 'window.reached = 1'});
        add('div', {innerHTML: '<img src=x onerror="window.reached = 2">'});
        add('img', {src: 'https://example.org/x.png'});
    }""")
    page.wait_for_timeout(300)
    assert page.evaluate("window.reached") is None
    refused = [text for text in problems if "Content Security Policy" in text]
    assert len(refused) >= 3
    expected = ("Content Security Policy", "ERR_FILE_NOT_FOUND", "network: https://example.org")
    assert all(any(part in text for part in expected) for text in problems)
    problems.clear()


@pytest.fixture(scope="module")
def edits_page(clips: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edits")
    noise(folder / "source.wav", 99, seconds=1.0)
    texts = {"Instruction": "Mute the dog", "Source caption": "a dog, then a siren"}
    rows = [
        edit(1, clips[0], folder / "source.wav", sample_id="s1"),
        edit(2, clips[1], folder / "source.wav", "failed", sample_id="s1", system="base", heard=()),
        edit(3, clips[2], folder / "gone.wav", "over_edit", caption="", texts=texts, asked=()),
        unheard(4, clips[3], source=Source(str(clips[4]), 2.0), reason="truncated"),
    ]
    pairs = (
        Comparison("nontarget_preservation", "ours", "base", 9, 0.1, -0.5, 0.6, 0.5, 1.0),
        Comparison("edit_success", "ours", "base", 9, -0.5, -0.9, -0.1, 0.01, 0.02, "base", items=11),
        Comparison("edit_success", "ours", "other", 0, None, None, None, None, None, note="too few"),
        Comparison("level_change_db", "ours", "base", 9, -0.5, -0.9, -0.1, 0.01, 0.02),
    )
    summary = systems_of(rows, EDIT, comparisons=pairs)
    return build(folder / "run", rows, summary=summary, names={"base": "Baseline"})


def test_an_edit_shows_source_and_edited_clip_on_one_time_scale(edits_page: Path, show: Any) -> None:
    page = show(edits_page)
    card = page.locator("#clip-1")
    assert card.locator(".deck b").all_inner_texts() == ["Source", "Edited"]
    assert card.locator(".time").all_inner_texts() == ["0.0 / 1.0 s", "0.0 / 2.0 s"]
    source, edited = (card.locator(".picture img").nth(n).bounding_box() for n in (0, 1))
    assert source["x"] == edited["x"]
    assert source["width"] == pytest.approx(edited["width"] / 2, abs=1)  # one second beside two
    assert card.locator(".texts dt").all_inner_texts() == ["Instruction", "Source caption"]
    assert card.locator(".texts dd").all_inner_texts() == ["Add a siren", "a dog barks"]
    marks = " ".join(card.locator(".marks").inner_text().split())
    assert marks == "Success 4.50 Preservation 2"  # those of the usual table; the others are in the numbers
    assert card.locator(".asked").inner_text().split() == ["•", "a", "siren"]  # one sound has no order
    card.locator("summary").click()
    heads = card.locator(".events th:first-child[scope=col]").all_inner_texts()
    assert heads == ["Heard in the source", "Heard in the edited clip"]
    assert "Level change\t-3.25" in card.locator(".values").inner_text()
    links = card.locator(".foot a").all_inner_texts()
    assert links == ["Same sample, other systems (1)", "Source file", "Edited file"]
    # What was asked for is missed in the edited clip alone, and only where it was listened for.
    assert page.locator("#clip-2 .lane.absent").all_inner_texts() == ["not heard"]
    assert page.locator("#clip-4 .absent").count() == 0
    assert page.locator("#clip-3 .caption").inner_text() == "Instruction Mute the dog"
    assert page.locator("#clip-3 .texts dt").all_inner_texts() == ["Source caption"]
    # Where nothing is asked for, a label has the same colour in both.
    dogs = page.locator('#clip-3 .bar[aria-label^="Dog:"]')
    colours = dogs.evaluate_all("a => a.map(e => getComputedStyle(e).backgroundColor)")
    assert len(colours) == 2
    assert len(set(colours)) == 1


def test_source_and_edited_clip_take_turns(edits_page: Path, show: Any) -> None:
    page = show(edits_page)
    playing = """([card, index]) => {
        const all = [...document.querySelectorAll("audio")].filter((audio) => !audio.paused);
        const one = document.querySelectorAll(`#clip-${card} audio`)[index];
        return all.length === 1 && all[0] === one && one.currentTime > 0.02;
    }"""
    page.get_by_role("button", name="Play the edited clip").first.click()
    until(page, playing, [1, 1])
    page.locator("#clip-1 .play").first.click()
    until(page, playing, [1, 0])
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("Space")
    until(page, "document.querySelectorAll('#clip-1 audio')[0].paused")
    box = page.locator("#clip-1 .screen").nth(1).locator(".picture").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + 20)
    until(page, playing, [1, 1])
    page.keyboard.press("s")  # the other clip, from the same moment
    until(page, playing, [1, 0])
    assert page.locator("#clip-1 audio").first.evaluate("a => a.currentTime") > 0.45
    page.keyboard.press("j")
    page.keyboard.press("s")
    until(page, playing, [2, 1])


def test_a_missing_source_says_so(edits_page: Path, show: Any, problems: list[str]) -> None:
    page = show(edits_page)
    card = page.locator("#clip-3")
    assert card.locator(".picture").first.inner_text() == "No spectrogram: there is no such file"
    assert card.locator(".picture img").count() == 1
    card.locator(".play").first.click()
    card.locator(".fault").first.wait_for(state="visible")
    assert "gone.wav" in card.locator(".fault").first.inner_text()
    assert not card.locator(".fault").nth(1).is_visible()
    assert all("ERR_FILE_NOT_FOUND" in text for text in problems)
    problems.clear()


def test_comparisons_are_grouped_by_metric(edits_page: Path, show: Any) -> None:
    page = show(edits_page)
    groups = page.locator(".compared")
    assert [" ".join(text.split()) for text in groups.locator("h3").all_inner_texts()] == [
        "Success 1 of 1 pair of systems can be told apart; 1 more pair shares too few items or clusters "
        "to be compared",
        "Preservation 0 of 1 pair of systems can be told apart",
    ]
    ahead = "Baseline is ahead of ours by 0.50 [0.10, 0.90], p = 0.020 (Holm), 11 shared items in 9 clusters."
    assert groups.first.locator(".sentences").inner_text() == ahead
    assert not groups.nth(1).locator(".sentences").is_visible()
    groups.nth(1).locator("summary").click()
    assert "No winner between ours and Baseline" in groups.nth(1).inner_text()


def test_marks_are_plotted_on_their_own_scale_and_names_are_shown(edits_page: Path, show: Any) -> None:
    page = show(edits_page)
    assert page.locator(".systems .scale text").all_text_contents() == ["1", "3", "5"]
    assert page.locator(".systems tbody th").all_inner_texts() == ["Baseline", "ours"]
    page.get_by_text("All measures", exact=True).click()
    assert page.locator(".measures").is_visible()
    assert page.locator("#clip-2 .system").inner_text() == "Baseline"
    page.locator("[name=system]").select_option(label="Baseline (1)")
    assert listed(page) == [2]
    page.locator("button[type=reset]").click()
    page.locator("[name=q]").fill("baseline")
    until(page, "document.querySelectorAll('.clip').length === 1")


def test_verdicts_come_from_the_task(edits_page: Path, clips: list[Path], tmp_path: Path, show: Any) -> None:
    page = show(edits_page)
    assert page.locator(".verdicts label").all_inner_texts() == [
        "All 4", "Good edit 1", "Over-edit 1", "Under-edit 0", "Failed 1", "Unheard 1",
    ]  # fmt: skip
    tones = page.locator(".clip").evaluate_all("a => a.map(c => c.className.split('tone-')[1])")
    assert tones == ["good", "bad", "fair", "unheard"]
    page.locator("[data-verdict=over_edit]").click()
    assert listed(page) == [3]
    rows = [label(1, clips[0]), label(2, clips[1], "unordered")]
    page = show(build(tmp_path, rows, summary=systems_of(rows, LABEL)))
    assert page.locator(".verdicts label").all_inner_texts() == ["All 2", "Ordered 1", "Not ordered 1"]
    assert page.locator(".badge").all_inner_texts() == ["Ordered", "Not ordered"]
    assert page.locator(".tone-good, .tone-bad").count() == 0  # neither is better
    page.locator("[data-verdict=ordered]").click()
    assert listed(page) == [1]


def test_descriptions_are_searched_by_caption_tag_and_text(
    tmp_path: Path, clips: list[Path], show: Any
) -> None:
    many = tuple(Event(f"Sound {n}", 0.1 * n, 0.1 * n + 0.1) for n in range(11))
    rows = [
        label(1, clips[0]),
        label(2, clips[1], tags=("owl", "night"), texts={"Given caption": "Whispering trees"}),
        label(3, clips[2], caption="Rain falls", tags=(), heard=many),
    ]
    page = show(build(tmp_path, rows, summary=systems_of(rows, LABEL)))
    for words, found in (("NIGHT", [2]), ("whispering", [2]), ("rain", [3]), ("street bark", [1])):
        page.locator("[name=q]").fill(words)
        until(page, "ids => [...document.querySelectorAll('.clip')].map(c => c.id).join() === ids",
              ",".join(f"clip-{number}" for number in found))  # fmt: skip
    page.locator("button[type=reset]").click()
    first = page.locator("#clip-1")
    assert first.locator(".tags li").all_inner_texts() == ["dog bark", "siren", "street"]
    assert first.locator(".warnings").inner_text() == "clipping"
    assert first.locator(".name").all_inner_texts() == ["Dog", "Siren", "Speech"]
    assert "not asked for" not in first.locator(".bar").first.get_attribute("aria-label")
    third = page.locator("#clip-3")
    assert third.locator(".name:visible").last.inner_text() == "3 more sounds heard"
    third.locator(".fold-lanes").click()
    assert third.locator(".name:visible").last.inner_text() == "Sound 10"
    page.locator("#clip-2 .tags a").first.click()
    until(page, "document.querySelectorAll('.clip').length === 1")
    assert page.locator("[name=q]").input_value() == "owl"


def test_a_source_is_drawn_once_for_all_systems(tmp_path: Path, clips: list[Path], show: Any) -> None:
    rows = [edit(n, clips[n], clips[0], system=f"s{n % 2}") for n in range(1, 7)]
    page = show(build(tmp_path, rows, summary=systems_of(rows, EDIT), spectrograms=4))
    assert page.locator("img").count() == 8  # four edits, each with its source
    assert len(list((tmp_path / "page" / "spectrograms").iterdir())) == 5
    assert "drawn for 4 of 6 clips" in page.locator(".count").inner_text()


def test_several_listeners_have_a_page_above_their_own(
    tmp_path: Path, mixed: list[ItemRow], browser: Any
) -> None:
    runs = [("a b#1", "yamnet"), ("run2", HOSTILE[0])]
    summaries: list[tuple[str, Summary]] = []
    for name, listener in runs:
        summaries.append((name, summary_of(mixed, listener=listener)))
        build(tmp_path / name, mixed, summary=summaries[-1][1])
    index = write_overview(
        tmp_path,
        title=HOSTILE[1],
        runs=summaries,
        agreement=[("Measure", "Alpha"), (HOSTILE[2], "0.71 [0.60, 0.80]")],
        notes=[HOSTILE[0]],
        names={"base": "Baseline"},
    )
    page = browser.new_page()
    page.goto(index.as_uri())
    tables = page.locator("table")
    assert tables.first.locator("tbody th").all_inner_texts() == ["ours", "Baseline", "none"]
    cells = tables.first.locator("tbody tr").first.locator("td").all_inner_texts()
    assert [cell.split()[0] for cell in cells] == ["0.667", "0.667"]
    assert tables.nth(1).locator("td").inner_text() == "0.71 [0.60, 0.80]"
    assert page.locator(".notes").inner_text() == HOSTILE[0]
    assert page.locator("script, img").count() == 0
    page.get_by_role("link", name="yamnet").click()
    page.wait_for_selector("#clip-1")
    page.close()


def test_any_file_name_plays(tmp_path: Path, clips: list[Path], show: Any) -> None:
    folder = tmp_path / "out puts #1" / "100%"
    folder.mkdir(parents=True)
    rows = []
    for number, name in enumerate(NAMES, 1):
        shutil.copy(clips[number % len(clips)], folder / name)
        rows.append(item(number, folder / name))
    page = show(build(tmp_path / "run é?", rows))
    for number in range(1, len(NAMES) + 1):
        page.locator(f"#clip-{number} .play").click()
        until(page, "n => document.querySelector(`#clip-${n} audio`).currentTime > 0.02", number)
    assert page.locator(".picture img").count() == len(NAMES)


def test_a_missing_or_broken_file_says_so(
    tmp_path: Path, clips: list[Path], show: Any, problems: list[str]
) -> None:
    (tmp_path / "broken.wav").write_bytes(b"RIFF nothing")
    rows = [
        unheard(1, tmp_path / "gone.wav"),
        unheard(2, tmp_path / "broken.wav", duration_s=None),
        item(3, clips[0]),
    ]
    page = show(build(tmp_path / "run", rows))
    assert page.locator("#clip-1 .picture").inner_text() == "No spectrogram: there is no such file"
    assert "not decodable" in page.locator("#clip-2 .picture").inner_text()
    for number, name in ((1, "gone.wav"), (2, "broken.wav")):
        page.locator(f"#clip-{number} .play").click()
        fault = page.locator(f"#clip-{number} .fault")
        fault.wait_for(state="visible")
        assert "Cannot be played" in fault.inner_text()
        assert name in fault.inner_text()
    assert page.locator("#clip-3 img").count() == 1
    assert all("ERR_FILE_NOT_FOUND" in text for text in problems)
    problems.clear()


def test_ten_thousand_items_are_listed_in_pages_and_filtered(
    tmp_path: Path, clips: list[Path], show: Any
) -> None:
    rows = [
        item(n, clips[0], ("", "reversed", "missing")[n % 3], system=f"s{n % 4}") for n in range(1, 10_001)
    ]
    page = show(build(tmp_path, rows, spectrograms=0))
    assert page.locator("#count").inner_text() == "10,000 clips, the first 50 listed."
    assert page.locator(".count").inner_text().endswith("No spectrograms were drawn.")
    page.locator("[name=system]").select_option("s3")
    assert page.locator("#count").inner_text() == "2,500 of 10,000 clips, the first 50 listed."
    page.evaluate("location.hash = '#clip-9999'")
    page.wait_for_selector("#clip-9999.linked")
    assert len(listed(page)) == 51


def by_relation(
    clips: list[Path], names: tuple[str, ...] = ("ours", "base")
) -> tuple[list[ItemRow], Summary]:
    """Clips of three relations for every system, ceilings and floors among them."""
    texts = {"Relation": "before"}
    rows = [
        item(
            3 * number + k + 1, clips[k], sample_id=relation, system=name, stratum=relation,
            texts=texts if relation == "before" else {}, values={"msr": 1.0, "msr@0.5": 1.0},
        )
        for number, name in enumerate((*names, *MEASURES.baselines))
        for k, relation in enumerate(("count", "before", "if_then_else"))
    ]  # fmt: skip
    summary = ritta(names)
    systems = tuple(replace(row, n=3, scored=3) for row in summary.rows)
    return rows, replace(summary, rows=systems)


def test_clips_are_filtered_by_relation_and_show_it(tmp_path: Path, clips: list[Path], show: Any) -> None:
    rows, summary = by_relation(clips)
    page = show(build(tmp_path, rows, summary=summary))
    options = page.locator("[name=stratum] option").all_inner_texts()
    assert options == ["any (12)", "Count (4)", "before (4)", "if then else (4)"]
    assert page.locator("#clip-2 .stratum").inner_text() == "before"
    assert page.locator("#clip-2 .texts").count() == 0  # it is not said twice
    page.locator("[name=stratum]").select_option("if_then_else")
    assert listed(page) == [3, 6, 9, 18]
    page.locator("[name=system]").select_option("base")
    assert listed(page) == [6]
    assert page.evaluate("location.hash") == "#system=base&stratum=if_then_else"
    page.get_by_role("link", name="before", exact=True).first.click()
    until(page, "document.querySelectorAll('.clip').length === 4")
    assert page.locator("[name=system]").input_value() == ""
    page.locator("#clip-5 summary").click()
    assert "@" not in page.locator("#clip-5 .values").inner_text()


def test_a_page_without_relations_has_no_filter_for_them(mixed_page: Path, show: Any) -> None:
    page = show(mixed_page)
    assert not page.locator("[name=stratum]").is_visible()
    assert page.locator(".relations, .stratum").count() == 0


def test_baselines_without_clips_of_their_own_have_no_cards(
    tmp_path: Path, clips: list[Path], show: Any
) -> None:
    rows, summary = by_relation(clips)
    page = show(build(tmp_path, rows, summary=summary, spectrograms=4))
    assert page.locator(".figures li").all_inner_texts()[0].split() == ["2", "systems"]
    assert listed(page) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18]
    said = page.locator(".count").inner_text()
    assert "Spectrograms were drawn for 4 of 12 clips" in said
    assert "Not listed here: the clips of oracle, silence; they are in items.csv and in the tables." in said
    names = page.locator(".systems tbody th")
    assert names.all_inner_texts() == [
        "ours", "base", "reference (ceiling)", "oracle (ceiling)", "silence (floor)", "shuffled (floor)",
    ]  # fmt: skip
    assert [names.nth(n).locator("a").count() for n in range(6)] == [1, 1, 1, 0, 0, 1]


def test_numbers_by_relation_stand_beside_ceilings_and_floors_under_heads_that_stay(
    tmp_path: Path, clips: list[Path], show: Any
) -> None:
    rows, summary = by_relation(clips, (HOSTILE[0], HOSTILE[1]))
    page = show(build(tmp_path, rows, summary=summary))
    assert page.locator("#relations-head ~ details > summary").all_inner_texts() == [
        "mAMSR", "mARel", "mAPre", "mAPar",
    ]  # fmt: skip
    table = page.locator(".relations").first
    heads = [" ".join(text.split()) for text in table.locator("thead th").all_inner_texts()]
    assert heads == [
        "Relation", "n", HOSTILE[0], HOSTILE[1], "reference ceiling", "oracle ceiling", "silence floor",
        "shuffled floor",
    ]  # fmt: skip
    assert table.locator("tbody tr").count() == 15
    cells = table.locator("tbody tr").nth(2).locator("td").all_inner_texts()
    assert [cell.split()[0] for cell in cells] == [
        "720",
        "0.482",
        "0.366",
        "0.686",
        "1.000",
        "0.000",
        "0.001",
    ]
    assert cells[1].split()[1:] == ["0.461", "to", "0.501"]
    assert table.locator("tbody tr").nth(2).locator("td.ceiling").count() == 2
    assert not page.locator(".relations").nth(1).is_visible()
    page.set_viewport_size({"width": 500, "height": 420})
    box = table.locator("xpath=..")
    box.evaluate("box => { box.scrollTop = 200; box.scrollLeft = 150; }")
    inside, head, first = (
        part.bounding_box()
        for part in (box, table.locator("thead th").nth(3), table.locator("tbody th").nth(9))
    )
    assert head["y"] == pytest.approx(inside["y"], abs=2)
    assert first["x"] == pytest.approx(inside["x"], abs=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 500
    assert page.locator("img[src=x], section script").count() == 0


WON = Comparison("msr", "ours", "base", 720, 0.1, 0.05, 0.15, 0.001, 0.002, "ours", items=720)


def test_a_system_with_fewer_prompts_is_marked_in_every_table(
    tmp_path: Path, clips: list[Path], show: Any
) -> None:
    rows, summary = by_relation(clips)
    mark = Mark("‡", "Fewer prompts (n) than reference, which has 3.", frozenset({"base"}))
    page = show(build(tmp_path, rows, summary=replace(summary, marks=(mark,))))
    page.locator("summary", has_text="All measures").click()
    for table in (".systems", ".measures"):
        names = page.locator(f"{table} tbody th").all_inner_texts()
        assert [name for name in names if "‡" in name] == ["base ‡"]
    for number in range(4):
        heads = page.locator(".relations").nth(number).locator("thead th").all_text_contents()
        assert [head for head in heads if "‡" in head] == ["base ‡"]
    sections = page.locator("section", has_text="Fewer prompts (n) than reference").all()
    assert [section.locator("h2").inner_text() for section in sections] == ["Systems", "By relation"]
    assert page.locator(".systems tbody th", has_text="base").get_attribute("data-sort") == "base"
    write_overview(tmp_path / "o", title="t", runs=[("run", replace(summary, marks=(mark,)))])
    said = (tmp_path / "o" / "index.html").read_text(encoding="utf-8")
    assert said.count("‡") == 2
    assert "Fewer prompts" in said


def test_the_sign_is_seen_beside_a_name_that_is_cut(tmp_path: Path, clips: list[Path], show: Any) -> None:
    long = "a_rather_long_name_of_a_system_that_no_column_can_hold"
    rows, summary = by_relation(clips, ("ours", long))
    mark = Mark("‡", "Fewer prompts.", frozenset({long}))
    page = show(build(tmp_path, rows, summary=replace(summary, marks=(mark,))))
    for width in (1280, 420):
        page.set_viewport_size({"width": width, "height": 800})
        for cell, name in ((".systems tbody .signed", "a"), (".relations thead th:nth-child(4)", "span")):
            box = page.locator(cell).first.bounding_box()
            cut = page.locator(f"{cell} {name}").first.bounding_box()
            assert cut["x"] + cut["width"] + 8 < box["x"] + box["width"]


def test_only_the_winner_of_the_comparisons_is_bold(tmp_path: Path, clips: list[Path], show: Any) -> None:
    rows, summary = by_relation(clips)
    page = show(build(tmp_path / "open", rows, summary=summary))
    assert page.locator("table b").count() == 0
    assert page.get_by_text("Bold:").count() == 0
    page = show(build(tmp_path / "won", rows, summary=replace(summary, comparisons=(WON,))))
    assert page.locator(".systems b").all_text_contents() == ["0.373"]
    assert page.locator(".measures b").count() == 0  # the key metric is not among them
    assert page.locator(".relations b").all_text_contents() == ["0.373"]
    assert page.locator(".relations tr:has(b) th").all_text_contents() == ["all"]
    assert page.get_by_text("Single relations are not compared").count() == 1
    for won, count in (((), 0), ((WON,), 1)):
        write_overview(tmp_path, title="t", runs=[("run", replace(summary, comparisons=won))])
        said = (tmp_path / "index.html").read_text(encoding="utf-8")
        assert said.count("<b>0.373</b>") == said.count("Bold:") == count


def test_the_line_of_the_whole_run_is_seen_whole_and_edges_tell_of_more(
    tmp_path: Path, clips: list[Path], show: Any
) -> None:
    rows, summary = by_relation(clips)
    page = show(build(tmp_path, rows, summary=summary))
    box = page.locator(".scroll:has(.relations)").first
    total = page.locator(".relations .total").first
    wide, below = "box => box.classList.contains('beyond-right')", "box => box.matches('.beyond-below')"
    for width, height in ((1280, 900), (1280, 500), (420, 800)):
        page.set_viewport_size({"width": width, "height": height})
        box.scroll_into_view_if_needed()
        inside, line = box.bounding_box(), total.locator("th").bounding_box()
        assert line["y"] + line["height"] <= inside["y"] + inside["height"] + 1
        assert inside["height"] <= height
        until(
            page, f"({wide})(document.querySelector('.relations').parentNode) === {str(width < 500).lower()}"
        )
        assert not box.evaluate(below)  # what follows is above the last line, which stays
    box.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    until(page, f"!({wide})(document.querySelector('.relations').parentNode)")
    faded = page.locator(".scroll:has(.systems)")
    until(page, f"({wide})(document.querySelector('.systems').parentNode)")
    assert "gradient" in faded.evaluate("box => getComputedStyle(box).maskImage")


def test_items_are_never_held(tmp_path: Path, clips: list[Path]) -> None:
    def peak(count: int) -> int:
        rows = (item(n, clips[0]) for n in range(count))
        summary = summary_of([item(0, clips[0])])
        tracemalloc.start()
        write_page(tmp_path, summary, rows, title="t", facts={}, spectrograms=0)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)  # loads the templates
    assert peak(3000) < 1.2 * peak(300)


def test_spectrograms_are_shared_evenly_among_systems_and_the_page_says_so(
    tmp_path: Path, mixed: list[ItemRow], show: Any
) -> None:
    calls: list[tuple[int, int]] = []
    page = show(build(tmp_path, mixed, spectrograms=4, progress=lambda *now: calls.append(now)))
    assert "Spectrograms were drawn for 4 of 9 clips" in page.locator(".count").inner_text()
    drawn = page.locator(".clip:has(img)").evaluate_all("a => a.map(c => c.id)")
    assert len(drawn) == len(list((tmp_path / "page" / "spectrograms").iterdir())) == 4
    assert {"clip-1", "clip-4", "clip-7"} <= set(drawn)
    assert calls[-1] == (9, 9)
    assert "not drawn for this clip" in page.locator("#clip-3 .picture").inner_text()


def test_same_run_same_bytes_whatever_was_there(tmp_path: Path, mixed: list[ItemRow]) -> None:
    def files(folder: Path) -> dict[str, bytes]:
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    build(tmp_path / "a", mixed)
    once = files(tmp_path / "a")
    picture = next((tmp_path / "a" / "page" / "spectrograms").iterdir())
    untouched = picture.stat().st_mtime_ns
    build(tmp_path / "a", mixed)
    build(tmp_path / "b", mixed)
    assert picture.stat().st_mtime_ns == untouched  # unchanged sound is not drawn again
    assert once == files(tmp_path / "a") == files(tmp_path / "b")
    build(tmp_path / "b", mixed[:2])
    assert len(list((tmp_path / "b" / "page" / "spectrograms").iterdir())) == 2  # nothing stale stays


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_sticks_out_sideways(mixed_page: Path, show: Any, width: int) -> None:
    page = show(mixed_page)
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    lane, picture = (page.locator(f"#clip-1 {part}").first.bounding_box() for part in (".lane", ".picture"))
    surface = page.locator("#clip-1 .surface").bounding_box()
    assert lane["x"] == picture["x"] == surface["x"]  # one time scale for picture, lanes and pins
    assert lane["width"] == picture["width"] == surface["width"]
