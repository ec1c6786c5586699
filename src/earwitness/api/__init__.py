"""The same through Python: ``earwitness.judge(...)`` mirrors ``earwitness judge``."""

from earwitness.api.costs import Estimate, estimate, estimate_request
from earwitness.api.request import Request
from earwitness.api.runs import Panel, Progress, Result, judge, label, panel, rebuild, run_panel, run_request
from earwitness.listeners.llm import LlmOptions
from earwitness.report.build import Options
from earwitness.report.bundle import bundle
from earwitness.report.clips import bundle_clips
from earwitness.report.compare import compare

__all__ = [
    "Estimate",
    "LlmOptions",
    "Options",
    "Panel",
    "Progress",
    "Request",
    "Result",
    "bundle",
    "bundle_clips",
    "compare",
    "estimate",
    "estimate_request",
    "judge",
    "label",
    "panel",
    "rebuild",
    "run_panel",
    "run_request",
]
