"""Shared fixtures: where the real clips are, if they are here."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # how long a machine takes proves nothing
settings.load_profile("untimed")


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
