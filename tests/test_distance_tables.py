"""Distances as tables: what stands in a cell, what is best, and that nothing is shown without its recipe."""

import csv
import io
import re
from dataclasses import replace

import pytest

from earwitness.errors import UserError
from earwitness.report import distance_csv, distance_tables, distance_words, tables
from earwitness.tasks.distances import (
    ALL,
    ANCHORS,
    EXCHANGED,
    FLOOR,
    NOT_ACROSS,
    REFERENCE,
    Coverage,
    Distance,
    Distances,
    Recipe,
    joined,
)
from earwitness.tasks.rows import Comparison

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


def by_name(sheet: distance_tables.Sheet) -> dict[str, dict[str, tables.Cell]]:
    return {name: dict(zip(sheet.heads[1:], cells, strict=True)) for name, cells in sheet.lines}


def changed(found: Distances, **values: float) -> Distances:
    """With other values of a metric, by system."""
    rows = (
        replace(row, value=values[row.system], reason="")
        if row.metric == "fd" and row.system in values
        else row
        for row in found.rows
    )
    return replace(found, rows=tuple(rows))


def test_a_missing_number_has_the_letter_of_its_reason():
    (sheet,) = distance_tables.sheets(changed(distances("a", "b"), b=1.5))
    assert sheet.notes[0] == f"(a) {FEW}"
    shown = by_name(sheet)
    assert [shown[name]["FD ↓"].part for name in ("a", "b", FLOOR)] == ["(a)", "", ""]
    assert [shown[name]["FD ↓"].text for name in ("a", "b", FLOOR)] == ["--", "1.50", "--"]
    assert shown["a"]["Clips"].text == "49/50"
    assert shown["a"]["Frames"].text == "40"


def test_a_column_without_any_number_of_a_set_is_left_out_with_one_note():
    found = distances("a", "b")
    rows = (
        replace(row, reason=f"{row.reason} ({row.system})") if row.metric == "fd" else row
        for row in found.rows
    )
    (sheet,) = distance_tables.sheets(replace(found, rows=tuple(rows)))
    assert sheet.heads == ("Set", "Clips", "Frames", "FAD ↓", "KAD ↓")
    assert sheet.notes == (f"Without a column, as no set has a number: FD ({FEW} (a)).",)
    assert [name for name, _ in sheet.lines] == ["a", "b", FLOOR], "the whole reference has IS alone"


def test_anchors_stand_last_with_their_clips_and_nothing_is_best():
    found = changed(distances("x", "y"), x=1.0)
    isd = [Distance(name, ALL, "is", value) for name, value in (("x", 9.0), ("y", 2.0))]
    (sheet,) = distance_tables.sheets(replace(found, rows=(*found.rows, *isd)), roles={"x": "floor"})
    assert [name for name, _ in sheet.lines] == ["y", "x (floor)", REFERENCE, FLOOR]
    assert not [cell for _, cells in sheet.lines for cell in cells if cell.best]
    shown = by_name(sheet)
    assert shown[FLOOR]["Clips"].text == shown[FLOOR]["Frames"].text == "40 + 50"
    assert shown[REFERENCE]["Frames"].text == "50"
    assert shown[REFERENCE]["Clips"].text == "49/50"
    more = (replace(found.coverage[0], clips=72, used=72), *found.coverage[1:])
    (sheet,) = distance_tables.sheets(replace(found, rows=(*found.rows, *isd), coverage=more))
    assert by_name(sheet)[REFERENCE]["Clips"].text == "50", "those that every set is held against"


@pytest.mark.parametrize(
    ("value", "low", "high", "texts"),
    [
        (-1.486, -2.549, -0.4231, ("-1.49", "-2.55", "-0.42")),
        (0.0030, 0.0013, 0.0047, ("0.0030", "0.0013", "0.0047")),
        (2271.836, 2062.3, 2481.4, ("2272", "2062", "2481")),
        (0.0, None, None, ("0", "", "")),
        (0.0, 0.0, 1e-9, ("0", "0", "0")),
        (0.99951, None, None, ("1.000", "", "")),
        (1e-7, -1e-7, 2e-7, ("0.0000", "0.0000", "0.0000")),
    ],
)
def test_numbers_have_three_digits_counted_at_the_largest(value, low, high, texts):
    cell = distance_tables.cell(Distance("a", ALL, "kad", value, low, high))
    assert (cell.text, cell.low, cell.high) == texts
    plain = distance_tables.cell(
        Distance("a", ALL, "kad", value, low, high), tables.TableOptions(interval="none")
    )
    assert (plain.text, plain.low) == (texts[0], "")


def test_parts_stand_across_a_table_for_each_metric():
    found = distances("a", parts=("Count", "Temporal_Order", ALL))
    whole, *by_part = distance_tables.sheets(found)
    assert whole.metrics == ("fad", "kad")
    assert [sheet.metrics for sheet in by_part] == [("fad",), ("kad",)], "the others have no number of a part"
    assert by_part[0].heads == ("Set", "Count", "Temporal Order", "all")
    assert [cell.text for cell in by_part[0].lines[0][1]] == ["0.00", "0.10", "0.20"]


@pytest.mark.parametrize("write", [distance_tables.markdown, distance_tables.latex_tables])
def test_every_table_carries_recipe_and_names_to_the_letter(write):
    text = write(distances("a_b|c & $d", parts=("Count", ALL)))
    for one in text.split(r"\begin{table*}")[1:] or [text]:
        for part in (
            "yamnet",
            "rate 16000 Hz",
            "window 0.96 s",
            "abababababababab",
            "218",
            RECIPE.key,
            "confidence intervals",
        ):
            assert part in one
    assert r"a\_b" in text
    assert r"\$d" in text
    assert "Reference, halved: two disjoint halves" in text
    assert EXCHANGED not in text
    captions = re.findall(r"\\caption\{(.*)\}\n", text)
    assert all(len(caption) < 100 for caption in captions), "the recipe is spelt out in a note"


def test_csv_has_every_number_in_full_and_nothing_a_spreadsheet_runs():
    found = distances("=cmd()")
    rows = list(csv.DictReader(io.StringIO(distance_csv.csv_text(found))))
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
    (long,) = distance_tables.sheets(distances("PicoAudio-simulated-reference"))
    ((_, _, lines),) = distance_tables.pieces(long, 200)
    assert lines[0][0] == ["PicoAudio-simulated-", "reference"], "broken between words"


def test_joined_results_keep_every_set_and_one_of_each_anchor():
    first, second = distances("a"), distances("b")
    both = joined(first, replace(second, notes=("another",)))
    assert {row.system for row in both.rows} - ANCHORS.keys() == {"a", "b"}
    keys = [(row.system, row.part, row.metric) for row in both.rows]
    assert len(keys) == len(set(keys))
    assert [row.system for row in both.coverage] == [REFERENCE, "a", "b"]
    assert both.notes == ("a note", "another", NOT_ACROSS)
    with pytest.raises(UserError, match="version"):
        joined(first, distances("c", recipe=replace(RECIPE, version="v2")))


def test_a_set_of_fewer_usable_clips_is_marked_and_csv_says_why_there_is_no_interval():
    found = distances("a", "b")
    coverage = tuple(replace(c, used=c.used - 9) if c.system == "b" else c for c in found.coverage)
    unsure = Distance("a", ALL, "kl", 1.0, n=3, no_interval="fewer than 10 clusters of clips")
    found = replace(found, coverage=coverage, rows=(*found.rows, unsure))
    (sheet,) = distance_tables.sheets(found)
    assert [name for name, _ in sheet.lines][:2] == ["a", "b ¶"]
    assert distance_tables.FEWER_NOTE in sheet.notes
    (plain,) = distance_tables.sheets(found, roles={"b": "floor"})
    assert distance_tables.FEWER_NOTE not in plain.notes, "a baseline is no rival"
    rows = csv.DictReader(io.StringIO(distance_csv.csv_text(found)))
    assert [row["no_interval"] for row in rows if row["metric"] == "kl"] == [unsure.no_interval]


def test_the_reference_side_is_counted_where_it_is_not_of_one_size_for_all():
    found = distances("a", "b")
    assert "Ref. clips" not in distance_tables.sheets(found)[0].heads
    rows = tuple(replace(row, reference_n=33) if row.system == "b" else row for row in found.rows)
    (sheet,) = distance_tables.sheets(replace(found, rows=rows))
    by_name = {name: dict(zip(sheet.heads[1:], cells, strict=True)) for name, cells in sheet.lines}
    for head in ("Ref. clips", "Ref. frames"):
        assert [by_name[name][head].text for name in ("a", "b", FLOOR)] == ["50", "33", "--"]


@pytest.mark.parametrize("change", [{"pairing": "other"}, {"captions": "c" * 64}, {"seed": 7}])
def test_pairs_captions_and_seed_are_told_and_keep_results_apart(change):
    (name,) = change
    other = distances("b", recipe=replace(RECIPE, **change))
    assert str(change[name])[:16] in distance_words.recipe_words(other.recipe)
    with pytest.raises(UserError, match=f"- {name}: "):
        joined(distances("a"), other)


def test_which_set_is_nearer_stands_in_a_table_of_its_own_and_in_a_csv():
    pairs = (
        Comparison("fad", "a", "b", 40, -2.0, -3.0, -1.0, 0.001, 0.002, "a", items=40),
        Comparison(
            "fad", "a", "c", 40, 0.5, -0.5, 1.5, 0.3, 0.3, note="over all clips of both, none paired by name"
        ),
        Comparison("is", "a", "b", 40, -1.0, -1.5, -0.5, 0.001, 0.001, "b", items=40),
        Comparison("kad", "b", "c", 0, None, None, None, None, None, note="not compared: few"),
    )
    found = replace(distances("a", "b", "c"), comparisons=pairs)
    whole, nearer = distance_tables.sheets(found, tables.TableOptions(names={"a": "Ours"}, interval="none"))
    says = {(name, cells[0].text): (cells[-1].text, cells[-1].part) for name, cells in nearer.lines}
    assert says == {
        ("Ours less b", "FAD"): ("Ours nearer", ""),
        ("Ours less c", "FAD"): ("not told apart", "(a)"),
        ("Ours less b", "IS"): ("b higher", ""),
        ("b less c", "KAD"): (tables.NONE, "(b)"),
    }
    assert nearer.lines[0][1][2] == tables.Cell("-2.00", "-3.00", "-1.00")
    assert "(b) not compared: few" in nearer.notes
    assert [sheet.title for sheet in distance_tables.sheets(replace(found, comparisons=()))] == [whole.title]
    assert "tab:distances:pairs" in distance_tables.latex_tables(found)
    rows = list(csv.DictReader(io.StringIO(distance_csv.pairs_csv(found))))
    assert [row["winner"] for row in rows] == ["a", "", "b", ""]
    assert {row["recipe"] for row in rows} == {RECIPE.key}


def test_a_terminal_shows_first_what_tells_sets_apart():
    unclear = [Comparison("fad", "a", f"x{i}", 40, 0.5, -0.5, 1.5, 0.3, 0.3, items=40) for i in range(20)]
    won = Comparison("kad", "a", "b", 40, -2.0, -3.0, -1.0, 0.001, 0.002, "a", items=40)
    found = replace(distances("a", "b"), comparisons=(*unclear, won))
    whole, nearer = map(distance_tables.told_apart, distance_tables.sheets(found))
    assert len(whole.lines) == 3
    assert [cells[-1].text for _, cells in nearer.lines] == ["a nearer"] + ["not told apart"] * 14
    assert "6 more lines are in distance_pairs.csv." in nearer.notes
