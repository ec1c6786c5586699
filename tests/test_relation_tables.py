"""Numbers by relation, read back the way a user's tools read them."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from rich.console import Console

import ritta_runs
from earwitness import tasks
from earwitness.report import (
    build,
    figures,
    latex,
    protocol,
    relation_figure,
    relation_tables,
    ritta_tables,
    summary_files,
    terminal,
)
from earwitness.report import tables as plain_tables
from earwitness.report.bundle import bundle
from earwitness.report.tables import TableOptions
from earwitness.scores.relations import MAIN, RELATIONS
from earwitness.scores.ritta import KINDS
from earwitness.scores.ritta_released import product_of_means
from earwitness.stats.intervals import cluster_interval
from earwitness.tasks import ritta_sources
from earwitness.tasks.rows import Comparison, ItemRow, Mark, Metric
from earwitness.tasks.task import Hearer
from earwitness.training.overlap import Overlap
from related import MEASURES, ritta, system
from test_report_tables import NASTY, rendered_cells, strict, unescaped

USUAL = TableOptions()
NAMES = ("AUDIT", "tango2", "audioldm", "a_rather_long_system_name", "five", "six", "seven")
BOUNDS = ["reference (ceiling)", "oracle (ceiling)", "silence (floor)", "shuffled (floor)"]
LINES = [
    "Count", "Temporal Order", "before", "after", "together", "Spatial Distance", "closefirst", "farfirst",
    "equaldist", "Compositionality", "and", "or", "not", "if then else", "all",
]  # fmt: skip
METRICS = ["mAMSR", "mARel", "mAPre", "mAPar"]


def blocks(text):
    """The tables of a markdown text by the heading above each."""
    found = {}
    for part in text.split("\n## ")[1:]:
        title, _, rest = part.partition("\n")
        found[title] = rendered_cells(rest)
    return found


def printed(found, width=80):
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    for table in terminal.tables(found):
        console.print(table)
    return console.file.getvalue()


# Markdown, LaTeX, CSV, JSON


def test_every_relation_has_a_line_below_its_group_and_the_whole_run_the_last():
    found = blocks(relation_tables.markdown(ritta(), USUAL))
    assert list(found) == METRICS
    for head, *lines in found.values():
        assert head == ["Relation", "n", "AUDIT", "tango2", "audioldm", *BOUNDS]
        assert [line[0].strip("*") for line in lines] == LINES
        assert [line[0] for line in lines if line[0].startswith("*")] == [
            "*Count*", "*Temporal Order*", "*Spatial Distance*", "*Compositionality*", "*all*",
        ]  # fmt: skip
    numbers = {line[0].strip("*"): line[1] for line in found["mAMSR"][1:]}
    assert (numbers["before"], numbers["Compositionality"], numbers["all"]) == ("720", "2880", "7920")
    before = next(line for line in found["mAMSR"] if line[0] == "before")
    assert before[2] == "0.482 [0.461, 0.501]"  # 0.784 cubed
    assert before[6] == "1.000 [0.979, 1.000]"


def test_no_value_stands_in_a_table_without_its_ceiling():
    found = ritta(NAMES)
    for lines in blocks(relation_tables.markdown(found, USUAL)).values():
        assert lines[0][-4:] == BOUNDS
        assert all("--" not in cell for line in lines for cell in line[-4:])
    for text in ritta_tables.paper_tables(found, USUAL).values():
        assert all(text.count(name) == 1 for name in BOUNDS)
    for table in relation_tables.latex_tables(found, USUAL).split(r"\begin{table*}")[1:]:
        head = table.split(r"\midrule")[0]
        assert head.count(r"{\scriptsize (ceiling)}") == head.count(r"{\scriptsize (floor)}") == 2
    shown = printed(found).split("by relation")[1:]
    assert len(shown) >= 4
    for table in shown:
        head = table.split("───")[0]
        assert re.findall(r"ceiling|floor", head) == ["ceiling", "ceiling", "floor", "floor"]


def test_a_part_without_scored_clips_is_no_number():
    one = system("AUDIT", 0.8)
    lacking = replace(one, parts={name: its for name, its in one.parts.items() if name != "not"})
    found = replace(ritta(), rows=(lacking, *ritta().rows[1:]))
    line = next(line for line in blocks(relation_tables.markdown(found, USUAL))["mAMSR"] if line[0] == "not")
    assert line[:3] == ["not", "0-720", "--"]
    assert "0-720" in printed(found)
    row = next(
        row for row in csv.DictReader(io.StringIO(relation_tables.csv_text(found)))
        if (row["system"], row["part"], row["metric"]) == ("AUDIT", "not", "msr")
    )  # fmt: skip
    assert (row["value"], row["low"], row["n"]) == ("", "", "0")


def test_csv_has_every_number_in_full():
    found = ritta((NASTY[0], "b"))
    rows = list(csv.DictReader(io.StringIO(relation_tables.csv_text(found), newline="")))
    assert len(rows) == len(found.rows) * (1 + len(MAIN) + len(RELATIONS)) * len(MEASURES.specs)
    assert rows[0]["system"] == "'" + NASTY[0]
    assert {row["main"] for row in rows if row["part"] == "together"} == {"Temporal_Order"}
    by = {(row["system"], row["part"], row["metric"]): row for row in rows}
    for row in found.rows[1:]:
        for part, metrics in {**row.parts, "all": row.metrics}.items():
            for name, metric in metrics.items():
                read = by[(row.system, part, name)]
                assert [float(read[key]) for key in ("value", "low", "high", "n")] == [
                    metric.value, metric.low, metric.high, metric.n,
                ]  # fmt: skip


def test_summary_json_has_the_parts_and_other_tasks_have_none():
    data = strict(json.dumps(summary_files.summary_json(ritta())))
    part = data["rows"][0]["parts"]["Spatial_Distance"]["presence"]
    metric = ritta().rows[0].parts["Spatial_Distance"]["presence"]
    assert part == {"value": metric.value, "low": metric.low, "high": metric.high, "n": 2160}
    assert set(data["rows"][0]["parts"]) == {*MAIN, *RELATIONS}
    bare = replace(ritta(), rows=(replace(ritta().rows[0], parts={}),))
    assert "parts" not in summary_files.summary_json(bare)["rows"][0]


@pytest.mark.parametrize("interval", ["brackets", "subscript", "none"])
def test_latex_is_balanced_and_every_line_has_all_cells(interval):
    text = relation_tables.latex_tables(ritta(NASTY), TableOptions(interval=interval))
    depth = 0
    for character in re.sub(r"\\[{}\\]", "", text):
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == len(METRICS)
    assert len(set(re.findall(r"\\label{(.*?)}", text))) == len(METRICS)
    lines = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert len(lines) == len(METRICS) * (1 + len(LINES))
    for line in lines:
        assert len(unescaped(line, "&")) == 1 + len(NASTY) + len(BOUNDS)
        assert len(unescaped(line, "$")) % 2 == 0
        assert not unescaped(line, "#%~")
        assert not re.search(r"\\\\ *[\[*]", line)  # a bracket there would be taken for a length
    assert text.count(r"\bottomrule") == len(METRICS)


def test_names_show_as_they_are_in_markdown():
    head = blocks(relation_tables.markdown(ritta(NASTY), USUAL))["mAMSR"][0]
    assert head[2:6] == ['=HYPERLINK("x")', NASTY[1], r"[red]tango[/red]\x1b[2J", NASTY[3]]


def test_signs_stand_beside_names_and_are_explained():
    found = ritta(marks=(Mark("‡", "Fewer prompts.", frozenset({"tango2"})),))
    text = relation_tables.markdown(found, USUAL)
    assert blocks(text)["mAMSR"][0][2:5] == ["AUDIT", "tango2 ‡", "audioldm"]
    assert "‡ Fewer prompts." in text
    tex = relation_tables.latex_tables(found, USUAL)
    assert "tango2 ‡" in tex
    files = ritta_tables.paper_tables(found, USUAL)
    assert all("tango2 ‡" in text and "‡ Fewer prompts." in text for text in files.values())
    for text in (plain_tables.markdown(found, USUAL), latex.latex(found, USUAL)):
        assert "tango2 ‡" in text
        assert "‡ Fewer prompts." in text
    said = " ".join(printed(found).split())
    assert "tango2 ‡ " in said.split("by relation")[0]
    assert "‡ Fewer prompts." in said


def test_options_hold_for_the_tables_by_relation():
    options = TableOptions(
        columns=("presence", "count_bias", "n"), percent=True, decimals=1, names={"AUDIT": "Ours"}
    )
    found = blocks(relation_tables.markdown(ritta(), options))
    assert list(found) == ["mAPre (%)", "Count bias"]
    line = next(line for line in found["mAPre (%)"] if line[0] == "before")
    assert line[2] == "78.4 [76.3, 80.3]"
    assert found["mAPre (%)"][0][2] == "Ours"
    assert all("*" not in cell for line in found["Count bias"][1:] for cell in line[1:])  # no side is better


WON = tuple(
    Comparison("msr", "AUDIT", other, 720, 0.1, 0.05, 0.15, 0.001, 0.002, "AUDIT", items=720)
    for other in ("tango2", "audioldm")
)


def test_only_the_whole_run_of_a_metric_that_was_compared_is_bold():
    found = ritta(comparisons=WON)
    text = relation_tables.markdown(found, USUAL)
    stars = [
        (metric, line[0].strip("*"), line.index(cell))
        for metric, lines in blocks(text).items()
        for line in lines
        for cell in line[1:]
        if cell.startswith("*")
    ]
    assert stars == [("mAMSR", "all", 2)]
    assert text.count("ahead of every other system") == text.count("nothing is bold there") == 1
    tex = relation_tables.latex_tables(found, USUAL)
    assert tex.count(r"\textbf") == tex.count("ahead of every other system") == 1
    files = ritta_tables.paper_tables(found, USUAL)
    assert [files[f"ritta_table{n}.md"].count("**") for n in (5, 6)] == [2, 0]
    assert "ahead of every other system" in files["ritta_table5.tex"]
    lines = rendered_cells(ritta_tables.released(found, clips(n=4), (0.5, 0.6), USUAL, draws=50))
    assert not any("*" in cell for line in lines for cell in line[1:])
    open_ = ritta(comparisons=(WON[0], replace(WON[1], winner="", p_holm=0.2)))
    assert r"\textbf" not in relation_tables.latex_tables(open_, USUAL)
    assert "ahead of every other" not in relation_tables.markdown(open_, USUAL)


# Terminal


@pytest.mark.parametrize("count", range(8))
def test_tables_fit_a_narrow_terminal_whole(count):
    text = printed(ritta(NAMES[:count]))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    tables = ["mAMSR by relation" + part for part in text.split("mAMSR by relation")[1:]]
    shown = "".join(tables).split("mARel by relation")[0]
    for row in ritta(NAMES[:count]).rows:
        for relation in RELATIONS:
            assert f"{row.parts[relation]['msr'].value:.3f}" in shown
    assert shown.count("if then else") == max(1, -(-count // (2 if count <= 4 else 4)))
    assert ("0.461-0.501" in shown) == (0 < count <= 4)  # AUDIT, before
    assert "…" not in text


def test_names_stand_beside_every_kind_of_error():
    found = ritta(NAMES, measures=replace(MEASURES, kinds=KINDS))
    counted = replace(found, rows=tuple(replace(row, errors=dict.fromkeys(KINDS, 8)) for row in found.rows))
    text = printed(counted).split("Kinds of error")[1]
    assert max(map(len, text.splitlines())) <= 80
    assert set(KINDS) <= set(text.split())
    assert text.count("a_rather_long_syst") == text.count("of scored") == 2
    rare = replace(
        found, rows=tuple(replace(row, errors={**dict.fromkeys(KINDS, 0), "apart": 1}) for row in found.rows)
    )
    assert "missing" not in printed(rare).split("Kinds of error")[1]


def test_intervals_and_further_systems_are_said_to_be_in_the_files():
    said = " ".join(printed(ritta(NAMES)).split())
    assert "Intervals: tables/ritta_relations.md. So are the other systems." in said
    assert "mAMSR by relation" in said
    assert "So are" not in printed(ritta(NAMES[:4]))


# The paper's tables


def test_table_5_is_in_the_papers_units():
    rows = [replace(row, metrics=dict(row.metrics)) for row in ritta(("tango2", "tango")).rows]
    rows[0].metrics.update(
        presence=Metric(0.1663, 0.16, 0.17, n=7920), relation=Metric(0.044, 0.04, 0.05, n=7920),
        parsimony=Metric(0.1253, 0.12, 0.13, n=7920), msr=Metric(0.001155, 0.001, 0.0013, n=7920),
    )  # fmt: skip
    found = replace(ritta(), rows=tuple(rows))
    head, *lines = rendered_cells(ritta_tables.paper_tables(found, USUAL)["ritta_table5.md"])
    assert head == ["System", "mAPre (10⁻²)", "mARel (10⁻²)", "mAPar (10⁻²)", "mAMSR (10⁻⁴)"]
    tango2 = next(line for line in lines if line[0] == "tango2")
    assert tango2[1:] == [
        "16.63 [16.00, 17.00]", "4.40 [4.00, 5.00]", "12.53 [12.00, 13.00]", "11.55 [10.00, 13.00]",
    ]  # fmt: skip
    assert [line[0] for line in lines] == ["tango", "tango2", *BOUNDS]  # ranked, then ceilings and floors


def test_table_6_has_the_papers_columns():
    files = ritta_tables.paper_tables(ritta(("a", "b")), TableOptions(percent=True, decimals=5))
    head, first, *_ = rendered_cells(files["ritta_table6.md"])
    assert head == [
        "System", "Count (10⁻⁴)", "TempOrder (10⁻⁴)", "SpatDist (10⁻⁴)", "Compos (10⁻⁴)",
    ]  # fmt: skip
    count = ritta().rows[0].parts["Count"]["msr"].value
    assert first[1].startswith(f"{count * 10_000:.2f} [")  # the units are the paper's, whatever else is set
    assert ritta_tables.TABLE_6.keys() == MAIN.keys()
    tex = files["ritta_table6.tex"]
    assert r"TempOrder (10$^{-4}$)" in tex
    assert tex.count(r"\midrule") == 2
    below = tex.split(r"\midrule")[2]
    assert [line.split(" & ")[0] for line in below.splitlines()[1:5]] == BOUNDS
    assert not unescaped(tex.replace("% needs", ""), "%")


def test_raised_numbers_are_set_by_latex():
    assert latex.latex_text("m⁻⁴ and x²") == "m$^{-4}$ and x$^{2}$"


# The public evaluator's score


def clip(number, system, relation, factors, **changes):
    """A scored clip whose factors are given at each of two thresholds."""
    values = {
        f"{name}@{threshold}": value
        for name, its in zip(("presence", "relation", "parsimony"), factors, strict=True)
        for threshold, value in zip(("0.5", "0.6"), its, strict=True)
    }
    row = {
        "item_id": number, "system": system, "sample_id": str(number), "caption": f"prompt {number}",
        "reversed_caption": "", "audio": "/a.wav", "duration_s": 10.0, "cluster": f"prompt {number}",
        "status": "scored", "reason": "", "detail": "", "verdict": "right", "values": values,
        "stratum": relation,
    }  # fmt: skip
    return ItemRow(**{**row, **changes})


def clips(systems=("AUDIT", "tango2", "audioldm", *MEASURES.baselines), relations=RELATIONS, n=12):
    rng = np.random.default_rng(3)
    return [
        clip(number, name, relation, rng.integers(0, 2, (3, 2)).astype(float).tolist())
        for name in systems
        for relation in relations
        for number in range(n)
    ]


def released(rows, **how):
    lines = rendered_cells(ritta_tables.released(ritta(), rows, (0.5, 0.6), USUAL, draws=300, **how))
    return lines[0], {line[0].strip("*"): line for line in lines[1:]}


def test_the_released_score_is_a_product_of_means_in_the_papers_unit():
    rows = clips()
    head, lines = released(rows)
    assert head == ["Relation", "n", "AUDIT", "tango2", "audioldm", *BOUNDS]
    for part, its in {
        "before": ["before"],
        "Spatial Distance": MAIN["Spatial_Distance"],
        "all": RELATIONS,
    }.items():
        own = [row for row in rows if row.system == "AUDIT" and row.stratum in its]
        arrays = [
            [[row.values[f"{name}@{t}"] for t in (0.5, 0.6)] for row in own]
            for name in ("presence", "relation", "parsimony")
        ]
        value, low, high = map(float, re.findall(r"[\d.]+", lines[part][2]))
        assert value == pytest.approx(10_000 * product_of_means(*arrays), abs=0.006)
        assert low <= value <= high
        assert low < high
        assert lines[part][1] == str(len(own))
        products = np.prod(arrays, axis=0).mean()
        assert abs(value - 10_000 * products) > 1  # which is another number
    assert released(clips())[1] == lines


def test_its_interval_is_that_of_the_one_factor_that_varies():
    rows = [
        replace(row, values={**row.values, **dict.fromkeys(row.values, 1.0), "parsimony@0.5": k % 3 / 2,
                             "parsimony@0.6": k % 3 / 2})
        for k, row in enumerate(clips(n=30))
    ]  # fmt: skip
    own = [row for row in rows if (row.system, row.stratum) == ("AUDIT", "after")]
    usual = cluster_interval([row.values["parsimony@0.5"] for row in own], [row.cluster for row in own])
    value, low, high = (
        float(number) / 10_000 for number in re.findall(r"[\d.]+", released(rows)[1]["after"][2])
    )
    assert value == 0.5
    assert (low, high) == (pytest.approx(usual.low, abs=0.03), pytest.approx(usual.high, abs=0.03))


def test_the_released_score_leaves_out_what_it_cannot_know():
    rows = clips(n=4)
    gone = replace(rows[0], values={**rows[0].values, "relation@0.6": None})
    unheard = replace(rows[1], status="unheard", values={})
    _, lines = released([gone, unheard, *rows[2:]])
    assert lines["Count"][1] == "2-4"
    without = [row for row in rows if (row.system, row.stratum) != ("reference", "or")]
    _, lines = released(without)
    assert [cell == "--" for cell in lines["or"][2:]] == [True, True, True, True, False, True, True]
    assert "--" not in lines["and"]
    whole = released(rows)[1]
    assert lines["all"][6] != whole["all"][6]  # the oracle's mean too is over the relations of the reference
    assert lines["Count"][6] == whole["Count"][6]


def test_the_released_score_of_what_is_exact_has_no_interval():
    found = replace(ritta(), measures=replace(MEASURES, exact=frozenset({"oracle"})))
    text = ritta_tables.released(found, clips(), (0.5, 0.6), USUAL, draws=300)
    for line in rendered_cells(text)[1:]:
        assert "[" not in line[6]
    assert "[" in rendered_cells(text)[-1][5]


def test_clips_of_one_prompt_are_drawn_together_and_agreement_is_not_certainty():
    same = [replace(row, cluster="one") for row in clips(n=6)]
    assert "[" not in released(same)[1]["and"][2]
    alike = [clip(number, row.system, row.stratum, [[1.0, 1.0]] * 3) for number, row in enumerate(clips(n=6))]
    lines = released(alike)[1]
    assert re.fullmatch(r"10000.00 \[6\d{3}.\d\d, 10000.00\]", lines["and"][2])  # Wilson, 6 of 6
    assert all(
        "[" not in lines[part][2] for part in ("or", "not", "if then else")
    )  # 0 by rule, not by chance


# Figure


def texts(path):
    tree = ET.parse(path)
    return ["".join(e.itertext()) for e in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_the_figure_shows_the_best_three_beside_the_ceiling(tmp_path):
    found = ritta(("fourth", *NAMES[:3]))
    shown = replace(found, rows=tuple(reversed(found.rows)))
    first = figures.write_figures(shown, tmp_path / "first")
    second = figures.write_figures(shown, tmp_path / "second")
    assert [p.name for p in first[-2:]] == ["relations.svg", "relations.pdf"]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    words = texts(tmp_path / "first" / "relations.svg")
    assert {"fourth", "AUDIT", "tango2", *METRICS, "if then else"} <= set(words)
    assert "audioldm" not in words
    assert any("reference clips" in text for text in words)
    assert {"reference (ceiling)", "silence (floor)"} <= set(texts(tmp_path / "first" / "systems.svg"))


def test_every_panel_holds_value_interval_and_ceiling_of_every_relation():
    figure = relation_figure.relations(ritta(), {})
    FigureCanvasAgg(figure).draw()
    panels = figure.axes
    assert [axes.get_title() for axes in panels] == ["mARel", "mAPre", "mAPar", "mAMSR"]
    for axes in panels:
        marks = [line for line in axes.get_lines() if line.get_marker() not in ("None", None)]
        assert len(marks) == 3 * len(RELATIONS)
        upright = [
            line
            for line in axes.get_lines()
            if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2
        ]
        assert len(upright) == len(RELATIONS)
    whiskers = [line.get_xdata() for line in panels[3].get_lines() if line.get_color() == "#0072B2"]
    assert [0.461, 0.501] in [pytest.approx(ends, abs=0.001) for ends in whiskers]
    labels = panels[0].get_yticklabels()
    assert [label.get_text() for label in labels] == [name.replace("_", " ") for name in RELATIONS]
    assert figure.get_size_inches()[0] <= 7.2
    assert min(label.get_fontsize() for label in labels) >= 7
    boxes = [label.get_window_extent() for label in labels]
    assert all(lower.y1 <= upper.y0 for upper, lower in pairwise(boxes))


def test_names_in_the_figure_are_text_and_missing_numbers_are_left_out(tmp_path):
    found = ritta(("$x^2$", "_hidden", "<b>&amp;</b>"))
    bare = replace(found.rows[0], parts={}, coverage=0.5)
    figures.write_figures(
        replace(found, rows=(bare, *found.rows[1:])), tmp_path, {"_hidden": r"$\frac{1}{2}$"}
    )
    words = texts(tmp_path / "relations.svg")
    assert {"$x^2$ †", r"$\frac{1}{2}$", "<b>&amp;</b>"} <= set(words)
    assert any("fewer than 95 %" in text for text in words)
    figures.write_figures(ritta(()), tmp_path)
    figures.write_figures(replace(ritta(()), rows=()), tmp_path)


# The paragraph for the paper


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ({}, ("(mode default)", "0.5, 0.6, 0.7, 0.8,", "joined and those shorter than 0.1 s",
              "Counting goes by instances, order by extent", "at least 3 dB")),
        ({"counting": "tracks", "order_rule": "onset"}, ("Counting goes by tracks, order by onset",)),
        ({"mode": "paper"}, ("equations 1 to 5", "than 0.5 s dropped", "sigma 1 0.2 and sigma 2 0.4")),
        ({"mode": "released"}, ("for parity alone", "0.8, 0.9,", "score on or, not and if\\_then")),
    ],
)  # fmt: skip
def test_the_protocol_states_data_definitions_and_bounds(scoring, words):
    facts = {"data": "my_DATA", "scoring": scoring, "level": 0.95, "draws": 100, "seed": 1}
    seen = Overlap(1_000, same=200, alike=300)
    text = protocol.paragraph(ritta(), facts)
    for said in (
        *words, "The data set my\\_DATA has 7,920 prompts of 11 relations,", "main relation: Count 720,",
        "exp(-0.1 n)",
        "Of mAMSR the ceilings are reference 0.531 [0.510, 0.550], oracle 1.000",
        "the floors are silence 0.000 [0.000, 0.019], shuffled 0.001", "a cluster is one prompt",
        "drawn within each", "hide the listener's own error",
    ):  # fmt: skip
        assert said in text
    assert "None" not in text
    short, details = text.split("\n\n## Details\n")
    told, _ = protocol.paragraph(ritta(), facts | {"trained_on": seen}).split("\n\n## Details\n")
    assert f"read. {seen.short} " in told
    assert len(told.split()) <= 150
    assert "\n" not in short
    assert len(short.split()) <= 150
    for fact in ("7,920 prompts", "the ceilings are reference 0.531", "95 % intervals", "seed 1",
                 "equations 1 to 5", "(mode default)", "(mode released)"):  # fmt: skip
        assert (fact in short) == (fact in text)
    assert "the floors are" in details


def test_prompts_are_those_of_the_system_that_has_most():
    found = ritta()
    few = replace(found, rows=(system("AUDIT", 0.8, n=5), replace(found.rows[1], parts={}), *found.rows[2:]))
    assert "has 7,920 prompts" in protocol.paragraph(few, {})


# A whole report


def run(mode, rows):
    hearer = Hearer("ear", "1", True, 0.1, frozenset(), 1, scoring={"mode": mode} if mode else {})
    meta = {
        "task": "ritta", "seed": 3, "started": "2030-01-02", "versions": {}, "repeats": 1, "command": "",
        "listener": {"version": "1", "settings": {}, "resolution_s": 0.1, "detector": True},
        "measured": "", "notes": [], "questions": {},
    }  # fmt: skip
    return build.Run(
        meta=meta,
        used={"usage": {}, "cost": {"usd": None}, "served": {}},
        task=tasks.find("ritta"),
        hearer=hearer,
        rows=lambda: iter(rows),
        replies=lambda: (),
    )


def scored_clips(thresholds, systems=("good", "bad", *MEASURES.baselines), n=3):
    """Clips with every number that the task gives; the oracle and the reference are right throughout."""
    rng = np.random.default_rng(5)
    for number, (name, relation, k) in enumerate(
        (name, relation, k) for name in systems for relation in RELATIONS for k in range(n)
    ):
        right = 1.0 if name in ("oracle", "reference") else float(rng.integers(0, 2))
        values = {
            f"{m}@{t:g}": right for m in ("presence", "relation", "parsimony", "msr") for t in thresholds
        }
        values |= dict.fromkeys(("presence", "relation", "parsimony", "msr"), right)
        yield clip(
            number, name, relation, [[0, 0]] * 3, sample_id=f"{relation}-{k}", cluster=f"{relation} {k}",
            values=values, verdict="right" if right else "wrong", error_kind="" if right else "missing",
        )  # fmt: skip


def test_a_report_has_the_tables_of_its_mode_and_of_no_other(tmp_path):
    options = build.Options(draws=50, spectrograms=0)
    usual = {"ritta.md", "ritta.tex", "ritta_relations.md", "ritta_relations.tex"}
    paper = {f"ritta_table{n}.{kind}" for n in (5, 6) for kind in ("md", "tex")}
    wanted = {"": usual, "paper": usual | paper, "released": usual | {"ritta_released.md"}}
    for mode, thresholds in (
        ("", (0.5, 0.6, 0.7, 0.8)), ("paper", (0.5, 0.6, 0.7, 0.8)), ("released", (0.5, 0.6, 0.7, 0.8, 0.9)),
        ("", (0.5, 0.6, 0.7, 0.8)),
    ):  # fmt: skip
        rows = list(scored_clips(thresholds))
        build.write(tmp_path, run(mode, rows), options)
        assert {path.name for path in (tmp_path / "tables").iterdir()} == wanted[mode]
        assert {"relations.csv", "summary.json"} <= {path.name for path in tmp_path.iterdir()}
        assert (tmp_path / "figures" / "relations.pdf").exists()
        assert f"mode {mode or 'default'}" in (tmp_path / "protocol.md").read_text(encoding="utf-8")
        if mode == "released":
            text = (tmp_path / "tables" / "ritta_released.md").read_text(encoding="utf-8")
            head, *lines = rendered_cells(text)
            assert set(head[2:4]) == {"good", "bad"}
            assert all(line[4].startswith("10000.00") for line in lines)  # the reference
            assert "product of mean presence" in text
    data = strict((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert set(data["rows"][0]["parts"]) == {*MAIN, *RELATIONS}


def test_the_same_run_gives_the_same_bytes(tmp_path):
    def files(folder: Path) -> dict[str, bytes]:
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    rows = list(scored_clips((0.5, 0.6, 0.7, 0.8), n=2))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        build.write(tmp_path / name, run("paper", rows), build.Options(draws=50, spectrograms=0))
    once = files(tmp_path / "a")
    assert once == files(tmp_path / "b")
    assert {"tables/ritta_table5.tex", "relations.csv", "figures/relations.svg"} <= set(once)


def test_a_bundle_without_names_keeps_its_ceilings_and_floors(tmp_path):
    data = ritta_runs.make_data(tmp_path / "DATA", per_relation=2)
    silence = ritta_runs.make_silence(tmp_path / "silence.wav")
    lines = ritta_runs.reference_lines(data) + ritta_runs.silence_lines(silence)
    outputs = {name: tmp_path / name for name in ("tangoflux", "makeaudio")}
    for seed, folder in enumerate(outputs.values()):
        lines += ritta_runs.system_lines(folder, data, ritta_runs.skilled(seed), seed, seconds=1.0)
    ear = ritta_runs.listener(tmp_path / "answers.jsonl", lines)
    (tmp_path / "run").mkdir()
    ritta_runs.hear(tmp_path / "run", ear, ritta_sources.manifest(data, outputs, silence=silence))
    made = bundle(
        tmp_path / "run", tmp_path / "given", anonymous=True, options=build.Options(draws=20, spectrograms=0)
    )
    head, *parts = blocks((made.folder / "tables" / "ritta_relations.md").read_text(encoding="utf-8"))[
        "mAMSR"
    ]
    assert sorted(head[2:4]) == ["System A", "System B"]
    assert head[4:] == BOUNDS
    assert all(line[4][:5] == line[5][:5] == "1.000" for line in parts)  # heard rightly, and scored rightly
    said = (made.folder / "protocol.md").read_text(encoding="utf-8")
    assert "22 prompts of 11 relations" in said
    assert "The data set DATA has" in said
