"""What the workers of test_ray.py are given to do: apart, for they import no more than this."""

import os
import signal

import numpy as np

from earwitness.errors import UnusableAudio

SECRET = "PLANTED_API_KEY"


class Halves:
    """Half of every key, of which one, the first time that it comes, ends the process that does it."""

    def __init__(self, key, folder):
        self.key, self.folder = key, folder

    def __call__(self, keys):
        marker = self.folder / "killed"
        if self.key in keys and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([int(key) / 2 for key in keys])


def poisoned(keys):
    if "20" in keys:
        os.kill(os.getpid(), signal.SIGKILL)
    return list(keys)


def failing(keys):
    if "20" in keys:
        raise UnusableAudio("empty", "no samples")
    if "21" in keys:
        raise OSError(28, "No space left on device")
    return os.environ.get(SECRET)
