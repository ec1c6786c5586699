"""The report's writers, read back the way a user's tools read them."""

import csv
import html
import io
import json
import re
from dataclasses import replace

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from earwitness.errors import UserError
from earwitness.report import protocol, tables, terminal
from earwitness.report.cells import csv_rows, one_line, safe
from earwitness.report.comparison_words import sentence
from earwitness.report.latex import latex
from earwitness.report.replies import COLUMNS, write_replies
from earwitness.report.summary_files import summary_csv, summary_json, write_json
from earwitness.report.tables import (
    TableOptions,
    markdown,
)
from earwitness.stats.intervals import paired_difference
from earwitness.tasks.edit_judged import measures as edits_by_judges
from earwitness.tasks.rows import Comparison, Measures, Metric, MetricSpec, Summary, SystemRow
from pages import EDIT, edit, systems_of

SPECS = (
    MetricSpec("toa", "TOA", "order right"),
    MetricSpec("order_given_heard", "Order | heard", "order right where all was heard"),
    MetricSpec("event_recall", "Recall", "share heard"),
    MetricSpec("alignment_loss", "Loss", "below the reversal", better=-1),
)
ORDER = Measures(
    specs=SPECS,
    key="toa",
    columns=("toa", "order_given_heard", "event_recall", "n", "scored", "coverage"),
    verdicts={"right": "Right", "wrong": "Wrong"},
    kinds={"missing": "not heard", "reversed": "the other way round"},
    cluster="a room",
    baselines={"base": "does nothing"},
)
NASTY = ('=HYPERLINK("x")', "a|b_c & 100% #1 ~^\\{$x$}", "[red]tango[/red]\x1b[2J", "音声, モデル 😀")


def row(system, toa, *, scored=40, unheard=0, not_applicable=10, heard=0.9, loss=0.1):
    n = scored + unheard + not_applicable
    applicable = scored + unheard
    value = None if toa is None else Metric(toa, toa - 0.05, min(1.0, toa + 0.05), toa * 0.9, 1.0, scored)
    return SystemRow(
        system=system,
        n=n,
        not_applicable=not_applicable,
        unheard=unheard,
        scored=scored,
        coverage=scored / applicable if applicable else None,
        metrics={
            "toa": value or Metric(None),
            "order_given_heard": Metric(heard, n=scored),
            "event_recall": Metric(0.75, 0.7, 0.8, n=scored),
            "alignment_loss": Metric(loss, 0.0, 0.2, n=scored),
        },
        errors={"missing": 3, "reversed": 1} if scored else {},
        unheard_reasons={"unmapped": unheard} if unheard else {},
    )


def summary(*rows, comparisons=(), notes=("a note",)):
    return Summary("order", "yamnet", ORDER, rows, comparisons, notes)


NAMED = summary(*(row(name, 0.5 + 0.1 * i, unheard=5 * i) for i, name in enumerate(NASTY)))


def strict(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


# Cells


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1 555", "-x", "@sum", "\tx", "\rx", "  =1", " \n@x", "-", "＝1", "--5"]
)
def test_cells_that_a_spreadsheet_would_run_get_an_apostrophe(cell):
    assert safe(cell) == "'" + cell


@pytest.mark.parametrize(
    "cell", ["", "a=1", "-0.5", "+3", "-1e-05", "1.", "-.5", "plain", "a@b", "'=1", " x"]
)
def test_other_cells_stay(cell):
    assert safe(cell) == cell


@given(st.text())
def test_no_cell_begins_as_a_formula(text):
    first = safe(text).lstrip()[:1]
    number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)
    assert first not in {"=", "+", "-", "@"} or number
    assert safe(text).endswith(text)


@given(st.text())
def test_one_line_holds_nothing_a_terminal_or_xml_would_act_on(text):
    shown = one_line(text)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in shown)
    assert one_line(shown) == shown


@given(
    st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=2, max_size=3))
)
def test_csv_rows_are_read_back_whatever_the_cells_hold(rows):
    text = io.StringIO()
    write = csv_rows(text)
    for cells in rows:
        write(cells)
    assert list(csv.reader(io.StringIO(text.getvalue(), newline=""))) == rows


# JSON and CSV


def test_summary_json_has_the_promised_shape(tmp_path):
    comparison = Comparison("toa", "a", "b", 12, 0.1, 0.02, 0.2, 0.01, 0.02, "a")
    found = summary(row("a", 0.8), row("b", 0.7), comparisons=(comparison,))
    write_json(tmp_path / "summary.json", summary_json(found))
    data = strict((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert (data["task"], data["listener"], data["key_metric"], data["notes"]) == (
        "order", "yamnet", "toa", ["a note"],
    )  # fmt: skip
    first = data["rows"][0]
    assert first["n"] == first["not_applicable"] + first["unheard"] + first["scored"]
    assert first["coverage"] == 1
    assert first["toa"] == {
        "value": 0.8,
        "low": 0.75,
        "high": 0.8500000000000001,
        "worst": 0.8 * 0.9,
        "best": 1,
    }
    assert (first["errors"], first["unheard_reasons"]) == ({"missing": 3, "reversed": 1}, {})
    assert first["metric_n"]["toa"] == 40
    assert data["comparisons"][0]["winner"] == "a"
    assert set(data["comparisons"][0]) >= {
        "first",
        "second",
        "clusters",
        "difference",
        "low",
        "high",
        "p",
        "p_holm",
    }


def test_json_has_no_nan(tmp_path):
    """What is unscored is null with a reason; a NaN that slipped in stops the writer."""
    lacking = replace(row("b", 0.7), metrics={**row("b", 0.7).metrics, "event_recall": Metric(None)})
    data = strict(json.dumps(summary_json(summary(row("a", None, scored=0, unheard=3), lacking))))
    assert data["rows"][0]["toa"] == dict.fromkeys(("value", "low", "high", "worst", "best"))
    assert data["rows"][0]["coverage"] == 0
    assert data["rows"][1]["event_recall"]["value"] is None
    assert any("event_recall" in note and "b" in note for note in data["notes"])
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", summary_json(summary(row("a", float("nan")))))


def test_empty_bucket():
    """A system with nothing applicable has a row, null coverage and an empty cell, and stops nothing."""
    found = summary(row("none", None, scored=0), row("some", 0.5))
    assert summary_json(found)["rows"][0]["coverage"] is None
    assert "| none | -- |" in markdown(found, TableOptions())
    assert latex(found, TableOptions()).count("none & --") == 1


def test_summary_csv_is_read_back_by_csv_and_polars(tmp_path):
    text = summary_csv(NAMED)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [r["system"] for r in rows] == ["'" + NASTY[0], *NASTY[1:]]
    assert float(rows[2]["toa_low"]) == NAMED.rows[2].metrics["toa"].low
    assert rows[3]["unheard_unmapped"] == "15"
    assert rows[0]["order_given_heard_low"] == ""
    (tmp_path / "summary.csv").write_text(text, encoding="utf-8")
    frame = polars.read_csv(tmp_path / "summary.csv")
    assert frame["toa"].to_list() == [r.metrics["toa"].value for r in NAMED.rows]
    assert frame["order_given_heard_low"].null_count() == len(NASTY)
    assert frame["error_missing"].to_list() == [3] * len(NASTY)


# Markdown


def rendered_cells(text):
    """The table's cells as a markdown reader shows them."""
    page = MarkdownIt("commonmark").enable("table").render(text)
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    return [
        [
            html.unescape(re.sub(r"</?strong>", "*", cell))
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", r)
        ]
        for r in rows
    ]


def test_markdown_shows_every_name_as_it_is_ranked_and_marked():
    head, *rows = rendered_cells(markdown(NAMED, TableOptions()))
    assert head == ["System", "TOA", "Order | heard", "Recall", "n", "Scored", "Coverage"]
    shown = [one_line(name) for name in reversed(NASTY)]
    assert [cells[0] for cells in rows] == [shown[0] + " †", shown[1] + " †", shown[2] + " †", shown[3]]
    assert [cells[1] for cells in rows] == [
        "0.800 [0.750, 0.850]", "0.700 [0.650, 0.750]", "0.600 [0.550, 0.650]", "0.500 [0.450, 0.550]",
    ]  # fmt: skip
    assert "† Fewer than 95 %" in markdown(NAMED, TableOptions())
    assert "†" not in markdown(summary(row("a", 0.5)), TableOptions())


def test_options_choose_columns_decimals_names_percent():
    options = TableOptions(
        columns=("alignment_loss", "coverage", "toa"),
        decimals=1,
        names={"a": "Ours"},
        percent=True,
        caption="Hi",
    )
    text = markdown(summary(row("a", 0.8123), row("b", 0.7)), options)
    assert rendered_cells(text) == [
        ["System", "Loss (%)", "Coverage (%)", "TOA (%)"],
        ["Ours", "10.0 [0.0, 20.0]", "100.0", "81.2 [76.2, 86.2]"],
        ["b", "10.0 [0.0, 20.0]", "100.0", "70.0 [65.0, 75.0]"],
    ]
    assert text.startswith("Hi\n")
    none = markdown(summary(row("a", 0.8123)), TableOptions(columns=("toa",), percent=True, interval="none"))
    assert rendered_cells(none)[1] == ["a", "81.2"]


def test_columns_may_be_named_as_the_tables_show_them():
    found = summary(row("ours", 0.7), row("base", 0.5))
    spec = found.specs[0]
    titled = tables.TableOptions(columns=(spec.title, "n.a.", spec.title.upper(), "Coverage"))
    named = tables.TableOptions(columns=(spec.name, "not_applicable", spec.name, "coverage"))
    assert tables.markdown(found, titled) == tables.markdown(found, named)
    assert tables.named(titled, found.specs).columns == named.columns


def test_baselines_stand_in_the_tasks_order_whatever_they_score():
    order = ("still", "random", "copy")
    measures = replace(ORDER, baselines=dict.fromkeys(order, "does no work"))
    rows = [replace(row(name, toa), baseline=True) for name, toa in zip(order, (0.1, None, 0.9), strict=True)]
    found = replace(summary(row("ours", 0.2), *reversed(rows)), measures=measures)
    assert [one.system for one in tables.ranked(found)] == ["ours", *order]


def test_ratings_are_never_shown_as_percentages_however_low_they_are():
    marks = (replace(SPECS[0], scale=(1.0, 5.0)), replace(SPECS[2], scale=None), SPECS[1])
    rated = replace(summary(row("a", 1.0)), measures=replace(ORDER, specs=marks))
    options = TableOptions(
        columns=("toa", "event_recall", "order_given_heard"), percent=True, interval="none"
    )
    assert rendered_cells(markdown(rated, options)) == [
        ["System", "TOA", "Recall", "Order | heard (%)"],
        ["a", "1.000", "0.750", "90.0"],
    ]


def bold(found, column, **options):
    rows = rendered_cells(markdown(found, TableOptions(columns=(column,), interval="none", **options)))[1:]
    return [cells[0] for cells in rows if cells[1].startswith("*")]


def ahead(first, second, metric="toa"):
    return Comparison(metric, first, second, 40, 0.1, 0.02, 0.2, 0.01, 0.02, first, items=40)


def undecided(first, second, metric="toa"):
    return Comparison(metric, first, second, 4, 0.1, -0.02, 0.2, 0.25, 0.5, items=4)


def test_a_value_is_bold_only_if_it_wins_every_paired_comparison():
    systems = (row("a", 0.8, loss=0.3), row("b", 0.9, loss=0.1), row("c", 0.7, loss=0.2))
    best = (ahead("b", "a"), ahead("b", "c"))
    assert bold(summary(*systems), "toa") == []  # the highest value alone says nothing
    assert bold(summary(*systems, comparisons=best), "toa") == ["b"]
    assert bold(summary(*systems, comparisons=best), "alignment_loss") == []  # of another metric
    less = tuple(replace(pair, metric="alignment_loss") for pair in best)
    assert bold(summary(*systems, comparisons=less), "alignment_loss") == ["b"]
    for second in (undecided("b", "a"), replace(undecided("b", "a"), difference=None), ahead("c", "a")):
        assert bold(summary(*systems, comparisons=(second, ahead("b", "c"))), "toa") == []
    # ahead on the shared items, but not by the numbers of the table
    assert bold(summary(*systems, comparisons=(ahead("a", "b"), ahead("a", "c"))), "toa") == []
    assert bold(summary(*systems, comparisons=best), "coverage") == []
    assert bold(summary(*systems, comparisons=best), "toa", bold_best=False) == []
    assert bold(summary(row("a", 0.8)), "toa") == []
    unscored = row("c", None, scored=0)
    assert bold(summary(*systems[:2], unscored, comparisons=best[:1]), "toa") == ["b"]


def test_what_bold_means_stands_below_a_table_that_has_it_and_no_other():
    systems = (row("a", 0.8), row("b", 0.7))
    won = summary(*systems, comparisons=(ahead("a", "b"),))
    for write in (markdown, latex):
        assert "ahead of every other system" in write(won, TableOptions())
        assert "ahead of every other" not in write(summary(*systems), TableOptions())
        assert "ahead of every other" not in write(won, TableOptions(bold_best=False))


def test_a_baseline_is_never_best_and_comes_last():
    base = replace(row("base", 0.9, loss=0.0), baseline=True)
    won = (ahead("a", "b"), ahead("a", "b", "alignment_loss"))
    found = summary(base, row("a", 0.8), row("b", 0.7, loss=0.2), comparisons=won)
    assert bold(found, "toa") == ["a"]
    assert bold(found, "alignment_loss") == ["a"]
    assert bold(summary(base, row("a", 0.8)), "toa") == []
    for text in (markdown(found, TableOptions()), latex(found, TableOptions()), printed(found)):
        assert text.index("base (baseline)") > text.index("0.700")
    assert summary_json(found)["rows"][0]["baseline"] is True


def test_a_value_that_rests_on_part_of_the_scored_items_says_so():
    part = row("a", 0.8, scored=40)
    part = replace(part, metrics={**part.metrics, "event_recall": Metric(0.75, 0.7, 0.8, n=5)})
    found = summary(part, row("b", 0.7))
    options = TableOptions(columns=("toa", "event_recall", "coverage"))
    assert rendered_cells(markdown(found, options))[1:] == [
        ["a", "0.800 [0.750, 0.850]", "0.750 [0.700, 0.800] (n=5)", "1.000"],
        ["b", "0.700 [0.650, 0.750]", "0.750 [0.700, 0.800]", "1.000"],
    ]
    assert r"0.750 [0.700, 0.800] {\footnotesize (n=5)} &" in latex(found, options)
    for text in (markdown(found, options), latex(found, options), printed(found)):
        assert text.count("(n=5)") == 1
        assert " ".join(text.split()).count("rests on so many of the scored items") == 1
    for text in (markdown(summary(row("b", 0.7)), options), printed(summary(row("b", 0.7)))):
        assert "n=" not in text


def test_shares_of_verdicts_stand_in_every_table_of_a_judge():
    measures = edits_by_judges(swap=False)
    shares = dict(zip(measures.verdicts, (0.5, 0.125, 0.25, 0.0625, 0.0625), strict=True))
    values = {spec.name: Metric(3.0, 2.9, 3.1, n=16) for spec in measures.specs}
    values |= {f"verdict_{verdict}": Metric(share, 0.0, 1.0, n=16) for verdict, share in shares.items()}
    rows = tuple(
        SystemRow(name, 16, 0, 0, 16, 1.0, values) for name in ("AUDIT", "a_rather_long_system_name")
    )
    found = Summary("edit", "ear", measures, rows, (), ())
    head, first, _ = rendered_cells(markdown(found, TableOptions(interval="none")))
    told = dict(zip(head, first, strict=True))
    expected = {"Good edit": "0.500", "Over-edit": "0.125", "Under-edit": "0.250", "Failed": "0.062"}
    assert expected.items() <= told.items()
    assert all(title in latex(found, TableOptions()) for title in (*expected, "Tie"))
    lines = printed(found, 80).splitlines()
    assert max(map(len, lines)) <= 80
    at = next(k for k, line in enumerate(lines) if "Shares of verdicts" in line)
    assert all(title in " ".join(lines[at + 1 : at + 3]) for title in (*expected, "Tie"))
    shown = next(line for line in lines[at:] if "AUDIT" in line)
    assert shown.split()[1:] == ["0.500", "0.125", "0.250", "0.062", "0.062", "16"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": ("toe",)}, "no column 'toe'.*\n.*Did you mean 'toa'"),
        ({"names": {"our": "Ours"}}, "no system 'our'.*\n.*Known: ours"),
        ({"decimals": -1}, "-1 decimals"),
        ({"label": "tab:a}b"}, "no LaTeX label"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(UserError, match=words):
        latex(summary(row("ours", 0.5)), TableOptions(**options))


# LaTeX. There is no TeX here, so structure and escapes are checked, not compilation.


def unescaped(text, characters):
    return re.findall(rf"(?<!\\)[{re.escape(characters)}]", text)


def table_rows(text):
    return text.split("\\midrule\n")[1].split("\\bottomrule")[0].splitlines()


@pytest.mark.parametrize("interval", ["brackets", "subscript", "none"])
def test_latex_is_balanced_and_every_row_has_all_cells(interval):
    text = latex(NAMED, TableOptions(interval=interval))
    depth = 0
    for c in re.sub(r"\\[{}\\]", "", text):
        depth += (c == "{") - (c == "}")
        assert depth >= 0
    assert depth == 0
    assert sorted(re.findall(r"\\begin{(\w+)}", text)) == sorted(re.findall(r"\\end{(\w+)}", text))
    columns = re.search(r"\\begin{tabular}{(l\w+)}", text)[1]
    for line in table_rows(text):
        assert len(unescaped(line, "&")) == len(columns) - 1
        assert line.endswith(r" \\")
        assert not line.startswith(("[", "*"))
        assert len(unescaped(line, "$")) % 2 == 0
        assert not unescaped(line, "#%~")
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\usepackage{booktabs}"))


def test_latex_escapes_names_and_keeps_unicode():
    text = latex(summary(*(row(name, 0.5) for name in (*NASTY, "x--y''z", "*star"))), TableOptions())
    names = [line.split(" & ")[0] for line in table_rows(text)]
    assert (
        r"a\textbar{}b\_c \& 100\% \#1 \textasciitilde{}\textasciicircum{}\textbackslash{}\{\$x\$\}" in text
    )
    assert "{}[red]tango[/red]\\textbackslash{}x1b[2J" in names
    assert "音声, モデル 😀" in names
    assert "x-{}-y'{}'z" in names
    assert "{}*star" in names


def test_latex_cells():
    systems = (row("a", 0.8, unheard=10), row("b", 0.7), row("c", None, scored=0, unheard=4))
    found = summary(*systems, comparisons=(ahead("a", "b"),))
    lines = table_rows(latex(found, TableOptions(columns=("toa", "n"))))
    assert lines == [
        r"a$^{\dagger}$ & \textbf{0.800} [0.750, 0.850] & 60 \\",
        r"b & 0.700 [0.650, 0.750] & 50 \\",
        r"c$^{\dagger}$ & -- & 14 \\",
    ]
    text = latex(
        found, TableOptions(columns=("toa",), interval="subscript", caption="50 % & more", label="tab:x_1")
    )
    assert r"\textbf{0.800}$_{[0.750, 0.850]}$" in text
    assert r"\caption{50 \% \& more}" in text
    assert r"\label{tab:x_1}" in text
    assert text.count(r"$^{\dagger}$Fewer than 95 \%") == 1
    below_zero = replace(
        row("a", 0.5), metrics={**row("a", 0.5).metrics, "toa": Metric(-0.5, -0.9, -0.0001, n=40)}
    )
    assert "$-$0.500 [$-$0.900, 0.000]" in latex(summary(below_zero), TableOptions())


# Terminal


def printed(found, width=120, names=None):
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    for table in terminal.tables(found, names):
        console.print(table)
    return console.file.getvalue()


def test_terminal_shows_names_literally_best_first():
    text = printed(NAMED)
    assert "\x1b" not in text
    places = [text.index(one_line(name)) for name in reversed(NASTY)]
    assert places == sorted(places)
    assert "0.800 [0.750, 0.850]" in text
    assert "72.7%†" in text
    assert "0.720, 1.000" in text  # if every unheard item were wrong, or right
    assert "reversed" in text


@pytest.mark.parametrize("width", [60, 80])
def test_numbers_survive_a_narrow_terminal(width):
    text = printed(summary(row("a_rather_long_system_name", 0.8, unheard=9), row("b", 0.7)), width)
    assert "0.800 [0.750, 0.850]" in text
    assert "40/59" in text
    assert max(map(len, text.splitlines())) <= width


def test_many_comparisons_are_cut_down_to_those_of_the_leader():
    names = [f"s{i:02}" for i in range(30)]
    pairs = tuple(
        Comparison("toa", a, b, 9, 0.1, 0.05, 0.3, 0.001, 0.01, a)
        for i, a in enumerate(names)
        for b in names[:i]
    )
    text = printed(summary(*(row(name, 0.3 + 0.01 * i) for i, name in enumerate(names)), comparisons=pairs))
    assert text.count("s29 is ahead of") == text.count("is ahead of") == 29
    assert "406 more are in" in text


def test_pairs_without_a_winner_are_told_while_few_and_else_counted():
    def told(count):
        pairs = [Comparison("toa", "a", f"b{i}", 9, 0.1, -0.1, 0.3, 0.5, 1.0) for i in range(count)]
        won = Comparison("toa", "a", "c", 9, 0.2, 0.1, 0.3, 0.001, 0.01, "a")
        return printed(summary(row("a", 0.5), row("c", 0.3), comparisons=(*pairs, won)))

    assert told(3).count("No winner between a and b") == 3
    many = told(4)
    assert "No winner between" not in many
    assert "No winner in the other 4 pairs" in many
    assert "a is ahead of c" in many


def edited(comparisons=()):
    rows = []
    for index, name in enumerate(("AUDIT", "a_rather_long_name_of_a_system", "base")):
        marks = {
            "edit_success": 4.5 - index,
            "nontarget_preservation": 2.0 + index,
            "temporal_preservation": 5.0,
        }
        values = {**marks, "naturalness": 1.0, "joint_success": 0.0, "level_change_db": -12.5 * index}
        rows += [edit(n, "a.wav", "s.wav", system=name, values=values) for n in range(3)]
    return systems_of(rows, EDIT, comparisons=comparisons)


def test_an_edit_run_as_csv_markdown_and_latex():
    found = edited()
    rows = list(csv.DictReader(io.StringIO(summary_csv(found), newline="")))
    assert [r["edit_success"] for r in rows] == ["4.5", "3.5", "2.5"]
    assert float(rows[1]["level_change_db"]) == -12.5
    head, *body = rendered_cells(markdown(found, TableOptions(interval="none")))
    assert head == ["System", "Success", "Preservation", "Timing kept", "Naturalness", "Joint success", "n"]
    assert body[0] == ["AUDIT", "4.50", "2.00", "5.00", "1.00", "0.000", "3"]
    assert body[2] == ["base", "2.50", "4.00", "5.00", "1.00", "0.000", "3"]
    lines = table_rows(latex(found, TableOptions(columns=("level_change_db", "unheard"), percent=True)))
    assert lines[2] == r"base & $-$25.000 [$-$26.250, $-$23.750] & 0 \\"


@pytest.mark.parametrize("width", [72, 80])
def test_the_usual_metrics_stand_beside_each_other_in_a_narrow_terminal(width):
    text = printed(edited(), width, {"base": "Baseline"})
    assert max(map(len, text.splitlines())) <= width
    for shown in ("4.50 [4.28, 4.72]", "Preservation", "Timing", "[1.90, 2.10]", "Joint"):
        assert shown in text
    assert "Level change" not in text  # not one of the usual
    assert "Baseline" in text
    assert " base " not in text


def test_comparisons_in_a_terminal_are_by_metric_the_key_metric_in_full():
    pairs = (
        Comparison("nontarget_preservation", "AUDIT", "base", 9, -2.0, -2.5, -1.5, 0.001, 0.01, "base"),
        Comparison("nontarget_preservation", "AUDIT", "x", 9, 0.1, -2.5, 1.5, 0.5, 1.0),
        Comparison("nontarget_preservation", "x", "base", 0, None, None, None, None, None),
        Comparison("edit_success", "AUDIT", "base", 9, 2.0, 1.5, 2.5, 0.001, 0.01, "AUDIT"),
        Comparison("level_change_db", "AUDIT", "base", 9, 2.0, 1.5, 2.5, 0.001, 0.01),
    )
    text = " ".join(printed(edited(pairs), 120, {"base": "Baseline"}).split())
    assert "Paired comparisons: Success AUDIT is ahead of Baseline by 2.00 [1.50, 2.50]" in text
    assert "Preservation: Baseline ahead of AUDIT; no winner in 1 pair; 1 pair not comparable." in text
    assert "Level change:" not in text  # more of it is neither better nor worse


@pytest.mark.parametrize(
    ("comparison", "better", "words"),
    [
        (("a", "b", 48, 0.12, 0.03, 0.21, 0.005, 0.01, "a"), 1,
         "a is ahead of b by 0.120 [0.030, 0.210], p = 0.010 (Holm), 60 shared items in 48 clusters."),
        (("a", "b", 48, -0.12, -0.21, -0.03, 0.0, 0.0001, "b"), 1,
         "b is ahead of a by 0.120 [0.030, 0.210], p < 0.001 (Holm), 60 shared items in 48 clusters."),
        (("a", "b", 48, -0.12, -0.21, -0.03, 0.005, 0.01, "a"), -1,
         "a is ahead of b by 0.120 [0.030, 0.210], p = 0.010 (Holm), 60 shared items in 48 clusters."),
        (("a", "b", 5, -0.02, -0.1, 0.06, 0.5, 1.0), 1,
         "No winner between a and b: difference -0.020 [-0.100, 0.060], p = 1.000 (Holm), "
         "60 shared items in 5 clusters."),
        (("a", "b", 2, 0.436, 0.167, 0.615, 0.5, 1.0), 1,
         "No winner between a and b: difference 0.436 [0.167, 0.615], p = 1.000 (Holm), 60 shared items in "
         "2 clusters; the interval leaves zero out, but with 2 clusters the test cannot give a p below 0.5, "
         "however large the difference."),
        (("a", "b", 5, -0.2, -0.3, -0.1, 0.0625, 0.0625), 1,
         "No winner between a and b: difference -0.200 [-0.300, -0.100], p = 0.062 (Holm), 60 shared items "
         "in 5 clusters; the interval leaves zero out, but with 5 clusters the test cannot give a p below "
         "0.0625, however large the difference."),
        (("a", "b", 6, 0.2, 0.1, 0.3, 0.03125, 0.0625), 1,  # six clusters could have named a winner
         "No winner between a and b: difference 0.200 [0.100, 0.300], p = 0.062 (Holm), "
         "60 shared items in 6 clusters."),
        (("a", "b", 1, None, None, None, None, None, "", "one shared cluster"), 1,
         "a and b cannot be compared: one shared cluster."),
    ],
)  # fmt: skip
def test_sentences(comparison, better, words):
    assert (
        sentence(Comparison("toa", *comparison, items=60), MetricSpec("m", "M", "", better=better)) == words
    )


@pytest.mark.parametrize("clusters", [2, 5, 6])
def test_the_least_p_that_is_told_is_that_of_the_test(clusters):
    names = [str(k) for k in range(clusters)]
    made = paired_difference(np.ones(clusters), names, np.zeros(clusters), names)
    pair = Comparison("toa", "a", "b", clusters, 1.0, 0.5, 1.0, made.p, made.p, items=clusters)
    told = re.search(r"p below ([\d.]+),", sentence(pair, MetricSpec("m", "M", "")))
    assert told is None if clusters == 6 else float(told[1]) == made.p


# The paragraph for the paper

FACTS = {
    "command": "earwitness judge order 'a `b`.csv' -o run",
    "date": "2030-01-02",
    "versions": {"earwitness": "0.1.0", "numpy": "2.4"},
    "seed": 7,
    "repeats": 3,
    "listener": {
        "name": "yamnet",
        "version": "1.2",
        "settings": {"hop_s": 0.1, "thresholds": {"Dog": 0.2, "Bell": 0.3}},
        "resolution_s": 0.125,
        "detector": True,
    },
    "level": 0.9,
    "draws": 5000,
    "calibration": "order accuracy 0.95 on 400 mixtures",
}


def test_protocol_states_every_fact():
    pair = Comparison("toa", "a", "b", 12, 0.1, 0.02, 0.2, 0.01, 0.02, "a")
    text = protocol.paragraph(summary(row("a", 0.8, unheard=9), row("b_x", 0.7), comparisons=(pair,)), FACTS)
    for words in (
        "yamnet (version 1.2) on 2030-01-02", "closer than 0.125 s", "hop\\_s 0.1", "thresholds (2 entries)",
        "heard 3 times", "Of 109 items, 80 were scored, 20 not applicable and 9 unheard (9 unmapped)",
        "a (81.6%)", "90 % intervals", "5,000 draws, seed 7", "Wilson", "permutation test",
        "Holm-corrected over 1 comparison,", "known: order accuracy 0.95 on 400 mixtures.",
        "`` earwitness judge order 'a `b`.csv' -o run ``", "earwitness 0.1.0, numpy 2.4.", "TOA",
    ):  # fmt: skip
        assert words in text
    assert "clusters of items (a cluster is a room), 5,000 draws" in text
    assert "prompt" not in text
    paragraph, head, *details = text.strip().split("\n\n")
    for words in (
        "order task of earwitness 0.1.0", "yamnet (version 1.2) on 2030-01-02", "Of 109 items, 80", "(TOA)",
        "90 %", "leaves 1 system below 95 % coverage", "seed 7", "Holm", "hide the listener's own error",
    ):  # fmt: skip
        assert words in paragraph
    assert "\n" not in paragraph
    assert head == "## Details"
    assert details[::2] == [
        "**Listener**", "**Scores**", "**Intervals and tests**", "**Limits**", "**To do it again**",
    ]  # fmt: skip
    assert all(line.startswith("- ") for block in details[1::2] for line in block.split("\n"))
    assert "- Command: " in details[-1]


def test_protocol_leaves_out_what_is_not_known():
    unscored = summary(row("a", None, scored=0, heard=None))
    bare = replace(unscored, rows=(replace(unscored.rows[0], metrics={"toa": Metric(None)}),))
    text = protocol.paragraph(bare, {})
    for word in (
        "version",
        "detector",
        "Onsets",
        "settings",
        "bootstrap",
        "Holm",
        "known",
        "Command",
        "None",
        "seed",
    ):
        assert word not in text
    judge = {
        "listener": {"name": "m", "detector": False, "settings": {"temperature": 0.2}},
        "prompt_hashes": {"q": "ab"},
    }
    text = protocol.paragraph(bare, judge)
    assert "temperature 0.2" in text
    assert "q ab" in text
    assert "more than half of the repeats" in text


# Replies


def test_replies_are_read_back(tmp_path):
    captions = ["=1+1", "line\nbreak", "car\rriage", 'quo"te, comma', "plain <b>é音</b>", "-0.5", ""]
    rows = [
        {"task": "order", "system": "s", "sample_id": str(i), "side": "clip", "caption": caption,
         "question": "events", "listener": "l", "repeat": 0, "reason": "",
         "events": [{"label": "é", "onset_s": 0.5}],
         "score": None if i else 0.25, "applicable": True}
        for i, caption in enumerate(captions)
    ]  # fmt: skip
    path = tmp_path / "replies.csv"
    write_replies(path, iter(rows), ["score", "events", "applicable", "notes"])
    with path.open(encoding="utf-8", newline="") as file:
        head, *found = csv.reader(file)
    assert head == [*COLUMNS, "score", "events", "applicable", "notes"]
    assert [cells[5] for cells in found] == ["'=1+1", *captions[1:]]
    assert strict(found[0][10]) == [{"label": "é", "onset_s": 0.5}]
    assert [cells[9] for cells in found] == ["0.25", *[""] * 6]
    assert found[0][11:] == ["true", ""]
    assert path.read_bytes().count(b"\r") == 1  # the caption's own; rows end in LF
    frame = polars.read_csv(path)
    assert frame["caption"].to_list() == ["'=1+1", *captions[1:-1], None]
    assert frame["score"].to_list() == [0.25] + [None] * 6
    assert frame["applicable"].to_list() == [True] * 7


def test_replies_refuse_what_they_cannot_hold(tmp_path):
    path = tmp_path / "replies.csv"
    with pytest.raises(ValueError, match="no column is given for stray"):
        write_replies(path, [{"task": "order", "stray": 1}], ["score"])
    with pytest.raises(ValueError, match=r"score: .*JSON"):
        write_replies(path, [{"score": float("nan")}], ["score"])
    with pytest.raises(ValueError, match="twice"):
        write_replies(path, [], ["caption"])


def test_the_same_summary_gives_the_same_bytes():
    pair = Comparison("toa", *NASTY[:2], 12, 0.1, 0.02, 0.2, 0.01, 0.02, NASTY[0])
    first, second = (replace(NAMED, comparisons=(pair,)) for _ in range(2))
    for write in (
        lambda s: json.dumps(summary_json(s)),
        summary_csv,
        lambda s: markdown(s, TableOptions()),
        lambda s: latex(s, TableOptions()),
        printed,
        lambda s: protocol.paragraph(s, FACTS),
    ):
        assert write(first) == write(second)
