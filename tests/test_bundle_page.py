"""A bundle in a real browser: with the originals gone, every clip plays."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from earwitness.report.build import Options
from earwitness.report.bundle import bundle
from pages import until
from shared_runs import edit_run, order_run
from test_page import ARGS, CHROMIUM

PLAYED = """() => {
  const sounds = [...document.querySelectorAll("audio")];
  return sounds.length === __N__ && sounds.every((one) => one.ended || one.error);
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("needs Debian's chromium: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install earwitness[test]")
    with api.sync_playwright() as playwright:
        args = [*ARGS, "--autoplay-policy=no-user-gesture-required"]
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=args)
        yield opened
        opened.close()


def played(browser: Any, index: Path, sounds: int) -> tuple[list[str], list[str], list[float]]:
    """Requests that left the disk, faults of sounds, and their lengths, after all were played to the end."""
    page, outside = browser.new_page(), []
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else outside.append(r.url))
    page.goto(index.as_uri())
    page.wait_for_selector("#count:not(:empty)")
    page.evaluate(
        "() => { for (const a of document.querySelectorAll('audio')) { a.muted = true; a.play(); } }"
    )
    until(page, PLAYED.replace("__N__", str(sounds)))
    faults = page.evaluate("() => [...document.querySelectorAll('audio')].map(a => a.error?.message ?? '')")
    lengths = page.evaluate("() => [...document.querySelectorAll('audio')].map(a => a.duration)")
    page.close()
    return outside, [fault for fault in faults if fault], lengths


@pytest.mark.browser
@pytest.mark.parametrize("form", ["ogg", "mp3", "flac"])
def test_every_clip_plays_with_the_originals_gone(tmp_path: Path, browser: Any, form: str) -> None:
    order_run(tmp_path, {"TangoFlux": 2, "Resonate": 1}, n=2)
    bundle(tmp_path / "run", tmp_path / "out", anonymous=True, audio=form, options=Options(draws=100))
    shutil.rmtree(tmp_path / "clips")
    shutil.rmtree(tmp_path / "run")
    moved = tmp_path / "elsewhere"
    shutil.move(tmp_path / "out", moved)
    outside, faults, lengths = played(browser, moved / "index.html", 4)
    assert (outside, faults) == ([], [])
    assert lengths == pytest.approx([0.5] * 4, abs=0.05)


@pytest.mark.browser
def test_edits_play_with_their_sources_and_a_missing_clip_is_told(tmp_path: Path, browser: Any) -> None:
    edit_run(tmp_path, ["AUDIT", "SDEdit"], n=2)
    (tmp_path / "clips" / "AUDIT" / "1.wav").unlink()
    bundle(tmp_path / "run", tmp_path / "out", options=Options(draws=100))
    shutil.rmtree(tmp_path / "clips")
    outside, faults, lengths = played(browser, tmp_path / "out" / "index.html", 8)
    assert outside == []
    assert len(faults) == 1
    assert sum(length == pytest.approx(0.5, abs=0.05) for length in lengths if length) == 7
    text = (tmp_path / "out" / "page" / "clips.js").read_text(encoding="utf-8")
    assert "could not be packed" in text
