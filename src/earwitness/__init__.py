"""Event-level evaluation of audio made, edited, described or understood by machines."""

__version__ = "0.1.0"
