"""The peers' part of frechet.py, run by the Python of their environment; it needs nothing of earwitness.

    python frechet_peer.py ASKED.npz ROUNDS

ASKED.npz holds mean_a, cov_a, mean_b and cov_b. Prints a JSON object: name of peer to [distance, least CPU
seconds]. What the packages import for their models (torch, ...) is stood in for; the functions are their own.
"""

import json
import logging
import sys
import time
import warnings
from importlib.metadata import version
from unittest.mock import MagicMock

import numpy as np

MODELS = (
    "torch torch.nn torch.nn.functional torchaudio torchlibrosa torchlibrosa.stft torchlibrosa.augmentation"
    " hypy_utils hypy_utils.tqdm_utils hypy_utils.logging_utils hypy_utils.downloader librosa soundfile"
    " hypy_utils.nlp_utils pandas resampy laion_clap tqdm encodec"
)
sys.modules |= {name: MagicMock() for name in MODELS.split()}
sys.modules["torch.nn"].Module = object


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    from fadtk.fad import calc_frechet_distance
    from frechet_audio_distance import FrechetAudioDistance

    def of_fad(*moments):
        return FrechetAudioDistance.calculate_frechet_distance(None, *moments)

    asked = np.load(sys.argv[1])
    moments = [asked[key] for key in ("mean_a", "cov_a", "mean_b", "cov_b")]
    out = {}
    for package, peer in (("fadtk", calc_frechet_distance), ("frechet_audio_distance", of_fad)):
        spent = []
        for _ in range(int(sys.argv[2])):
            began = time.process_time()
            value = peer(*moments)
            spent.append(time.process_time() - began)
        out[f"{package} {version(package)}"] = [float(np.real(value)), min(spent)]
    print(json.dumps(out))


if __name__ == "__main__":
    main()
