"""Names and paths that must not leave the house: found in every writing, ordinary words let be."""

from pathlib import Path

import pytest

from earwitness.events import Event
from earwitness.report import distance_csv, hiding
from earwitness.report.hiding import NAME, PATH


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("tango2_0001", f"{NAME}_0001"),
        ("a TANGO in the rain", f"a {NAME} in the rain"),
        ("stable-audio_open_7", f"{NAME}_open_7"),
        ("StableAudio", NAME),
        ("the sao, at last", f"the {NAME}, at last"),
        ("sao12", f"{NAME}12"),
        ("disao", "disao"),  # a short name only as a word of its own
        ("untangoed", f"un{NAME}ed"),
    ],
)
def test_names_are_found_in_any_writing(text: str, left: str) -> None:
    assert hiding.without_names(["tango", "tango2", "Stable Audio", "sao"])(text) == left


def test_names_that_mean_something_to_patterns_are_plain_text() -> None:
    assert hiding.without_names(["a+b (v2)*"])("clip of a+b (v2)* here") == f"clip of {NAME})* here"
    assert hiding.without_names(["日本"])("日本_1") == f"{NAME}_1"


def test_signs_make_no_short_name_long() -> None:
    change = hiding.without_names(["a|b<i>"])
    assert change("the ability, the probability") == "the ability, the probability"
    assert change("clips of a|b<i> and ABI") == f"clips of {NAME}> and {NAME}"


def test_every_text_within_data_is_changed_and_nothing_else() -> None:
    data = {"tango": ["tango", 1, None, ("tango",)], "event": Event("tango", 0.0, 1.0, 0.5)}
    changed = hiding.through(data, hiding.without_names(["tango"]))
    assert changed == {"tango": [NAME, 1, None, (NAME,)], "event": Event(NAME, 0.0, 1.0, 0.5)}


def test_paths_are_taken_out() -> None:
    change = hiding.without_paths([Path("/data/my clips"), Path("/data/my clips/x.wav")])
    assert change("cannot read /data/my clips/x.wav: no") == f"cannot read {PATH}: no"
    assert change(f"in {Path.home()}/a/b") == f"in {PATH}"
    assert change("a dog barks and/or howls") == "a dog barks and/or howls"
    said = "[Errno 13] Permission denied: '/srv/audio/x.wav'"
    assert hiding.without_any_path(said) == f"[Errno 13] Permission denied: '{PATH}'"
    assert (
        hiding.without_any_path("https://example.org/a/b and 24/7/365")
        == "https://example.org/a/b and 24/7/365"
    )


def test_addresses_are_taken_out() -> None:
    assert (
        hiding.without_addresses("asked at http://gpu3.lab.example:8000/v1, twice")
        == "asked at [address], twice"
    )


def test_aliases_are_seeded() -> None:
    names = [f"method {number}" for number in range(30)]
    given = hiding.aliases(names, b"secret")
    assert given == hiding.aliases(names[::-1], b"secret")
    assert given != hiding.aliases(names, b"another")
    assert {"System A", "System Z", "System AA", "System AD"} <= set(given.values())
    assert len(set(given.values())) == 30


def test_what_is_left_is_found_in_text_bytes_and_names_of_files(tmp_path: Path) -> None:
    (tmp_path / "clean.csv").write_text("nothing here", encoding="utf-8")
    (tmp_path / "page.html").write_text("&lt;x&gt; \\u65e5\\u672c", encoding="utf-8")
    (tmp_path / "sound.ogg").write_bytes(b"\0\1TANGOFLUX\2")
    (tmp_path / "TangoFlux_1.csv").write_text("", encoding="utf-8")
    hits = hiding.found(tmp_path, ["TangoFlux", "日本", "<x>"])
    assert [hit.split(" holds ")[0] for hit in hits] == [
        "TangoFlux_1.csv",
        "page.html",
        "page.html",
        "sound.ogg",
    ]


def test_ordinary_words_are_few_and_no_models() -> None:
    names = ["TangoFlux", "AudioLDM", "Resonate", "SDEdit-bs0", "ours-d128"]
    known = [
        "AudioLM",
        "EnCodec",
        "GPT",
        "Gemini",
        "Qwen",
        "CLAP",
        "Whisper",
        "YAMNet",
        "openai",
    ]  # in our code
    assert hiding.ordinary([*names, *known, "Base", "audio", "a", "v2"]) == ["Base", "audio", "a", "v2"]


def test_a_system_called_like_a_column_of_the_distances_is_no_leak() -> None:
    words = [word for head in (*distance_csv.CSV_HEAD, *distance_csv.PAIRS_HEAD) for word in head.split("_")]
    assert "part" in words
    assert hiding.ordinary(words) == words
