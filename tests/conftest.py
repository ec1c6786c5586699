"""Shared fixtures: where the real clips are, if they are here."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: how long a machine takes proves nothing. The same examples in every run, so that a change is
# judged by what it changed; `pytest -m hypothesis --hypothesis-profile fresh` looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("fresh", deadline=None)
settings.load_profile("same")


def data_folder() -> Path:
    """The folder of real clips, captions and outputs that is not part of the project."""
    given = os.environ.get("EARWITNESS_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip("the shared real data is not here; set EARWITNESS_DATA to its folder")
    return folder
