"""Distances as tables: what stands in a cell, what is best, and that nothing is shown without its recipe."""

import csv
import io
import re
from dataclasses import replace

import pytest

from earwitness.errors import UserError
from earwitness.report import distance_tables
from earwitness.tasks.distances import (
    ALL,
    ANCHORS,
    EXCHANGED,
    FLOOR,
    REFERENCE,
    Coverage,
    Distance,
    Distances,
    Recipe,
    joined,
)

RECIPE = Recipe("yamnet", "v_1", {"rate_hz": 16000, "window_s": 0.96}, "ab" * 32, 218)
FEW = "too few: 3 of 1,024"


def distances(*systems: str, recipe: Recipe = RECIPE, parts: tuple[str, ...] = (ALL,)) -> Distances:
    rows = [
        Distance(system, part, metric, at + place / 10, at, at + 1, 40, 50)
        for at, system in enumerate((*systems, FLOOR))
        for place, part in enumerate(parts)
        for metric in ("fad", "kad")
    ]
    rows += [Distance(system, part, "fd", None, n=3, reason=FEW) for system in systems for part in parts]
    rows.append(Distance(REFERENCE, ALL, "is", 7.0))
    covered = [Coverage(name, 50, 49, 48, 1.0, 2.0, 3.0) for name in (REFERENCE, *systems)]
    return Distances(recipe, tuple(rows), tuple(covered), notes=("a note",))


def test_a_missing_number_has_the_letter_of_its_reason():
    (sheet,) = distance_tables.sheets(distances("a", "b"))
    assert sheet.notes == (f"(a) {FEW}",)
    by_name = {name: dict(zip(sheet.heads[1:], cells, strict=True)) for name, cells in sheet.lines}
    assert [by_name[name]["FD ↓"].part for name in ("a", "b", FLOOR)] == ["(a)", "(a)", ""]
    assert by_name["a"]["FD ↓"].text == by_name[FLOOR]["FD ↓"].text == "--"
    assert by_name["a"]["Clips"].text == "49/50"
    assert by_name["a"]["Frames"].text == "40"


def test_an_anchor_stands_last_and_is_never_best():
    found = distances("x", "y")
    rows = tuple(replace(row, value=-1.0) if row.system == FLOOR else row for row in found.rows)
    (sheet,) = distance_tables.sheets(replace(found, rows=rows))
    assert [name for name, _ in sheet.lines] == ["x", "y", REFERENCE, FLOOR]
    best = {name for name, cells in sheet.lines for cell in cells if cell.best}
    assert best == {"x"}


def test_parts_stand_across_a_table_for_each_metric():
    found = distances("a", parts=("Count", "Temporal_Order", ALL))
    whole, *by_part = distance_tables.sheets(found)
    assert whole.metrics == ("fad", "fd", "kad", "is")
    assert [sheet.metrics for sheet in by_part] == [("fad",), ("kad",)], "the others have no number of a part"
    assert by_part[0].heads == ("Set", "Count", "Temporal Order", "all")
    assert [cell.text for cell in by_part[0].lines[0][1]] == ["0.000", "0.100", "0.200"]


@pytest.mark.parametrize("write", [distance_tables.markdown, distance_tables.latex_tables])
def test_every_table_carries_recipe_and_names_to_the_letter(write):
    text = write(distances("a_b|c & $d", parts=("Count", ALL)))
    tables = re.findall(r"\\caption\{(.*)\}\n", text) or [text]
    for one in tables:
        for part in ("yamnet", "16000", "abababababababab", "218", RECIPE.key, "confidence intervals"):
            assert part in one
    assert r"a\_b" in text
    assert r"\$d" in text
    assert "Reference, halved: two disjoint halves" in text
    assert EXCHANGED not in text


def test_csv_has_every_number_in_full_and_nothing_a_spreadsheet_runs():
    found = distances("=cmd()")
    rows = list(csv.DictReader(io.StringIO(distance_tables.csv_text(found))))
    assert len(rows) == len(found.rows)
    assert rows[0]["system"] == "'=cmd()"
    assert {row["recipe"] for row in rows} == {RECIPE.key}
    assert [row["value"] for row in rows if row["metric"] == "fd"] == [""]


def test_a_terminal_shows_as_many_columns_as_have_room():
    (sheet,) = distance_tables.sheets(distances("a", "a long name of a system"))
    (wide,) = distance_tables.pieces(sheet, 200)
    assert wide[1] == list(sheet.heads)
    narrow = list(distance_tables.pieces(sheet, 60))
    assert len(narrow) > 1
    assert [head for _, heads, _ in narrow for head in heads[1:]] == list(sheet.heads[1:])
    assert all(heads[0] == "Set" for _, heads, _ in narrow)


def test_joined_results_keep_every_set_and_one_of_each_anchor():
    first, second = distances("a"), distances("b")
    both = joined(first, replace(second, notes=("another",)))
    assert {row.system for row in both.rows} - ANCHORS.keys() == {"a", "b"}
    keys = [(row.system, row.part, row.metric) for row in both.rows]
    assert len(keys) == len(set(keys))
    assert [row.system for row in both.coverage] == [REFERENCE, "a", "b"]
    assert both.notes == ("a note", "another")
    with pytest.raises(UserError, match="version"):
        joined(first, distances("c", recipe=replace(RECIPE, version="v2")))
