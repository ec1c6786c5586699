"""What scenes are drawn from is told whole: labels that are not used, clips that a bank leaves out."""

import numpy as np
import pytest

from earwitness import audio
from earwitness.errors import UserError
from earwitness.scenes import material
from earwitness.scenes.bank import Bank


def bank_of(folder, *names):
    rng = np.random.default_rng(0)
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        audio.write_wav(path, rng.uniform(-0.3, 0.3, (1, 32_000)).astype(np.float32), 16_000)
    return Bank.open(folder)


def gather(bank, **how):
    return material.gather(bank, seed=0, duration_s=10.0, sounds=2, **how)


def test_a_bank_of_one_known_class_is_refused_with_the_labels_that_are_unknown(tmp_path):
    bank = bank_of(tmp_path, "siren/a.wav", "humm/b.wav", "grrk/c.wav")
    with pytest.raises(UserError) as raised:
        gather(bank)
    said = str(raised.value)
    assert "it has siren." in said
    assert "no known class are left out: grrk, humm." in said
    assert "--classes FILE" in said


def test_clips_that_a_bank_leaves_out_are_told(tmp_path):
    bank = bank_of(tmp_path, "siren/a.wav", "siren/old/b.wav", "dog_bark/c.wav")
    told = "1 of the bank's clips is left out: in a folder below that of the label."
    assert told in gather(bank).notes
    assert told in gather(bank, split="train").notes
