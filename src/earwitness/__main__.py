"""``python -m earwitness``."""

from earwitness.cli.main import run

run()
