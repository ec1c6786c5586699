"""What the workers of test_ray.py are given to do: apart, for they import no more than this."""

import os
import signal

import numpy as np

from earwitness.errors import UnusableAudio

SECRET = "PLANTED_API_KEY"


class Halves:
    """Half of every key, but the first parts end the process that does them."""

    def __init__(self, folder, losses):
        self.folder, self.losses = folder, losses

    def __call__(self, keys):
        lost = len(list(self.folder.iterdir()))
        if lost < self.losses:
            (self.folder / str(lost)).touch()
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
