"""``earwitness events``: what its tables say beside the numbers, and what they do not write over."""

import json
from pathlib import Path

import pytest

import earwitness
from earwitness.errors import InputFaults, UserError
from earwitness.events import Event, EventTable, write_json
from earwitness.report.event_tables import EventScores

TRUTH = {
    "a": EventTable((Event("dog", 1.0, 2.0), Event("cat", 4.0, 6.0)), 10.0),
    "b": EventTable((Event("dog", 3.0, 3.5),), 10.0),
}
HEARD = {
    "a": EventTable((Event("dog", 1.1, 2.1), Event("owl", 4.0, 6.0)), 10.0),
    "b": EventTable((Event("dog", 3.0, 3.5), Event("owl", 5.0, 6.0)), 10.0),
}


def folder(path: Path, tables: dict[str, EventTable]) -> Path:
    path.mkdir()
    for name, table in tables.items():
        write_json(path / f"{name}.json", table)
    return path


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return folder(tmp_path / "truth", TRUTH), folder(tmp_path / "ours", HEARD)


def test_a_result_is_replaced_by_one_of_the_same_inputs_alone(
    tmp_path: Path, sides: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, other = tmp_path / "out", folder(tmp_path / "other", TRUTH)
    first = earwitness.score_events(sides[0], {"x": sides[1]}, out=out)
    before = (out / "events.json").read_bytes()
    assert str(tmp_path) not in json.dumps(json.loads(before)["inputs"]), "no path of this machine"

    def refused(*given: object, **how: object) -> tuple[str, ...]:
        with pytest.raises(InputFaults, match="holds a result of other inputs") as fault:
            earwitness.score_events(*given, out=out, **how)  # type: ignore[arg-type]
        assert "Name another folder" in fault.value.remedy
        assert (out / "events.json").read_bytes() == before
        return fault.value.faults

    assert refused(other, {"x": sides[1]}) == ('truth: "../truth" before, now "../other"',)
    assert refused(sides[0], {"x": other}) == ('systems.x: "../ours" before, now "../other"',)
    assert refused(sides[0], {"x": sides[1]}, segment=0.5) == ("segment_s: 1.0 before, now 0.5",)
    assert refused(sides[0], {"x": sides[1]}, outside="leave") == ('outside: "auto" before, now "leave"',)
    assert refused(sides[0], {"x": sides[1]}, own={"owl": "cat"}) == ('map.owl: nothing before, now "cat"',)
    monkeypatch.chdir(tmp_path)  # the same folders, named from elsewhere
    again: EventScores = earwitness.score_events("truth", {"x": "ours"}, out="out", page=0)
    assert again.systems == first.systems
    assert not (out / "index.html").exists()


def test_files_of_another_result_are_not_written_over(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "protocol.md").write_text("of distances")
    with pytest.raises(InputFaults, match=r"protocol\.md is of another result"):
        earwitness.score_events(*sides, out=out)
    (out / "events.json").write_text("{}")
    with pytest.raises(UserError, match="does not say what it was made of"):
        earwitness.score_events(*sides, out=out)
