"""The demo's systems have exactly the faults they are said to have, and the listener finds them."""

from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest

from earwitness import audio, labels
from earwitness.errors import UserError
from earwitness.listeners.base import Call, Hearing
from earwitness.listeners.yamnet import Yamnet
from earwitness.manifest import from_outputs
from earwitness.questions import QUESTIONS
from earwitness.scenes import demo, synth
from earwitness.scenes.prompts import check_prompts


def said_and_done(clip):
    said = clip.prompt_id.split("-then-")
    done = [placed.source.label for placed in clip.placed]
    return said, done


@pytest.mark.parametrize("seed", range(3))
def test_the_planted_faults_are_exact_counts(seed):
    prompts, clips = demo.plan_demo(seed, 36)
    assert Counter(clip.system for clip in clips) == dict.fromkeys(demo.FAULTY, 36)
    kinds = Counter()
    for clip in clips:
        said, done = said_and_done(clip)
        kind = {tuple(said): "kept", tuple(said[::-1]): "reversed"}.get(tuple(done), "missing")
        assert kind != "missing" or len(done) == 1
        assert clip.faulty == (kind != "kept")
        kinds[clip.system, kind] += 1
    assert kinds == {
        ("keeps-order", "kept"): 36,
        ("reverses-half", "kept"): 18,
        ("reverses-half", "reversed"): 18,
        ("drops-a-third", "kept"): 24,
        ("drops-a-third", "missing"): 12,
    }
    assert len({p.pair_id for p in prompts}) == 18


def test_events_lie_in_the_clip_with_quiet_between_them():
    for clip in demo.plan_demo(5, 36)[1]:
        ends = [0.0, *(p.onset_s + p.duration_s for p in clip.placed)]
        starts = [*(p.onset_s for p in clip.placed), demo.DURATION_S]
        assert min(s - e for s, e in zip(starts[:-1], ends[:-1], strict=True)) >= 0.4
        assert ends[-1] <= demo.DURATION_S


def test_a_count_that_cannot_be_halved_and_thirded_is_refused():
    for prompts in (0, 4, 35):
        with pytest.raises(ValueError, match="multiple of 6"):
            demo.plan_demo(0, prompts)
    with pytest.raises(UserError, match="pairs"):
        demo.plan_demo(0, 600)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return folder, demo.render_demo(folder, seed=0, prompts=24)


def outputs(folder):
    return {system: folder / "outputs" / system for system in demo.FAULTY}


def test_the_folder_is_what_a_user_would_have(rendered):
    folder, planted = rendered
    assert planted == {"keeps-order": 1.0, "reverses-half": 0.5, "drops-a-third": pytest.approx(2 / 3)}
    found = from_outputs(folder / "prompts.csv", outputs(folder))
    assert len(found.items) == 72
    assert not found.notes
    for item in found.items:
        clip = audio.read(item.audio)
        assert clip.samples.shape == (1, round(demo.DURATION_S * demo.RATE_HZ))
        assert not clip.warnings
        assert audio.peak(clip.samples) < 0.99


def test_the_same_seed_renders_the_same_bytes(rendered, tmp_path):
    folder, _ = rendered
    demo.render_demo(tmp_path, seed=0, prompts=24)
    files = sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    assert len(files) == 73
    assert all((folder / f).read_bytes() == (tmp_path / f).read_bytes() for f in files)


def test_systems_do_not_share_sounds(rendered):
    folder, _ = rendered
    for item in from_outputs(folder / "prompts.csv", outputs(folder)).items:
        others = [path / item.audio.name for path in outputs(folder).values() if path != item.audio.parent]
        assert all(item.audio.read_bytes() != other.read_bytes() for other in others)


def test_the_listener_can_judge_every_prompt_of_the_demo():
    rows = [asdict(prompt) for seed in range(5) for prompt in demo.plan_demo(seed, 36)[0]]
    assert [check for check in check_prompts(rows, Yamnet().known_labels) if check.reason] == []


def test_the_listener_hears_what_was_planted(rendered):
    """Whole: rendered files, real listener, first onsets compared as the order task compares them."""
    folder, planted = rendered
    ear = Yamnet()
    items = from_outputs(folder / "prompts.csv", outputs(folder)).items
    calls = (Call(str(i), (audio.read(item.audio),), QUESTIONS["events"]) for i, item in enumerate(items))
    right = Counter()
    for index, answer in ear.hear(calls):
        assert isinstance(answer, Hearing)
        item = items[int(index)]
        onsets = []
        for phrase in (item.first, item.second):
            meant = labels.heard_as(labels.find(phrase))
            onsets.append([e["onset_s"] for e in answer.reply["events"] if e["label"] in meant])
        if all(onsets):
            right[item.system] += min(onsets[1]) - min(onsets[0]) >= ear.needs.resolution_s
    assert {system: right[system] / 24 for system in planted} == pytest.approx(planted, abs=0.05)


def test_the_listener_recognises_the_demo_sounds_alone():
    ear = Yamnet()
    meant = {name: labels.heard_as(synth.CLASSES[name].labels) for name in demo.CLASSES}

    def calls():
        for name in demo.CLASSES:
            for seed in range(100, 110):
                sound = np.pad(synth.render(name, seed), 8000)
                floor = 1e-3 * np.random.default_rng(seed).standard_normal(len(sound))
                samples = (sound + floor).astype(np.float32)[np.newaxis]
                clip = audio.Clip(samples, synth.RATE_HZ, audio.pcm_hash(samples, synth.RATE_HZ))
                yield Call(f"{name}/{seed}", (clip,), QUESTIONS["events"])

    recognised = Counter()
    for call_id, answer in ear.hear(calls()):
        name = call_id.split("/")[0]
        assert isinstance(answer, Hearing)
        recognised[name] += any(e["label"] in meant[name] for e in answer.reply["events"])
    assert all(recognised[name] >= 9 for name in demo.CLASSES), recognised
