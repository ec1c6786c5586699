"""Rendering, hearing and embedding on a local Ray cluster: as without, whatever is lost on the way."""

import os
import signal
import sqlite3
import subprocess
import sys
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from earwitness import api, audio, workers_ray
from earwitness.backbones import open_backbone
from earwitness.backbones.embedding import embedded
from earwitness.errors import UnusableAudio, UserError
from earwitness.listeners import open_listener
from earwitness.listeners.base import Call, Hearing, Unheard
from earwitness.listeners.on_ray import OnRay
from earwitness.questions import QUESTIONS
from earwitness.scenes import dataset, making, order_pairs
from earwitness.scenes.bank import Bank
from earwitness.workers import parts

pytestmark = pytest.mark.xdist_group("ray")  # one cluster is enough

CPUS = 2
PAIRS = 10


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """One cluster for all tests, which each join it as they find it."""
    with workers_ray._cluster(CPUS) as (ray, cpus):
        assert cpus == CPUS
        yield ray


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# Work functions, found by the workers in this module


def halves(keys):
    return np.array([int(key) / 2 for key in keys])


class Once:
    """Kills its own process the first time that it comes to a key."""

    def __init__(self, key, folder):
        self.key, self.folder = key, folder

    def __call__(self, keys):
        marker = self.folder / "killed"
        if self.key in keys and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return list(keys)


def poisoned(keys):
    if "20" in keys:
        os.kill(os.getpid(), signal.SIGKILL)
    return list(keys)


def refusing(keys):
    if "20" in keys:
        raise UnusableAudio("empty", "no samples")
    return list(keys)


def full(keys):
    raise OSError(28, "No space left on device")


KEYS = [str(number) for number in range(70)]


def test_results_are_those_of_one_process_and_the_callers_own():
    found = list(parts(halves, KEYS, CPUS, "ray"))
    assert np.array_equal(np.concatenate(found), np.arange(70) / 2)
    found[0][0] = 7  # not a view of memory that the cluster shares


def test_what_a_lost_worker_had_is_done_again_and_nothing_twice(tmp_path):
    assert list(chain.from_iterable(parts(Once("20", tmp_path), KEYS, CPUS, "ray"))) == KEYS
    assert (tmp_path / "killed").exists()


def test_a_key_that_ends_every_worker_is_named():
    with pytest.raises(UserError, match=r"^20: 3 workers ended over it"):
        list(parts(poisoned, KEYS[:22], 1, "ray"))


def test_an_error_of_ours_arrives_with_its_key():
    with pytest.raises(UserError, match=r"^20: empty: no samples"):
        list(parts(refusing, KEYS, 1, "ray"))


def test_a_full_disk_is_told_as_such():
    with pytest.raises(OSError) as told:
        list(parts(full, KEYS[:2], 1, "ray"))
    assert told.value.errno == 28


# Rendering


@pytest.fixture(scope="module")
def recipe():
    return order_pairs.recipe(Bank.builtin(3), pairs=PAIRS)


@pytest.fixture(scope="module")
def written(recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("local") / "data"
    dataset.write(folder, recipe, recipe.bank, stems=True, workers=1)
    return folder


def test_a_data_set_made_on_a_cluster_has_the_same_bytes(recipe, written, tmp_path):
    dataset.write(tmp_path / "data", recipe, recipe.bank, stems=True, engine="ray")
    assert contents(tmp_path / "data") == contents(written)


def test_a_worker_that_sees_another_folder_of_that_name_says_so(recipe, tmp_path):
    def exchanged(done, total):
        (tmp_path / "data" / making.LOCK).write_text("of another machine")

    with pytest.raises(UserError, match="is not the same folder on"):
        dataset.write(tmp_path / "data", recipe, recipe.bank, workers=1, progress=exchanged)


def cli(address, *arguments):
    alone = {**workers_ray._ALONE, "RAY_ADDRESS": address}
    return subprocess.run(
        [sys.executable, "-m", "earwitness", *map(str, arguments)],
        env={**os.environ, **alone},
        capture_output=True,
        text=True,
        check=False,
    )


MAKE = ("scenes", "make", "order", "--bank", "builtin", "--pairs", 2, "--engine", "ray", "--out")


def test_the_command_line_joins_the_cluster_that_is_named_and_leaves_it_running(cluster, tmp_path):
    address = cluster.get_runtime_context().gcs_address
    done = cli(address, *MAKE, tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "data" / "audio").iterdir())) == 4
    assert list(chain.from_iterable(parts(Once("none", tmp_path), KEYS, 1, "ray"))) == KEYS


def test_a_cluster_that_cannot_be_reached_is_named_with_the_remedy(tmp_path):
    done = cli("127.0.0.1:9", *MAKE, tmp_path / "data")
    assert done.returncode == 2
    assert "no Ray cluster at RAY_ADDRESS=127.0.0.1:9" in done.stderr
    assert "ray start --head" in done.stderr


# Hearing


def rows(run):
    """All that a ledger says of clips and what was heard of them, but for the times of the files."""
    with sqlite3.connect(run / "ledger.sqlite") as db:
        return {
            "items": sorted(db.execute("SELECT * FROM items")),
            "files": sorted(db.execute("SELECT item_id, role, size, file_hash, pcm_hash, facts FROM files")),
            "hearings": sorted(db.execute("SELECT * FROM hearings")),
            "item_hearings": sorted(db.execute("SELECT * FROM item_hearings"), key=str),
        }


def test_a_run_on_a_cluster_has_the_same_rows(written, tmp_path):
    for engine in ("local", "ray"):
        api.judge("order", written, run=tmp_path / engine, engine=engine, workers=CPUS)
    found = rows(tmp_path / "ray")
    assert len(found["hearings"]) == 2 * PAIRS
    assert found == rows(tmp_path / "local")


def actors():
    """Processes of this one's cluster that hold a worker of ours."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    ours = []
    for pid in parents:
        above = pid
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid() and b"ray::_Worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
            ours.append(pid)
    return ours


def test_calls_of_a_lost_worker_are_heard_again_and_none_twice(written):
    clips = [audio.read(path) for path in sorted((written / "audio").iterdir())]
    killed = []

    def calls():
        for number, clip in enumerate(2 * clips):
            if number == 30:
                killed.extend(actors())
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
            yield Call(f"call {number}", (clip,), QUESTIONS["events"])

    found = list(OnRay("yamnet", workers=CPUS).hear(calls()))
    assert killed
    assert [key for key, _ in found] == [f"call {number}" for number in range(4 * PAIRS)]
    assert all(isinstance(answer, Hearing) for _, answer in found)
    assert [answer for _, answer in found[:PAIRS]] == [answer for _, answer in found[2 * PAIRS : 3 * PAIRS]]


def test_a_call_at_which_the_listener_fails_is_unheard_and_the_others_are_not(written):
    clip = audio.read(next((written / "audio").iterdir()))
    broken = Call("broken", (clip, clip), QUESTIONS["events"])  # two clips, where one is asked about
    good = [Call(f"good {number}", (clip,), QUESTIONS["events"]) for number in range(6)]
    found = dict(OnRay("yamnet", workers=1).hear([*good[:2], broken, *good[2:]]))
    assert isinstance(found["broken"], Unheard)
    assert found["broken"].reason == "transport"
    assert all(isinstance(found[call.call_id], Hearing) for call in good)


def test_a_listener_on_a_cluster_is_the_same_listener():
    here, there = open_listener("yamnet"), OnRay("yamnet")
    for name in ("name", "version", "settings", "needs", "known_labels", "measured"):
        assert getattr(there, name) == getattr(here, name)


def test_a_judge_that_asks_a_server_needs_no_cluster(written, tmp_path):
    with pytest.raises(UserError, match="asks a server"):
        api.judge("order", written, run=tmp_path, engine="ray", listener="google:gemini-2.5-pro")


# Embedding


def test_embeddings_are_the_same_bits(written, tmp_path):
    files = [*sorted((written / "audio").iterdir()), tmp_path / "absent.wav"]
    backbone = open_backbone("yamnet")
    here, there = (
        [found for _, found in embedded(files, backbone, workers=CPUS, engine=engine, cache=False)]
        for engine in ("local", "ray")
    )
    for one, other in zip(here[:-1], there[:-1], strict=True):
        assert np.array_equal(one.embedding.frames, other.embedding.frames)
        assert np.array_equal(one.embedding.logits, other.embedding.logits)
        assert one.pcm_hash == other.pcm_hash
    assert isinstance(there[-1], UnusableAudio)
    assert str(there[-1]) == str(here[-1])
