"""The summary as a LaTeX table, in the same cells as the markdown one (report.tables)."""

import re

from earwitness.errors import UserError
from earwitness.report import tables
from earwitness.report.cells import one_line
from earwitness.tasks.rows import Summary

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "`": r"\textasciigrave{}",
}  # fmt: skip


def latex_text(text: str) -> str:
    """Plain text as LaTeX that shows just that text; letters beyond ASCII stay as they are."""
    escaped = "".join(_LATEX.get(c, c) for c in one_line(text))
    escaped = re.sub(r"([-',])(?=\1)", r"\1{}", escaped)  # fonts would join two of them into one character
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
    table = tables.grid(summary, options)
    rows = [" & ".join(latex_text(head) for head in table.heads) + r" \\", r"\midrule"]
    for row, name, cells in zip(table.systems, table.names, table.cells, strict=True):
        first = latex_text(name) + (r"$^{\dagger}$" if tables.low_coverage(row) else "")
        rows.append(" & ".join([first, *(_latex_cell(cell, options) for cell in cells)]) + r" \\")
    notes = []
    if any(map(tables.low_coverage, table.systems)):
        notes.append("$^{\\dagger}$" + latex_text(tables.LOW_COVERAGE_NOTE))
    if tables.has_parts(table):
        notes.append(latex_text(tables.PART_NOTE))
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{latex_text(tables.caption(summary, options))}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(table.heads) - 1)}}}",
        r"\toprule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip{{\footnotesize {note}}}" for note in notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(cell: tables.Cell, options: tables.TableOptions) -> str:
    texts = (cell.text, cell.low, cell.high)
    value, low, high = (text if text == tables.NONE else text.replace("-", "$-$") for text in texts)
    if cell.best:
        value = rf"\textbf{{{value}}}"
    if low and options.interval == "subscript":
        value += rf"$_{{[{cell.low}, {cell.high}]}}$"
    elif low:
        value += f" [{low}, {high}]"
    return rf"{value} {{\footnotesize {cell.part}}}" if cell.part else value
