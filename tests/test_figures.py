"""The figures: same bytes for the same summary, any name readable, nothing left behind in matplotlib."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import matplotlib
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from earwitness.report import figures
from earwitness.tasks.rows import Measures, Metric, MetricSpec, Summary, SystemRow
from pages import EDIT, LABEL, edit, label, systems_of

NASTY = ("$x^2", r"$\frac{1}{2}$", "音声モデル", "<b>&amp;</b>", "bell\x07\x1b[2J", "_hidden", "a" * 90 + "z")
ORDER = Measures(
    specs=(MetricSpec("toa", "TOA", "order right"),),
    key="toa",
    columns=("toa",),
    kinds={"missing": "not heard", "reversed": "the other way round"},
)


def summary(*systems):
    rows = tuple(
        SystemRow(
            name, 50, 0, 50 - scored, scored, scored / 50,
            {"toa": Metric(toa, toa and toa - 0.1, toa and toa + 0.1, toa and toa * scored / 50, 1.0)},
            {"missing": 4, "reversed": 2},
        )
        for name, toa, scored in systems
    )  # fmt: skip
    return Summary("order", "yamnet", ORDER, rows, (), ())


MANY = summary(*((f"system_number_{i:02}", 0.2 + 0.02 * i, 50) for i in range(30)))


def texts(path):
    tree = ET.parse(path)
    return ["".join(e.itertext()) for e in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_same_bytes_whatever_the_user_has_set(tmp_path):
    found = summary(*((name, 0.5, 40) for name in NASTY))
    first = figures.write_figures(found, tmp_path / "first")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "svg.fonttype": "path"}):
        second = figures.write_figures(found, tmp_path / "second")
        assert matplotlib.rcParams["font.size"] == 20
    assert [p.name for p in first] == ["systems.svg", "systems.pdf", "errors.svg", "errors.pdf"]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_names_are_text_as_they_are(tmp_path):
    figures.write_figures(summary(*((name, 0.5, 50) for name in NASTY)), tmp_path)
    for name in ("systems.svg", "errors.svg"):
        shown = texts(tmp_path / name)
        for expected in (*NASTY[:4], r"bell\x07\x1b[2J", "_hidden"):
            assert expected in shown
        assert any(text.startswith("aaa") and text.endswith("z") and "…" in text for text in shown)
    assert (tmp_path / "systems.pdf").read_bytes().startswith(b"%PDF")


def test_systems_go_by_their_display_names(tmp_path):
    figures.write_figures(summary(("low", 0.3, 50), ("high", 0.8, 50)), tmp_path, {"low": "Ours"})
    for name in ("systems.svg", "errors.svg"):
        shown = texts(tmp_path / name)
        assert {"Ours", "high"} <= set(shown)
        assert "low" not in shown


def test_forest_plot_ranks_marks_and_tells_unscored(tmp_path):
    figures.write_figures(summary(("low", 0.3, 50), ("none", None, 0), ("high", 0.8, 40)), tmp_path)
    shown = texts(tmp_path / "systems.svg")
    assert [t for t in shown if t.removesuffix(" †") in ("low", "none", "high")] == [
        "high †",
        "low",
        "none †",
    ]
    assert {"0.800", "0.300", "unscored", "TOA"} <= set(shown)
    assert {"missing", "reversed"} <= set(texts(tmp_path / "errors.svg"))


@pytest.mark.parametrize("draw", [figures.systems, figures.errors])
def test_thirty_systems_stay_readable(draw):
    figure = draw(MANY)
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[0]
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert len(boxes) == 30
    for upper, lower in pairwise(boxes):
        assert lower.y1 <= upper.y0
    assert all(box.x0 >= 0 for box in boxes)
    assert axes.get_window_extent().width > figure.bbox.width / 2


def edited(names, **values):
    marks = {"edit_success": 4.0, "nontarget_preservation": 2.0, **values}
    return systems_of(
        [edit(n, "a.wav", "s.wav", system=name, values=marks) for n, name in enumerate(names)], EDIT
    )


def test_an_edit_has_a_figure_of_success_against_preservation_and_none_of_errors(tmp_path):
    found = edited(NASTY)
    first = figures.write_figures(found, tmp_path / "first")
    second = figures.write_figures(found, tmp_path / "second")
    assert [p.name for p in first] == ["systems.svg", "systems.pdf", "tradeoff.svg", "tradeoff.pdf"]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    shown = texts(tmp_path / "first" / "tradeoff.svg")
    assert {"Preservation", "Success", *NASTY[:4], r"bell\x07\x1b[2J", "_hidden"} <= set(shown)


def test_axes_show_the_whole_scale_of_marks():
    def ends(low, high):
        return pytest.approx((low, high), abs=0.2)

    assert figures.systems(edited(["a", "b"])).axes[0].get_xlim() == ends(1, 5)
    axes = figures.tradeoff(edited(["a", "b"])).axes[0]
    assert (axes.get_xlim(), axes.get_ylim()) == (ends(1, 5), ends(1, 5))
    decibels = replace(edited(["a"], level_change_db=-6.0), measures=replace(EDIT, key="level_change_db"))
    assert figures.systems(decibels).axes[0].get_xlim() == ends(-6.3, -5.7)


def test_an_unscored_system_is_named_beside_the_tradeoff(tmp_path):
    figures.write_figures(edited(["a"], edit_success=None), tmp_path)
    assert "a: unscored" in texts(tmp_path / "tradeoff.svg")


def test_a_task_without_kinds_or_tradeoff_has_the_one_figure(tmp_path):
    found = systems_of([label(1, "a.wav"), label(2, "b.wav", "unordered")], LABEL)
    assert [p.name for p in figures.write_figures(found, tmp_path)] == ["systems.svg", "systems.pdf"]


def test_nothing_scored_or_no_error_still_draws(tmp_path):
    figures.write_figures(summary(("a", None, 0)), tmp_path)
    assert "unscored" in texts(tmp_path / "systems.svg")
    figures.write_figures(summary(), tmp_path)


def test_pyplot_is_never_loaded(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; import test_figures as t;"
        "t.figures.write_figures(t.MANY, Path(sys.argv[2])); assert 'matplotlib.pyplot' not in sys.modules"
    )
    here = str(__file__).rpartition("/")[0]
    subprocess.run([sys.executable, "-c", code, here, str(tmp_path)], check=True)
