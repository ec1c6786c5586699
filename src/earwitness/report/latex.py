"""The summary as a LaTeX table, in the same cells as the markdown one (report.tables)."""

import re
from collections.abc import Sequence
from dataclasses import replace

from earwitness.errors import UserError
from earwitness.report import tables
from earwitness.report.cells import one_line
from earwitness.tasks.rows import Summary

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": r"\textasciigrave{}",
}  # fmt: skip


_SUPERSCRIPT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def latex_text(text: str) -> str:
    """Plain text as LaTeX that shows just that text; letters beyond ASCII stay as they are."""
    escaped = "".join(_LATEX.get(c, c) for c in one_line(text))
    escaped = re.sub(r"([-',])(?=\1)", r"\1{}", escaped)  # fonts would join two of them into one character
    # most fonts have no raised minus
    escaped = re.sub(r"[⁻⁰¹²³⁴-⁹]+", lambda m: f"$^{{{m[0].translate(_SUPERSCRIPT)}}}$", escaped)
    # a row break or rule before a bracket or star would take it for its own argument
    return "{}" + escaped if escaped.startswith(("[", "*")) else escaped


def latex(summary: Summary, options: tables.TableOptions) -> str:
    """The table as LaTeX for booktabs, everything from outside escaped.

    Raises:
        UserError: As :func:`tables.grid`, or if the label has a character that LaTeX cannot take in one.
    """
    label = options.label or f"tab:{summary.task}"
    if not re.fullmatch(r"[\w:.+/-]+", label, re.ASCII):
        raise UserError(f"{label!r} is no LaTeX label.", "Use letters, digits and any of : . + / _ - in it.")
    return latex_of(tables.grid(summary, options), tables.caption(summary, options), label, options)


SMALL = (r"\footnotesize", r"\setlength{\tabcolsep}{4pt}")
"""Style of a table that takes the whole width of a page."""


def latex_of(
    table: tables.Grid,
    caption: str,
    label: str,
    options: tables.TableOptions,
    more: Sequence[str] = (),
    *,
    wide: bool = False,
) -> str:
    """Any table of systems as LaTeX for booktabs; a rule sets the baselines apart.

    Args:
        more: Notes below the table, as plain text.
        wide: Across both columns of the page, with intervals below their values.
    """
    rows = [" & ".join(latex_text(head) for head in table.heads) + r" \\", r"\midrule"]
    for index, (row, name, cells) in enumerate(zip(table.systems, table.names, table.cells, strict=True)):
        if index and row.baseline and not table.systems[index - 1].baseline:
            rows.append(r"\midrule")
        first = latex_text(name) + (r"$^{\dagger}$" if tables.low_coverage(row) else "")
        if wide:
            rows += stacked(first, cells, options)
        else:
            rows.append(" & ".join([first, *(latex_cell(cell, options) for cell in cells)]) + r" \\")
    notes = []
    if any(map(tables.low_coverage, table.systems)):
        notes.append("$^{\\dagger}$" + latex_text(tables.LOW_COVERAGE_NOTE))
    notes += map(latex_text, (*tables.cell_notes(table), *more))
    kind, style = ("table*", SMALL) if wide else ("table", ())
    lines = [
        r"% needs \usepackage{booktabs}",
        *environment(kind, caption, label, "l" + "r" * (len(table.heads) - 1), rows, notes, style),
    ]
    return "\n".join(lines) + "\n"


def environment(
    kind: str,
    caption: str,
    label: str,
    columns: str,
    rows: Sequence[str],
    notes: Sequence[str] = (),
    style: Sequence[str] = (),
) -> list[str]:
    """Lines of a float that holds a table.

    Args:
        kind: ``table``, or ``table*`` for one across both columns of the page.
        caption: Plain text.
        columns: How each column is set, for ``tabular``.
        rows, notes: As LaTeX.
        style: Commands that hold for the whole table.
    """
    return [
        rf"\begin{{{kind}}}[t]",
        r"\centering",
        rf"\caption{{{latex_text(caption)}}}",
        rf"\label{{{label}}}",
        *style,
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip{{\footnotesize {note}}}" for note in notes),
        rf"\end{{{kind}}}",
    ]


def stacked(name: str, cells: Sequence[tables.Cell], options: tables.TableOptions) -> list[str]:
    """Rows of one line of a table: its values, then in small print the intervals that are to be in brackets.

    Args:
        name: As LaTeX.
    """
    apart = options.interval == "brackets" and any(cell.low for cell in cells)
    values = [replace(cell, low="", high="") if apart else cell for cell in cells]
    rows = [" & ".join([name, *(latex_cell(cell, options) for cell in values)]) + r" \\"]
    if apart:
        bounds = [rf"{{\scriptsize [{_minus(c.low)}, {_minus(c.high)}]}}" if c.low else "" for c in cells]
        rows.append(" & ".join(["", *bounds]).strip() + r" \\[2pt]")
    return rows


def _minus(text: str) -> str:
    return text if text == tables.NONE else text.replace("-", "$-$")


def latex_cell(cell: tables.Cell, options: tables.TableOptions) -> str:
    """A cell as LaTeX, its interval as the options say."""
    value, low, high = map(_minus, (cell.text, cell.low, cell.high))
    if cell.best:
        value = rf"\textbf{{{value}}}"
    if low and options.interval == "subscript":
        value += rf"$_{{[{cell.low}, {cell.high}]}}$"
    elif low:
        value += f" [{low}, {high}]"
    return rf"{value} {{\footnotesize {cell.part}}}" if cell.part else value
