"""The two sides of a bank share no recording and no sound, get their share of what is long, and name what had
to be shared."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.audio import write_wav as write
from earwitness.errors import UserError
from earwitness.scenes.bank import Bank, Source
from earwitness.scenes.splits import split


def write_wav(path, samples, rate_hz):
    path.parent.mkdir(exist_ok=True)
    write(path, samples, rate_hz)


def noise(seed, seconds):
    return 0.5 * np.random.default_rng(seed).uniform(-1, 1, (1, round(8000 * seconds))).astype(np.float32)


def bank_of(rows):
    """From (label, recording, name)."""
    by_label = {}
    for label, recording, name in rows:
        by_label.setdefault(label, []).append(Source(label, recording, name=name))
    return Bank({label: tuple(sources) for label, sources in by_label.items()})


def names(side):
    return {label: {source.name for source in sources} for label, sources in side.bank.sources.items()}


def recordings(bank, labels):
    return {source.recording_id for label in labels for source in bank.of(label)}


def numbered(label, recordings, variants=1):
    return [
        (label, f"{label}{r}", f"{label}/{r}-{v}.wav") for r in range(recordings) for v in range(variants)
    ]


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 9)), min_size=1, max_size=60).map(
        lambda pairs: [(label, f"{label}{r}", f"{label}/{i}") for i, (label, r) in enumerate(pairs)]
    )
)
def test_sides_share_no_recording_and_lose_no_clip(rows):
    whole = bank_of(rows)
    train, test = split(whole, "train"), split(whole, "test")
    assert train.shared.keys() == test.shared.keys()
    own = [label for label in whole.sources if label not in train.shared]
    assert not recordings(train.bank, own) & recordings(test.bank, own)
    for label in whole.sources:
        both = names(train)[label] | names(test)[label]
        assert both == {source.name for source in whole.of(label)}
        many = len({source.recording_id for source in whole.of(label)}) > 1
        assert (label in train.shared) is not many
        counts = [len(recordings(side.bank, [label])) for side in (train, test)]
        assert not many or abs(counts[0] - counts[1]) <= 1


def test_the_split_does_not_depend_on_the_order_of_clips_or_on_other_classes():
    rows = numbered("dog", 9, 2) + numbered("cat", 5)
    expected = {side: names(split(bank_of(rows), side)) for side in ("train", "test")}
    for seed in range(5):
        shuffled = rows.copy()
        random.Random(seed).shuffle(shuffled)
        for side in expected:
            assert names(split(bank_of(shuffled), side)) == expected[side]
    more = rows + numbered("owl", 4)
    assert names(split(bank_of(more), "test"))["dog"] == expected["test"]["dog"]


def test_a_class_with_one_recording_is_shared_by_rule_and_named():
    rows = numbered("dog", 4) + numbered("keys", 1, 5) + numbered("siren", 1)
    train, test = (split(bank_of(rows), side) for side in ("train", "test"))
    assert set(train.shared) == {"keys", "siren"}
    assert "one recording" in test.shared["keys"]
    assert "5 clips" in test.shared["keys"]
    assert "both sides use" in test.shared["siren"]
    assert not names(train)["keys"] & names(test)["keys"]
    assert sorted(len(names(side)["keys"]) for side in (train, test)) == [2, 3]
    assert names(train)["siren"] == names(test)["siren"]


def test_a_recording_of_several_classes_lies_on_one_side():
    rows = [
        (label, f"r{number}", f"{label}/{number}.wav") for label in ("bark", "street") for number in range(8)
    ] + numbered("street", 3)
    train, test = (split(bank_of(rows), side) for side in ("train", "test"))
    assert not train.shared
    every = ["bark", "street"]
    assert not recordings(train.bank, every) & recordings(test.bank, every)
    counts = Counter(source.recording_id for source in train.bank.of("street"))
    assert 5 <= len(counts) <= 6


def test_what_other_classes_put_on_a_side_counts_there():
    rows = numbered("a", 8)
    mine = [source.recording_id for source in split(bank_of(rows), "train").bank.of("a")]
    rows += [("b", recording, f"b/{recording}.wav") for recording in mine] + numbered("b", 4)
    train, test = (split(bank_of(rows), side) for side in ("train", "test"))
    assert recordings(train.bank, ["b"]) == set(mine)
    assert len(recordings(test.bank, ["b"])) == 4


def test_a_class_that_others_put_on_one_side_is_shared_and_named():
    rows = numbered("a", 4)
    train = split(bank_of(rows), "train")
    mine = [source.recording_id for source in train.bank.of("a")]
    rows += [("b", recording, f"b/{recording}.wav") for recording in mine]
    shared = split(bank_of(rows), "test").shared
    assert set(shared) == {"b"}
    assert "2 recordings lie on one side" in shared["b"]
    for side in ("train", "test"):
        assert len(split(bank_of(rows), side).bank.of("b")) == 1


def test_all_is_the_bank_itself_and_another_side_is_refused():
    whole = bank_of(numbered("dog", 3) + numbered("keys", 1))
    assert split(whole, "all").bank == whole
    assert split(whole, "all").shared == {}
    with pytest.raises(UserError, match="did you mean 'test'"):
        split(whole, "tests")


def test_long_recordings_are_dealt_before_short_ones(tmp_path):
    for number in range(12):
        length = 2.0 if number % 3 == 0 else 0.2
        write_wav(tmp_path / f"bark/{number:02}.wav", noise(number, length), 8000)
    sides = [split(Bank.open(tmp_path), side).bank.of("bark") for side in ("train", "test")]
    assert [sum(source.path.stat().st_size > 20_000 for source in side) for side in sides] == [2, 2]
    assert [len(side) for side in sides] == [6, 6]


def test_one_sound_under_several_recordings_lies_on_one_side(tmp_path):
    for number in range(10):
        write_wav(tmp_path / f"bark/{number}.wav", noise(number // 5, 1.0), 8000)
    train, test = (split(Bank.open(tmp_path), side) for side in ("train", "test"))
    assert not train.shared
    assert {len(train.bank.of("bark")), len(test.bank.of("bark"))} == {5}
    sounds = [{source.path.read_bytes() for source in side.bank.of("bark")} for side in (train, test)]
    assert not sounds[0] & sounds[1]


def test_a_file_that_cannot_be_read_is_dealt_all_the_same(tmp_path):
    write_wav(tmp_path / "bark/a.wav", noise(0, 1.0), 8000)
    (tmp_path / "bark/b.wav").write_bytes(b"no sound")
    both = [split(Bank.open(tmp_path), side).bank.of("bark")[0].path.name for side in ("train", "test")]
    assert both == ["a.wav", "b.wav"]


def test_the_shared_clips_split_without_sharing(shared_data):
    whole = Bank.open(shared_data / "clips")
    train, test = (split(whole, side) for side in ("train", "test"))
    assert "key_jingling" in train.shared
    own = [label for label in whole.sources if label not in train.shared]
    assert len(own) > 30
    assert not recordings(train.bank, own) & recordings(test.bank, own)


def test_one_sound_under_two_labels_lies_on_one_side(tmp_path):
    for number in range(8):
        for label in ("bark", "dog"):
            write_wav(tmp_path / f"{label}/{label}{number}.wav", noise(number, 1.0), 8000)
    sides = [split(Bank.open(tmp_path), side) for side in ("train", "test")]
    sounds = [
        {source.path.read_bytes() for label in ("bark", "dog") for source in side.bank.of(label)}
        for side in sides
    ]
    assert [len(of) for of in sounds] == [4, 4]
    assert not sounds[0] & sounds[1]
