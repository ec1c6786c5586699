"""The command as a user types it, in a process of its own."""

import csv
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sounds import events_reply, manifest, noise, script

CAPTION = "A dog barks followed by a cat meowing"
RIGHT = events_reply(("Bark", 0.0, 0.1), ("Meow", 0.3, 0.4))


def earwitness(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "earwitness", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=300,
        check=False,
    )


def clips(folder: Path, count: int, caption: str = CAPTION, system: str = "ours") -> Path:
    rows = []
    for index in range(count):
        noise(folder / f"{index}.wav", index)
        rows.append({"audio": f"{index}.wav", "system": system, "sample_id": index, "caption": caption})
    return manifest(folder / "m.jsonl", rows)


@pytest.fixture
def always_right(tmp_path: Path) -> str:
    return script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": RIGHT}])


def test_help_has_examples_and_the_version_is_printed() -> None:
    top = earwitness("--help")
    assert top.returncode == 0
    assert "judge" in top.stdout
    assert "earwitness judge order --prompts" in earwitness("judge", "order", "--help").stdout
    assert earwitness("--version").stdout.startswith("earwitness 0.")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['earwitness', '--help']\n"
        "from earwitness.cli.main import run\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        "heavy = ('numpy', 'scipy', 'polars', 'matplotlib', 'onnxruntime', 'rich.table', 'pydantic')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_a_run_prints_its_table_and_where_the_page_is(tmp_path: Path, always_right: str) -> None:
    ran = earwitness("judge", "order", clips(tmp_path, 4), "-o", tmp_path / "run", "--listener", always_right)
    assert ran.returncode == 0, ran.stderr
    assert "ours" in ran.stdout
    assert str(tmp_path / "run" / "index.html") in ran.stdout
    made = {p.name for p in (tmp_path / "run").iterdir()}
    assert {"index.html", "ledger.sqlite", "replies.csv", "items.csv", "summary.csv", "summary.json",
            "protocol.md", "run.json", "tables", "figures"} <= made  # fmt: skip


def test_a_manifest_fault_stops_before_work_with_every_fault_listed(
    tmp_path: Path, always_right: str
) -> None:
    noise(tmp_path / "0.wav", 0)
    row = {"system": "a", "sample_id": "1", "caption": CAPTION}
    path = manifest(
        tmp_path / "m.jsonl",
        [row | {"audio": "0.wav"}, row | {"audio": "0.wav"}, row | {"audio": "gone.wav"}],
    )
    ran = earwitness("judge", "order", path, "-o", tmp_path / "run", "--listener", always_right)
    assert ran.returncode == 2
    assert "gone.wav" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "run").exists()


def test_odd_names_and_hostile_captions_do_no_harm_and_are_still_parsed(
    tmp_path: Path, always_right: str
) -> None:
    captions = [
        "<b>A dog barks</b> followed by <i>a cat meowing</i>",
        "=A dog barks followed by a cat meowing",
        "<script>alert(1)</script>A dog barks followed by a cat meowing",
    ]
    rows = []
    for index, name in enumerate(["é 音,🔊 #1.wav", "a b%20c?.wav", "-rf '\"&.wav"]):
        noise(tmp_path / "sons été" / name, index)
        rows.append({"audio": f"sons été/{name}", "system": "=cmd|' /C'!A0, été", "sample_id": name,
                     "caption": captions[index]})  # fmt: skip
    path = manifest(tmp_path / "m.jsonl", rows)
    ran = earwitness("judge", "order", path, "-o", tmp_path / "run é", "--listener", always_right)
    assert ran.returncode == 0, ran.stderr
    with (tmp_path / "run é" / "items.csv").open(encoding="utf-8", newline="") as file:
        items = list(csv.DictReader(file))
    assert [row["verdict"] for row in items] == ["right"] * 3
    assert items[1]["caption"].startswith("'=A dog")
    assert all(row["system"].startswith("'=") for row in items)
    assert "<script>alert" not in (tmp_path / "run é" / "index.html").read_text(encoding="utf-8")


def test_failures_lists_the_clips_judged_wrong(tmp_path: Path) -> None:
    wrong = events_reply(("Meow", 0.0, 0.1), ("Bark", 0.3, 0.4))
    listener = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": wrong}])
    run = tmp_path / "run"
    assert earwitness("judge", "order", clips(tmp_path, 2), "-o", run, "--listener", listener).returncode == 0
    listed = earwitness("failures", run, "--system", "ours", "--kind", "reversed")
    assert [line.split("\t")[:3] for line in listed.stdout.splitlines()] == [
        ["reversed", "ours", "0"], ["reversed", "ours", "1"],
    ]  # fmt: skip
    assert "no system 'other'" in earwitness("failures", run, "--system", "other").stderr
    assert earwitness("failures", run, "--kind", "late").returncode == 2
    assert earwitness("report", tmp_path).returncode == 2


def test_killed_in_mid_run_nothing_finished_is_lost(tmp_path: Path) -> None:
    """kill -9 while the real listener hears; the second run takes over all that was finished."""
    rows = []
    rng = np.random.default_rng(0)
    for index in range(60):
        noise(tmp_path / f"{index}.wav", int(rng.integers(1 << 30)), seconds=6)
        rows.append({"audio": f"{index}.wav", "system": "a", "sample_id": index, "caption": CAPTION})
    path, run = manifest(tmp_path / "m.jsonl", rows), tmp_path / "run"
    command = [sys.executable, "-m", "earwitness", "judge", "order", str(path), "-o", str(run)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ledger = run / "ledger.sqlite"
    deadline = time.monotonic() + 120
    while _finished(ledger) < 5 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = _finished(ledger)
    assert 5 <= kept < 60, "the run must be killed in its middle for this test to mean anything"
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert f"none: {60 - kept} asked now, 0 taken over from the same sound." in ran.stdout
    assert _finished(ledger) == 60


def _finished(ledger: Path) -> int:
    if not ledger.exists():
        return 0
    try:
        with sqlite3.connect(ledger) as db:
            return int(db.execute("SELECT count(*) FROM item_hearings").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet, or busy
        return 0


def test_an_interruption_prints_the_command_that_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for index in range(200):
        noise(tmp_path / f"{index}.wav", index, seconds=4)
    rows = [{"audio": f"{i}.wav", "system": "a", "sample_id": i, "caption": CAPTION} for i in range(200)]
    command = [sys.executable, "-m", "earwitness", "judge", "order",
               str(manifest(tmp_path / "m.jsonl", rows)), "-o", str(run)]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    deadline = time.monotonic() + 120
    while _finished(run / "ledger.sqlite") < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"earwitness judge order {tmp_path / 'm.jsonl'} -o {run}" in errors
