"""How sure a number is: intervals over clusters, paired differences, corrected p values."""

from earwitness.stats.comparisons import Paired, holm, paired_difference
from earwitness.stats.intervals import Interval, cluster_interval, wilson

__all__ = ["Interval", "Paired", "cluster_interval", "holm", "paired_difference", "wilson"]
