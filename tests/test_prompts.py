"""Prompt sets state the order they claim, in every wording, and grow without changing."""

import csv
import re
from itertools import permutations

import pytest

from earwitness import captions, labels
from earwitness.errors import InputFaults, UserError
from earwitness.manifest import from_outputs
from earwitness.scenes.classes import SoundClass, admissible_pairs, builtin, confusable_pairs, load_classes
from earwitness.scenes.prompts import WORDINGS, check_prompts, order_prompts, read_csv, write_csv

ORDERED_SET = (
    "dog_bark", "car_horn", "door_knock", "applause", "gunshot", "glass_breaking", "baby_cry", "thunder",
    "whistle", "footsteps",
)  # fmt: skip
COLUMNS = ["prompt_id", "pair_id", "direction", "first", "second", "caption", "reversed_caption"]


def read_back(caption):
    """The caption's two sounds in the order it states."""
    parsed = captions.parse(caption)
    assert parsed.precedences == ((0, 1),), (caption, parsed)
    return tuple(phrase.text for phrase in parsed.phrases)


def test_the_builtin_list_holds_the_ordered_set_and_a_dozen_more():
    assert set(ORDERED_SET) <= builtin().keys()
    assert len(builtin()) >= 22
    for sound in builtin().values():
        assert sound.labels, f"no AudioSet label for {sound.phrase!r}"


def test_every_prompt_is_read_back_as_its_two_sounds():
    for seed in (0, 1):
        for prompt in order_prompts(seed=seed):
            assert read_back(prompt.caption) == (prompt.first, prompt.second)
            assert read_back(prompt.reversed_caption) == (prompt.second, prompt.first)


def test_every_wording_works_for_every_pair():
    bare = {s.phrase: re.sub("^(a|an) ", "", s.phrase) for s in builtin().values()}
    for wording in WORDINGS:
        for first, second in permutations(bare, 2):
            assert read_back(wording.format(a=first, b=second)) == (bare[first], bare[second])


def test_both_directions_of_every_pair_are_exact_reversals():
    prompts = order_prompts()
    assert len({p.prompt_id for p in prompts}) == len(prompts)
    for forward, reverse in zip(prompts[::2], prompts[1::2], strict=True):
        assert (forward.direction, reverse.direction) == ("forward", "reverse")
        assert forward.pair_id == reverse.pair_id
        assert (forward.first, forward.second) == (reverse.second, reverse.first)
        assert (forward.caption, forward.reversed_caption) == (reverse.reversed_caption, reverse.caption)


def test_all_wordings_are_used_about_equally_often():
    prompts = order_prompts()
    joins = [p.caption.lower().replace(p.first.lower(), "").replace(p.second.lower(), "") for p in prompts]
    counts = [joins.count(join) for join in set(joins)]
    assert len(counts) >= 6
    assert max(counts) < len(prompts) / 4


def test_pairs_are_all_but_the_confusable_ones():
    names = builtin().keys()
    made = {frozenset(p.prompt_id.split("-then-")) for p in order_prompts()}
    assert made == {frozenset(p) for p in permutations(names, 2)} - confusable_pairs().keys()


def test_the_table_of_confusable_pairs_gives_a_reason_for_each():
    assert frozenset(("gunshot", "thunder")) in confusable_pairs()
    assert all(len(why.split()) > 3 for why in confusable_pairs().values())


def test_no_admissible_pair_shares_a_label():
    for a, b in admissible_pairs(builtin().values()):
        assert not labels.heard_as(a.labels) & labels.heard_as(b.labels), (a.name, b.name)


def test_a_smaller_sample_is_the_start_of_a_larger_one():
    every = order_prompts(seed=3)
    for n in (1, 10, 20):
        assert order_prompts(seed=3, pairs=n) == every[: 2 * n]
    assert order_prompts(seed=4, pairs=20) != every[:40]


def test_impossible_samples_are_refused_with_the_number_of_pairs():
    for n in (0, -1, 10_000):
        with pytest.raises(UserError, match=str(len(order_prompts()) // 2)):
            order_prompts(pairs=n)


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    for name in ("a.csv", "b.csv"):
        write_csv(tmp_path / name, order_prompts(seed=7, pairs=30))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == COLUMNS
    assert len(rows) == 60


def test_outputs_named_by_prompt_id_are_matched(tmp_path):
    prompts = order_prompts(pairs=5)
    write_csv(tmp_path / "prompts.csv", prompts)
    (tmp_path / "out").mkdir()
    for prompt in prompts:
        (tmp_path / "out" / f"{prompt.prompt_id}.wav").write_bytes(b"RIFF")
    items = from_outputs(tmp_path / "prompts.csv", {"ours": tmp_path / "out"}).items
    assert [i.caption for i in items] == [p.caption for p in prompts]
    assert [i.pair_id for i in items] == [p.pair_id for p in prompts]


def classes_file(tmp_path, text):
    path = tmp_path / "classes.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_users_own_classes_extend_the_builtin_ones_without_changing_their_prompts(tmp_path):
    path = classes_file(
        tmp_path,
        "class\tphrase\tconfusable\nsiren\t\t\nthunder\t\t\nsea lion!\ta sea lion roaring\tthunder\n",
    )
    made = {p.prompt_id: p for p in order_prompts(classes=path)}
    assert made.keys() == {
        "sea_lion-then-siren", "siren-then-sea_lion", "siren-then-thunder", "thunder-then-siren",
    }  # fmt: skip
    builtin_one = next(p for p in order_prompts() if p.prompt_id == "siren-then-thunder")
    assert made["siren-then-thunder"] == builtin_one
    assert made["sea_lion-then-siren"].first == "sea lion roaring"


def test_classes_with_the_same_labels_are_never_paired(tmp_path):
    path = classes_file(tmp_path, "class\tphrase\ndog_bark\t\nhound\ta hound barking\nsiren\t\n")
    pairs = {p.pair_id for p in order_prompts(classes=path)}
    assert pairs == {"dog_bark-siren", "hound-siren"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("class\tphrase\nzither\t\n", "row 2.*zither"),
        ("class\tphrase\n\ta zither\n", "row 2"),
        ("class\tphrase\nsiren\t\nSiren\t\n", "row 3.*siren"),
        ("class\tphrase\tconfusable\nsiren\t\tthundr\n", "thundr.*thunder"),
        ("name\tphrase\nx\ta x\n", "class"),
    ],
)
def test_faults_in_a_users_classes_are_named(tmp_path, text, named):
    with pytest.raises(InputFaults, match=named):
        load_classes(classes_file(tmp_path, text))


def test_a_phrase_that_would_not_be_read_back_is_refused():
    odd = SoundClass("odd", "a dog and then a cat")
    with pytest.raises(UserError, match="odd"):
        order_prompts(classes=[odd, builtin()["siren"]])


def test_one_class_makes_no_pair():
    with pytest.raises(UserError, match="told apart"):
        order_prompts(classes=[builtin()["siren"]])


KNOWN = frozenset({"Dog", "Bark", "Siren", "Bird"})


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("A dog barks, then a siren wails", ""),
        ("A dog barks and a siren wails", "order"),
        ("A dog barks, then a blorptangle", "no label"),
        ("A dog barks, then thunder rumbles", "outside"),
        ("A dog barks, then a puppy yelps", "told apart"),
        ("", "empty"),
    ],
)
def test_check_says_which_prompts_a_detector_can_judge(caption, reason):
    [check] = check_prompts([{"prompt_id": "x", "caption": caption}], KNOWN)
    assert bool(check.reason) == bool(reason)
    assert reason in check.reason


def test_check_of_a_listener_that_reads_needs_only_an_order():
    rows = [
        {"prompt_id": "1", "caption": "A blorptangle hums, then a dog barks"},
        {"prompt_id": "2", "caption": "A dog barks"},
    ]
    assert [bool(c.reason) for c in check_prompts(rows, frozenset())] == [False, True]


def test_check_uses_the_columns_first_and_second_when_given():
    rows = [{"prompt_id": "1", "caption": "scene 7", "first": "a dog barking", "second": "a siren"}]
    assert check_prompts(rows, KNOWN)[0].reason == ""


def test_a_users_prompt_file_needs_only_captions(tmp_path):
    path = tmp_path / "prompts.csv"
    path.write_text('text\n"A dog barks, then a siren wails"\nwind\n', encoding="utf-8")
    with pytest.raises(InputFaults, match="caption"):
        read_csv(path)
    checks = check_prompts(read_csv(path, rename={"caption": "text"}), KNOWN)
    assert [c.prompt_id for c in checks] == ["row 2", "row 3"]
    assert [bool(c.reason) for c in checks] == [False, True]
