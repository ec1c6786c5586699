"""Event-level evaluation of audio made, edited, described or understood by machines.

``judge`` and ``rebuild`` mirror ``earwitness judge`` and ``earwitness report``; they are loaded when
first used.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Result", "__version__", "judge", "rebuild"]

if TYPE_CHECKING:
    from earwitness.api import Result, judge, rebuild


def __getattr__(name: str) -> Any:
    if name in ("Result", "judge", "rebuild"):
        from earwitness import api

        return getattr(api, name)
    raise AttributeError(f"module 'earwitness' has no attribute {name!r}")
