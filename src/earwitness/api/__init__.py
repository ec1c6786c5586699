"""The same through Python: ``earwitness.judge(...)`` mirrors ``earwitness judge``."""

from earwitness.api.bench import Imported, import_ritta, make_ritta, score_ritta, systems_of
from earwitness.api.costs import Estimate, estimate, estimate_request
from earwitness.api.distances import Measured, distance, join_distances
from earwitness.api.events import score_events
from earwitness.api.request import Request
from earwitness.api.runs import Panel, Progress, Result, judge, label, panel, rebuild, run_panel, run_request
from earwitness.api.scenes import bank_summary, make_scenes, render_scene
from earwitness.api.training import TrainedListener, train_listener
from earwitness.listeners.llm import LlmOptions
from earwitness.report.build import Options
from earwitness.report.bundle import bundle
from earwitness.report.clips import bundle_clips
from earwitness.report.compare import compare

__all__ = [
    "Estimate",
    "Imported",
    "LlmOptions",
    "Measured",
    "Options",
    "Panel",
    "Progress",
    "Request",
    "Result",
    "TrainedListener",
    "bank_summary",
    "bundle",
    "bundle_clips",
    "compare",
    "distance",
    "estimate",
    "estimate_request",
    "import_ritta",
    "join_distances",
    "judge",
    "label",
    "make_ritta",
    "make_scenes",
    "panel",
    "rebuild",
    "render_scene",
    "run_panel",
    "run_request",
    "score_events",
    "score_ritta",
    "systems_of",
    "train_listener",
]
