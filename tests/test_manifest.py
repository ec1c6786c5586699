"""What users have becomes items, or one list of everything that is wrong with it."""

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.errors import InputFaults, UserError
from earwitness.manifest import Item, Manifest, from_outputs, limited, parse_rename, read_manifest


def touch(folder: Path, *names: str) -> None:
    """Files that exist: the manifest never looks at their sound."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"RIFF")


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def faults(path: Path, rename: Mapping[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(InputFaults) as caught:
        read_manifest(path, rename=rename or {})
    return caught.value.faults


# A good manifest


def test_columns_become_items_in_order(tmp_path: Path) -> None:
    touch(tmp_path, "x/b.wav", "a.flac")
    path = write(
        tmp_path / "m.csv",
        "audio,system,sample_id,caption,reversed_caption,first,second,pair_id,mos\n"
        "x/b.wav,ours,1,A dog then a cat,A cat then a dog,a dog,a cat,p1,4.5\n"
        f"{tmp_path}/a.flac, base ,1,,,,,,\n",
    )
    found = read_manifest(path)
    assert found.items == (
        Item(
            "ours",
            "1",
            tmp_path / "x/b.wav",
            "A dog then a cat",
            "A cat then a dog",
            "a dog",
            "a cat",
            "p1",
            row=2,
        ),
        Item("base", "1", tmp_path / "a.flac", "", row=3),
    )
    assert found.notes == ()
    assert found.source == str(path)


def test_system_and_sample_id_have_defaults(tmp_path: Path) -> None:
    folder = tmp_path / "tango v2"
    touch(folder, "1.5 s/a.b.wav")
    found = read_manifest(write(folder / "m.csv", "file_name,caption\n1.5 s/a.b.wav,rain\n"))
    assert [(i.system, i.sample_id) for i in found.items] == [("tango v2", "a.b")]


def test_awkward_captions_and_names_are_kept_to_the_letter(tmp_path: Path) -> None:
    captions = [
        'A dog, then a "cat"',
        "first line\nsecond line",
        " spaced ",
        "'=cmd|' /C calc'!A0",
        "=1+1",
        "<script>alert(1)</script>",
        "犬の後に鐘 🐕→🔔",
        "a\u2028b",
    ]
    names = [f"clip é 音 {n}, 🐕;.wav" for n in range(len(captions))]
    touch(tmp_path, *names)
    with (tmp_path / "m.csv").open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([["audio", "caption"], *zip(names, captions, strict=True)])
    lines = (json.dumps({"audio": n, "caption": c}) for n, c in zip(names, captions, strict=True))
    write(tmp_path / "m.jsonl", "\ufeff" + "\r\n".join(lines) + "\r\n\r\n")
    for path in (tmp_path / "m.csv", tmp_path / "m.jsonl"):
        items = read_manifest(path).items
        assert [i.caption for i in items] == captions
        assert [i.audio.name for i in items] == names


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_separator_is_seen_in_the_header(tmp_path: Path, separator: str) -> None:
    touch(tmp_path, "a.wav")
    row = ["a.wav", '"a dog, then; a cat"']
    lines = ["", separator.join(["audio", " caption "]), "", separator.join(row)]
    found = read_manifest(write(tmp_path / "m.csv", "\r\n".join(lines)))
    assert [(i.caption, i.row) for i in found.items] == [("a dog, then; a cat", 4)]


def test_json_lines_take_integers_and_null(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "b.wav")
    rows = [
        {"audio": "a.wav", "caption": None, "sample_id": 7, "pair_id": 3, "first": None, "extra": {"x": []}},
        {"audio": "b.wav", "caption": "rain", "sample_id": "07"},
    ]
    found = read_manifest(write(tmp_path / "m.jsonl", "\n".join(map(json.dumps, rows))))
    assert [(i.sample_id, i.pair_id, i.caption, i.row) for i in found.items] == [
        ("7", "3", "", 1),
        ("07", "", "rain", 2),
    ]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_folder_with_metadata(tmp_path: Path, kind: str) -> None:
    touch(tmp_path, "a.wav")
    text = "file_name,caption\na.wav,rain\n" if kind == "csv" else '{"file_name": "a.wav", "caption": "rain"}'
    write(tmp_path / f"metadata.{kind}", text)
    assert [(i.audio, i.caption) for i in read_manifest(tmp_path).items] == [(tmp_path / "a.wav", "rain")]


def test_relative_paths_start_at_the_manifest_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path, "clips/a.wav")
    (tmp_path / "lists").mkdir()
    write(tmp_path / "lists/m.csv", "audio,caption\n../clips/a.wav,rain\n")
    monkeypatch.chdir(tmp_path / "lists")
    (item,) = read_manifest(Path("m.csv")).items
    assert item.audio.is_absolute()
    assert item.audio.samefile(tmp_path / "clips/a.wav")
    assert item.system == "lists"


@pytest.mark.realdata
def test_real_folder_loads_without_a_fault(shared_data: Path) -> None:
    found = read_manifest(shared_data / "generated")
    assert len(found.items) == 218
    assert len({i.system for i in found.items}) == 15
    assert all(i.audio.is_file() for i in found.items)
    assert "different samples" in found.notes[0]


# Faults


def test_every_fault_is_listed_at_once(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "b.wav", "c.wav")
    (tmp_path / "folder").mkdir()
    listed = faults(
        write(
            tmp_path / "m.csv",
            "audio,system,sample_id,caption\n"
            "a.wav,ours,1,rain\n"
            "b.wav,ours,1,rain\n"
            "./a.wav,ours,2,rain\n"
            "missing.wav,ours,3,rain\n"
            "folder,ours,4,rain\n"
            ",ours,5,rain\n"
            "c.wav, ,6,rain\n"
            "c.wav,ours,,rain\n"
            "c.wav,ours,7,rain, then wind\n"
            "c.wav,ours\n",
        )
    )
    for part in (
        "rows 2 and 3: 'ours' has the sample '1' twice",
        "rows 2 and 4: 'ours' lists the same file twice",
        f"row 5: no such file: {tmp_path}/missing.wav",
        f"row 6: a folder, not a file: {tmp_path}/folder",
        "row 7: audio must not be empty",
        "row 8: system must not be empty",
        "row 9: sample_id must not be empty",
        "row 10 has 5 cells, the header has 4; is text with a comma unquoted?",
        "row 11 has 2 cells, the header has 4",
    ):
        assert any(part in fault for fault in listed), (part, listed)
    assert len(listed) == 9


def test_colliding_stems(tmp_path: Path) -> None:
    """a.wav and a.mp3 would both be sample a; with ids of their own they are two samples."""
    touch(tmp_path, "a.wav", "a.mp3")
    (fault,) = faults(write(tmp_path / "m.csv", "audio,caption\na.wav,rain\na.mp3,rain\n"))
    assert "rows 2 and 3" in fault
    assert "add a column 'sample_id'" in fault
    path = write(tmp_path / "m.csv", "audio,caption,sample_id\na.wav,rain,1\na.mp3,rain,2\n")
    assert len(read_manifest(path).items) == 2


def test_two_systems_may_share_samples_and_files(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav")
    path = write(tmp_path / "m.csv", "audio,caption,system\na.wav,rain,x\na.wav,rain,y\n")
    assert len(read_manifest(path).items) == 2


def test_of_long_lists_the_first_ten_are_shown(tmp_path: Path) -> None:
    rows = "".join(f"{n}.wav,rain\n" for n in range(120))
    with pytest.raises(InputFaults) as caught:
        read_manifest(write(tmp_path / "m.csv", "audio,caption\n" + rows))
    text = str(caught.value)
    assert "120 faults" in text
    assert text.count("no such file") == 10
    assert "and 110 more" in text
    assert len(caught.value.faults) == 120


def test_missing_columns_name_what_was_found_and_the_remedy(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav")
    path = write(tmp_path / "m.csv", "path,captions\na.wav,rain\n")
    with pytest.raises(InputFaults) as caught:
        read_manifest(path)
    text = str(caught.value)
    assert "no column 'audio' or 'file_name'" in text
    assert "no column 'caption' (did you mean 'captions'?)" in text
    assert "path, captions" in text
    assert "--map" in text
    found = read_manifest(path, rename=parse_rename(["audio=path", " caption = captions "]))
    assert [i.caption for i in found.items] == ["rain"]


def test_rename_that_fits_nothing_is_a_fault(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav")
    path = write(tmp_path / "m.csv", "audio,caption,prompt_text\na.wav,rain,wind\n")
    assert read_manifest(path, rename={"caption": "prompt_text"}).items[0].caption == "wind"
    assert "did you mean 'prompt_text'" in faults(path, {"caption": "prompt_txt"})[0]
    assert "did you mean 'caption'" in faults(path, {"first": "captoin"})[0]
    assert "'captoin' is none of audio, caption" in faults(path, {"captoin": "caption"})[0]


@pytest.mark.parametrize("pairs", [["caption"], ["caption="], ["=x"], ["caption=a", "caption=b"]])
def test_rename_must_be_pairs(pairs: list[str]) -> None:
    with pytest.raises(UserError, match="--map"):
        parse_rename(pairs)


def test_ambiguous_columns_are_faults(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav")
    path = write(tmp_path / "m.csv", "audio,file_name,caption\na.wav,a.wav,rain\n")
    assert "choose one: --map audio=audio" in faults(path)[0]
    assert read_manifest(path, rename={"audio": "file_name"}).items
    path = write(tmp_path / "m.csv", "audio,caption,caption\na.wav,rain,wind\n")
    assert faults(path) == ("the header has the column 'caption' twice",)
    path = write(
        tmp_path / "m.csv", ",audio,caption,,\n0,a.wav,rain,,\n"
    )  # pandas' index, Excel's empty columns
    assert len(read_manifest(path).items) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("audio,caption\na.wav,un caf\xe9\n".encode("latin-1"), "line 2: byte 0xe9 is not UTF-8"),
        ("audio,caption\na.wav,rain\n".encode("utf-16"), "line 1: byte 0xff"),
        ("audio,caption\na.wav,rain\n".encode("utf-16-le"), "line 1: holds a NUL"),
        (b"audio,caption\na.wav,ra\0in\n", "line 2: holds a NUL"),
        (b'audio,caption\na.wav,"rain\nb.wav,wind\n', "row 2, which ends near line 3, is no valid CSV"),
        (b'audio,caption\na.wav,"rain" and wind\n', "row 2.*no valid CSV"),
        (b"audio,caption\na.wav," + b"x" * 200_000 + b"\n", "row 2.*field larger"),
        (b"", "no rows"),
        (b"\n\n", "no rows"),
        (b"audio,caption\n", "no rows"),
    ],
)
def test_files_that_are_no_csv_are_named(tmp_path: Path, content: bytes, words: str) -> None:
    touch(tmp_path, "a.wav")
    (tmp_path / "m.csv").write_bytes(content)
    with pytest.raises(InputFaults, match=words) as caught:
        read_manifest(tmp_path / "m.csv")
    assert str(tmp_path / "m.csv") in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "row 2 is no valid JSON"),
        ("[" * 100_000, "row 2 is no valid JSON"),
        ('["a.wav", "rain"]', "row 2 is no JSON object"),
        (
            '{"audio": "b.wav", "caption": 3, "system": "s", "sample_id": 2}',
            "row 2: 'caption' must be text, not 3",
        ),
        (
            '{"audio": ["b.wav"], "caption": "x", "system": "s", "sample_id": 2}',
            "row 2: 'audio' must be text",
        ),
        (
            '{"audio": "b.wav", "caption": "x", "sample_id": 2, "system": true}',
            "row 2: 'system' must be text, not true",
        ),
        (
            '{"audio": "b.wav", "caption": "x", "system": "s", "sample_id": NaN}',
            "row 2: 'sample_id' must be text, not NaN",
        ),
        ('{"audio": "b.wav", "system": "s", "sample_id": 2}', "row 2: 'caption' is missing"),
        ('{"caption": "x", "system": "s", "sample_id": 2}', "row 2: 'audio' is missing"),
        (
            '{"audio": "b\\u0000.wav", "caption": "x", "system": "s", "sample_id": 2}',
            "row 2: 'audio' holds a NUL",
        ),
        (
            '{"audio": "b.wav", "caption": "\\ud800", "system": "s", "sample_id": 2}',
            "row 2: 'caption' is not valid Unicode",
        ),
    ],
)
def test_stray_json_values_are_named(tmp_path: Path, line: str, words: str) -> None:
    touch(tmp_path, "a.wav", "b.wav")
    good = '{"audio": "a.wav", "caption": "rain", "system": "s", "sample_id": 1}'
    (fault,) = faults(write(tmp_path / "m.jsonl", f"{good}\n{line}\n"))
    assert words in fault


def test_json_lines_without_system_in_one_row(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "b.wav")
    lines = '{"audio": "a.wav", "caption": "x", "system": "s"}\n{"audio": "b.wav", "caption": "x"}\n'
    (fault,) = faults(write(tmp_path / "m.jsonl", lines))
    assert fault == "row 2: system must not be empty"


def test_no_manifest_says_what_is_needed(tmp_path: Path) -> None:
    touch(tmp_path, "clips/a.wav")
    with pytest.raises(UserError, match=r"metadata.csv with the columns file_name and caption.*--prompts"):
        read_manifest(tmp_path / "clips")
    write(tmp_path / "clips/metadata.csv", "")
    write(tmp_path / "clips/metadata.jsonl", "")
    with pytest.raises(UserError, match=r"both metadata\.csv and metadata\.jsonl"):
        read_manifest(tmp_path / "clips")
    write(tmp_path / "manifest.csv", "")
    with pytest.raises(UserError, match=r"did you mean 'manifest\.csv'"):
        read_manifest(tmp_path / "manifst.csv")
    for name in ("m.xlsx", "m.json", "m"):
        with pytest.raises(UserError, match=r"no \.csv, \.tsv or \.jsonl"):
            read_manifest(write(tmp_path / name, ""))
    with pytest.raises(UserError, match="no such file"):
        read_manifest(tmp_path / "nowhere" / "m.csv")


def test_path_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    with pytest.raises(UserError, match="not valid Unicode"):
        read_manifest(write(folder / "m.csv", "audio,caption\n"))


cells = st.text(st.characters(exclude_categories=("Cs",)), max_size=8) | st.sampled_from(
    ["a.wav", "b.wav", "./a.wav", "", "s", " ", "\r", '"', "x" * 300, "\0", "..", "/", "=1"]
)
headers = st.lists(
    st.sampled_from(["audio", "file_name", "caption", "system", "sample_id", "first", "other", ""]) | cells,
    max_size=6,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("given")
    touch(made, "a.wav", "b.wav")
    return made


@given(header=headers, rows=st.lists(st.lists(cells, max_size=6), max_size=5), tab=st.booleans())
@settings(max_examples=300)
def test_any_table_becomes_items_or_faults(
    folder: Path, header: list[str], rows: list[list[str]], tab: bool
) -> None:
    path = folder / "m.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t" if tab else ",").writerows([header, *rows])
    try:
        found = read_manifest(path)
    except InputFaults:
        return
    assert found.items
    assert all(item.audio.is_file() and item.system and item.sample_id for item in found.items)


@given(
    captions=st.lists(
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")), max_size=4
    ),
    data=st.data(),
)
def test_any_caption_survives_csv(folder: Path, captions: list[str], data: st.DataObject) -> None:
    ids = data.draw(
        st.lists(st.uuids().map(str), min_size=len(captions), max_size=len(captions), unique=True)
    )
    with (folder / "m.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["audio", "caption", "system", "sample_id"])
        table.writerows(["a.wav", c, i, "1"] for c, i in zip(captions, ids, strict=True))
    if captions:
        found = read_manifest(folder / "m.csv").items
        assert [(i.caption, i.system) for i in found] == list(zip(captions, ids, strict=True))
    else:
        assert faults(folder / "m.csv") == ("there are no rows",)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["a.wav"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(
    rows=st.lists(
        st.dictionaries(st.sampled_from(["audio", "caption", "sample_id", "system"]), json_values)
        | json_values,
        max_size=4,
    )
)
def test_any_json_becomes_items_or_faults(folder: Path, rows: list[object]) -> None:
    path = write(folder / "m.jsonl", "\n".join(json.dumps(row) for row in rows))
    try:
        found = read_manifest(path)
    except InputFaults:
        return
    assert found.items
    assert all(item.audio.is_file() and item.system and item.sample_id for item in found.items)


# Prompts and a folder for each system


def prompts(tmp_path: Path, ids: Iterable[str] = ("p1", "p2")) -> Path:
    rows = "".join(f"{i},caption {i},pair {i}\n" for i in ids)
    return write(tmp_path / "prompts.csv", "prompt_id,caption,pair_id\n" + rows)


def test_outputs_match_prompts_by_stem(tmp_path: Path) -> None:
    touch(tmp_path / "ours", "p2.wav", "sub/p1.FLAC")
    touch(tmp_path / "base", "p1.ogg", "p2.oga")
    found = from_outputs(
        prompts(tmp_path), {"ours": tmp_path / "ours", "base": tmp_path / "base"}, rename={"first": "pair_id"}
    )
    assert found.items == (
        Item("ours", "p1", tmp_path / "ours/sub/p1.FLAC", "caption p1", "", "pair p1", "", "pair p1", row=2),
        Item("ours", "p2", tmp_path / "ours/p2.wav", "caption p2", "", "pair p2", "", "pair p2", row=3),
        Item("base", "p1", tmp_path / "base/p1.ogg", "caption p1", "", "pair p1", "", "pair p1", row=2),
        Item("base", "p2", tmp_path / "base/p2.oga", "caption p2", "", "pair p2", "", "pair p2", row=3),
    )
    assert found.notes == ()


def test_what_does_not_match_is_listed(tmp_path: Path) -> None:
    touch(tmp_path / "ours", "p1.wav", "extra.wav", "log.txt", "._p1.wav", ".ipynb_checkpoints/p1.wav")
    touch(tmp_path / "base", "p1.opus", "p2.mp3", *(f"x{n:02}.wav" for n in range(14)))
    found = from_outputs(prompts(tmp_path), {"ours": tmp_path / "ours", "base": tmp_path / "base"})
    assert [(i.system, i.sample_id) for i in found.items] == [("ours", "p1"), ("base", "p1"), ("base", "p2")]
    assert found.notes == (
        "ours: files without a prompt (1): extra.wav",
        "ours: prompts without a file (1): p2",
        "ours: ignored files, hidden or no audio (2): ._p1.wav, log.txt",
        f"base: files without a prompt (14): {', '.join(f'x{n:02}.wav' for n in range(10))} and 4 more",
        "the systems have different samples, 1 of 2 in common: ours 1, base 2",
        "ours has no clip of p2",
    )


@pytest.mark.parametrize(
    "id_from", [r"take_(\w+)_seed", r"(?P<seed>\d+)/take_(?P<id>\w+?)_", r"/take_(p\d)|never_(\d)"]
)
def test_id_from_the_path(tmp_path: Path, id_from: str) -> None:
    touch(tmp_path / "ours", "0/take_p1_seed.wav", "1/take_p2_seed.wav", "1/other.wav")
    found = from_outputs(prompts(tmp_path), {"ours": tmp_path / "ours"}, id_from=id_from)
    assert [i.sample_id for i in found.items] == ["p1", "p2"]
    assert found.notes == ("ours: files without a prompt (1): 1/other.wav",)


def test_faults_of_all_systems_at_once(tmp_path: Path) -> None:
    touch(tmp_path / "outputs", "p1.wav", "p1.mp3", "p2.wav")
    touch(tmp_path / "foreign", "clip_p1.wav")
    touch(tmp_path / "empty", "readme.md")
    bad = tmp_path / "bad"
    touch(bad, "p1.wav")
    (bad / os.fsdecode(b"caf\xe9.wav")).write_bytes(b"RIFF")
    (bad / "p2.wav").symlink_to(tmp_path / "gone.wav")
    path = write(tmp_path / "prompts.csv", "prompt_id,caption\np1,a\np2,b\np1,c\n,d\n")
    names = {
        "two": "outputs",
        "none": "foreign",
        "nil": "empty",
        "gone": "output",
        "bad": "bad",
        " ": "outputs",
    }
    with pytest.raises(InputFaults) as caught:
        from_outputs(path, {system: tmp_path / name for system, name in names.items()})
    listed = caught.value.faults
    for part in (
        "rows 2 and 4: the prompt 'p1' twice",
        "row 5: prompt_id must not be empty",
        "two: the prompt 'p1' has two files: p1.mp3 and p1.wav",
        "none: no file in",
        "nil: no audio (.wav .flac",
        f"gone: no such folder: {tmp_path}/output (did you mean 'outputs'?)",
        "bad: an audio file is not valid Unicode",
        "bad: an audio file is a link to nothing",
        "the name of the system in",
    ):
        assert any(part in fault for fault in listed), (part, listed)
    str(caught.value).encode()


def test_no_match_shows_both_kinds_of_ids(tmp_path: Path) -> None:
    touch(tmp_path / "ours", "clip_p1.wav")
    with pytest.raises(InputFaults, match=r"ids clip_p1, the prompts p1, p2; --id-from"):
        from_outputs(prompts(tmp_path), {"ours": tmp_path / "ours"})


@pytest.mark.parametrize(("id_from", "words"), [("(", "no regular expression"), ("p1", "no group")])
def test_id_from_must_be_usable(tmp_path: Path, id_from: str, words: str) -> None:
    touch(tmp_path / "ours", "p1.wav")
    with pytest.raises(UserError, match=words):
        from_outputs(prompts(tmp_path), {"ours": tmp_path / "ours"}, id_from=id_from)


def test_prompts_need_a_system_and_their_columns(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--outputs NAME=FOLDER"):
        from_outputs(prompts(tmp_path), {})
    touch(tmp_path / "ours", "7.wav")
    path = write(tmp_path / "prompts.jsonl", '{"id": 7, "text": "rain"}\n')
    with pytest.raises(InputFaults, match="no column 'prompt_id'"):
        from_outputs(path, {"ours": tmp_path / "ours"})
    found = from_outputs(path, {"ours": tmp_path / "ours"}, rename={"prompt_id": "id", "caption": "text"})
    assert [(i.sample_id, i.caption) for i in found.items] == [("7", "rain")]


# A limit


def made(samples: Mapping[str, Sequence[str]]) -> Manifest:
    items = (Item(s, i, Path("/a.wav"), "rain") for s, ids in samples.items() for i in ids)
    return Manifest(tuple(items), ("a note",), "m.csv")


ids = [f"s{n}" for n in range(200)]


@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 5))
def test_limits_nest_and_are_the_same_for_every_system(few: int, many: int, seed: int) -> None:
    few, many = sorted((few, many))
    manifest = made({"a": ids, "b": ids[::-1]})
    small, large = limited(manifest, few, seed), limited(manifest, many, seed)
    assert set(small.items) <= set(large.items)
    drawn = {s: {i.sample_id for i in small.items if i.system == s} for s in "ab"}
    assert drawn["a"] == drawn["b"]
    assert len(drawn["a"]) == few
    kept = [i for i in manifest.items if i.sample_id in drawn["a"]]
    assert list(small.items) == kept


def test_limit_follows_the_seed_and_not_the_other_rows() -> None:
    first = {i.sample_id for i in limited(made({"a": ids}), 20, 0).items}
    assert first == {i.sample_id for i in limited(made({"a": ids[::-1]}), 20, 0).items}
    assert first != {i.sample_id for i in limited(made({"a": ids}), 20, 1).items}
    longer = {i.sample_id for i in limited(made({"a": [*ids, "new"]}), 20, 0).items}
    assert len(first - longer) <= 1


def test_limit_is_noted_and_systems_left_out_are_named() -> None:
    some = limited(made({"a": ids, "b": ["only"]}), 3, 0)
    assert some.notes[:2] == ("a note", "limited to 3 of 201 samples, drawn with seed 0")
    assert some.notes[2] == "systems without any of these samples: b"
    everything = made({"a": ids})
    assert limited(everything, 200, 0) == everything
    with pytest.raises(UserError, match="at least 1"):
        limited(everything, 0, 0)


def test_a_limit_takes_what_can_be_asked_about_first(tmp_path: Path) -> None:
    items = tuple(Item("s", str(index), tmp_path / f"{index}.wav", "x" * (index % 3)) for index in range(30))
    whole = Manifest(items, (), "m.csv")

    def drawn(limit: int) -> set[str]:
        return {item.sample_id for item in limited(whole, limit, 0, lambda item: bool(item.caption)).items}

    assert all(int(name) % 3 for name in drawn(15))
    assert drawn(5) < drawn(15) < drawn(25)
    assert {name for name in drawn(25) if int(name) % 3} == {str(i) for i in range(30) if i % 3}
