"""Event-level evaluation of audio made, edited, described or understood by machines.

``judge``, ``label``, ``panel`` (several listeners), ``estimate``, ``rebuild`` (the verb ``report``),
``compare``, ``bundle`` and ``bundle_clips`` (``label --bundle``), ``make_ritta``, ``import_ritta`` and
``score_ritta`` (``bench ritta``), ``distance`` and ``join_distances`` (``distance``), ``score_events``
(``events``), ``train_listener`` (``listeners train``), ``make_scenes``, ``render_scene`` and
``bank_summary`` (``scenes``) mirror the command line; they are loaded when first used.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.4.0"
__all__ = [
    "LlmOptions",
    "Options",
    "Panel",
    "Result",
    "__version__",
    "bank_summary",
    "bundle",
    "bundle_clips",
    "compare",
    "distance",
    "estimate",
    "import_ritta",
    "join_distances",
    "judge",
    "label",
    "make_ritta",
    "make_scenes",
    "panel",
    "rebuild",
    "render_scene",
    "score_events",
    "score_ritta",
    "train_listener",
]

if TYPE_CHECKING:
    from earwitness.api import (
        LlmOptions,
        Options,
        Panel,
        Result,
        bank_summary,
        bundle,
        bundle_clips,
        compare,
        distance,
        estimate,
        import_ritta,
        join_distances,
        judge,
        label,
        make_ritta,
        make_scenes,
        panel,
        rebuild,
        render_scene,
        score_events,
        score_ritta,
        train_listener,
    )


def __getattr__(name: str) -> Any:
    if name in __all__:
        from earwitness import api

        return getattr(api, name)
    raise AttributeError(f"module 'earwitness' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
