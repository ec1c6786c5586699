"""Systems held against one truth: everything that the report shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from earwitness.tasks.event_scores import Settings, SystemScores
from earwitness.tasks.rows import Comparison

if TYPE_CHECKING:
    import polars

COLUMNS = ("system", "metric", "value", "low", "high", "n", "reason", "outside_left_out")
"""Of :meth:`EventScores.rows`."""


@dataclass(frozen=True, slots=True)
class EventScores:
    """Systems held against one truth.

    Attributes:
        truth: Where it lies, as it was named.
        classes: Labels of the truth.
        comparisons: Every pair of systems, on the clips that both heard.
        notes: What a reader must know about the input.
        inputs: What the files were made of (files.refuse_other); empty where none were written.
    """

    truth: str
    clips: int
    duration_s: float
    classes: tuple[str, ...]
    settings: Settings
    systems: tuple[SystemScores, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    command: str = ""
    version: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def rows(self) -> list[tuple[str, str, float | None, float | None, float | None, int, str, int]]:
        """A row a system and metric, over all its clips, as :data:`COLUMNS` name its cells.

        ``n`` is the number of clips, of errors of time that of matched events; ``reason`` is why there is no
        value; ``outside_left_out`` see SystemScores.
        """
        return [
            (
                one.system,
                name,
                m.value,
                m.low,
                m.high,
                m.n,
                one.whole.reasons.get(name, ""),
                one.outside_left_out,
            )
            for one in self.systems
            for name, m in one.whole.metrics.items()
        ]

    @property
    def frame(self) -> "polars.DataFrame":
        """The numbers as a table, see :meth:`rows`; those of classes are in ``systems``."""
        import polars

        numbers = dict.fromkeys(("value", "low", "high"), polars.Float64)
        return polars.DataFrame(self.rows(), schema=COLUMNS, schema_overrides=numbers, orient="row")
