"""Weights of small networks with random numbers, in the layouts of the published ones."""

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

VGGISH_CHANNELS = {0: 4, 3: 4, 6: 6, 8: 6, 11: 8, 13: 8}
VGGISH_LINEAR = {0: 16, 2: 16, 4: 12}
PANNS_CHANNELS = (4, 4, 6, 6, 8, 8)
WIDTH = 12


def _drawn(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> Tensor:
    return torch.from_numpy((scale * rng.standard_normal(shape)).astype(np.float32))


def vggish(seed: int = 0) -> dict[str, Tensor]:
    rng = np.random.default_rng(seed)
    made, size = {}, 1
    for at, channels in VGGISH_CHANNELS.items():
        made[f"features.{at}.weight"] = _drawn(rng, channels, size, 3, 3, scale=(2 / (9 * size)) ** 0.5)
        made[f"features.{at}.bias"] = _drawn(rng, channels, scale=0.1)
        size = channels
    size *= 6 * 4
    for at, width in VGGISH_LINEAR.items():
        made[f"embeddings.{at}.weight"] = _drawn(rng, width, size, scale=(2 / size) ** 0.5)
        made[f"embeddings.{at}.bias"] = _drawn(rng, width, scale=0.1)
        size = width
    return made


def mel_bands(window: int, bands: int = 64) -> np.ndarray:
    """(bins, bands) triangles of equal width: a front end is what its weights say."""
    bins = np.linspace(0, bands + 1, window // 2 + 1)[:, np.newaxis]
    return np.maximum(0, 1 - np.abs(bins - 1 - np.arange(bands))).astype(np.float32) / window


def panns(seed: int = 0, window: int = 1024) -> dict[str, Tensor]:
    rng = np.random.default_rng(seed)
    made = {"logmel_extractor.melW": torch.from_numpy(mel_bands(window))}

    def norm(key: str, size: int, mean: float, spread: float) -> None:
        made[f"{key}.running_mean"] = mean + _drawn(rng, size, scale=0.1)
        made[f"{key}.running_var"] = torch.full((size,), float(spread) ** 2)
        made[f"{key}.weight"] = 1 + _drawn(rng, size, scale=0.1)
        made[f"{key}.bias"] = _drawn(rng, size, scale=0.1)

    norm("bn0", 64, -20, 10)
    size = 1
    for block, channels in enumerate(PANNS_CHANNELS, 1):
        for part in (1, 2):
            weight = _drawn(rng, channels, size, 3, 3, scale=(2 / (9 * size)) ** 0.5)
            made[f"conv_block{block}.conv{part}.weight"] = weight
            norm(f"conv_block{block}.bn{part}", channels, 0, 0.7)  # livelier: sound, not biases, decides
            size = channels
    made["fc1.weight"], made["fc1.bias"] = _drawn(rng, WIDTH, size), _drawn(rng, WIDTH, scale=0.1)
    made["fc_audioset.weight"] = _drawn(rng, 527, WIDTH, scale=WIDTH**-0.5)
    made["fc_audioset.bias"] = _drawn(rng, 527, scale=0.1)
    return made


def clap(folder: Path, *, fused: bool = False) -> Path:
    """A folder as save_pretrained writes it: windows of 2 s, 8 numbers."""
    import transformers

    torch.manual_seed(0)
    folder.mkdir()
    signs = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *(chr(code) for code in range(33, 127)), "Ġ"]
    (folder / "vocab.json").write_text(json.dumps({sign: at for at, sign in enumerate(signs)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "RobertaTokenizer", "model_max_length": 64})
    )
    small = {"projection_dim": 8, "hidden_size": 16}
    config = transformers.ClapConfig(
        text_config={
            **small, "vocab_size": len(signs), "num_hidden_layers": 1, "num_attention_heads": 2,
            "intermediate_size": 16, "max_position_embeddings": 66,
        },
        audio_config={
            **small, "spec_size": 256, "patch_embeds_hidden_size": 8, "depths": [1, 1],
            "num_attention_heads": [1, 2], "window_size": 4, "num_hidden_layers": 2, "enable_fusion": fused,
        },
        projection_dim=8,
    )  # fmt: skip
    transformers.ClapModel(config).save_pretrained(folder)
    truncation = "fusion" if fused else "rand_trunc"
    transformers.ClapFeatureExtractor(max_length_s=2, truncation=truncation).save_pretrained(folder)
    return folder
