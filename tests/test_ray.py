"""Rendering, hearing and embedding on a local Ray cluster: as without, whatever is lost on the way."""

import http.server
import os
import signal
import socket
import socketserver
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ray_work
from earwitness import api, audio, runner, workers_ray
from earwitness.backbones import open_backbone
from earwitness.backbones.embedding import embedded
from earwitness.errors import UnusableAudio, UserError
from earwitness.ledger import Ledger
from earwitness.listeners import open_listener
from earwitness.listeners.base import Call, Hearing, Unheard
from earwitness.listeners.on_ray import OnRay
from earwitness.manifest import Item
from earwitness.questions import QUESTIONS
from earwitness.runner import Ask
from earwitness.scenes import dataset, making, order_pairs, slices
from earwitness.scenes.bank import Bank
from earwitness.training import features
from earwitness.training.mixtures import Mixing, pools
from earwitness.workers import CHUNK, parts
from earwitness.workers_ray import on_ray

CPUS = 2
PAIRS = 3


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """One cluster for all tests, which each join it as they find it; every worker costs seconds of CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ray_work.SECRET, "of the command")
        with workers_ray._cluster(CPUS) as (ray, cpus):
            assert cpus == CPUS
            session = Path(ray._private.worker._global_node.get_session_dir_path())
            assert session.is_dir()
            yield ray
        assert not session.exists()


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


KEYS = [str(number) for number in range(70)]


def test_what_lost_workers_had_is_done_again_and_no_key_is_blamed_for_all_of_them(tmp_path):
    found = list(parts(ray_work.Halves(tmp_path, workers_ray.TRIES), KEYS, 1, "ray"))
    assert len(list(tmp_path.iterdir())) == workers_ray.TRIES
    assert np.array_equal(np.concatenate(found), np.arange(70) / 2)
    found[0][0] = 7  # the caller's own, not a view of memory that the cluster shares


def test_a_key_that_ends_every_worker_is_named_and_the_others_are_done(monkeypatch):
    monkeypatch.setattr(workers_ray, "TRIES", 2)
    found = parts(ray_work.poisoned, ["19", "20"], 1, "ray")
    assert next(found) == ["19"]
    with pytest.raises(UserError, match=r"^20: 2 workers ended over it"):
        next(found)


def test_errors_arrive_as_they_are_and_ours_with_the_key_while_secrets_stay():
    none, ours, full = on_ray(ray_work.failing, iter(["19", "20", "21"]), 1, at_a_time=1, ahead=3)
    with pytest.raises(UserError, match=r"^20: empty: no samples"):
        ours.given()
    with pytest.raises(OSError) as told:
        full.given()
    assert told.value.errno == 28
    assert none.given() is None  # workers have not the keys of the command,
    assert os.environ[ray_work.SECRET]  # which still has them


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "GEMINI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD"),
        *("GOOGLE_APPLICATION_CREDENTIALS", "api_key"),
    ],
)
def test_secrets_are_known_by_their_names(name):
    assert workers_ray._SECRET.fullmatch(name)


@pytest.mark.parametrize(
    "name", ["PATH", "RAY_AUTH_TOKEN", "EARWITNESS_CACHE", "KEYBOARD", "OMP_NUM_THREADS"]
)
def test_what_workers_need_is_no_secret(name):
    assert not workers_ray._SECRET.fullmatch(name)


@pytest.mark.parametrize(
    "address", ["auto", "127.0.0.1", "ray://127.0.0.1:10001", "127.0.0.1:99999", "{closed}"]
)
def test_a_cluster_that_cannot_be_reached_is_named_with_the_remedy(cluster, address):
    with socket.socket() as closed:  # bound, so that nobody else listens there
        closed.bind(("127.0.0.1", 0))
        address = address.format(closed=f"127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(UserError, match=rf"no Ray cluster at RAY_ADDRESS={address}: .*\n.*ray start"):
            workers_ray._join(cluster, address, 1)


class Page(http.server.BaseHTTPRequestHandler):
    """What a web server says to anything."""

    def log_message(self, *given):
        pass


@pytest.mark.parametrize("server", [socketserver.BaseRequestHandler, Page])
def test_what_is_not_ray_is_told_and_not_waited_for(cluster, server, monkeypatch):
    monkeypatch.setattr(workers_ray, "_ANSWER_S", 2.0)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def shutdown_request(self, request):
            """Stay connected, and silent."""

    with Server(("127.0.0.1", 0), server) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(UserError, match="there did not answer as Ray within 2 s") as told:
            workers_ray._join(cluster, f"127.0.0.1:{other.server_address[1]}", 1)
        other.shutdown()
    assert "unset it to use this machine alone" in str(told.value)


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
    dataset.write(tmp_path / "data", recipe, recipe.bank, stems=True, workers=1, engine="ray")
    assert contents(tmp_path / "data") == contents(written)


def test_a_worker_that_sees_another_folder_of_that_name_says_so(tmp_path):
    def exchanged(done, total):
        (tmp_path / "data" / making.LOCK).write_text("of another machine")

    more = order_pairs.recipe(Bank.builtin(3), pairs=CHUNK)
    with pytest.raises(UserError, match="is not the same folder on"):
        dataset.write(tmp_path / "data", more, more.bank, workers=1, progress=exchanged)


JOINING = """
import ray
from earwitness.errors import UserError
from earwitness.workers import parts
if __name__ == "__main__":
    version, ray.__version__ = ray.__version__, "2.0"
    try:
        list(parts(",".join, ["1", "2"], None, "ray"))
    except UserError as fault:
        print(fault)
    ray.__version__ = version
    print(list(parts(",".join, ["1", "2"], None, "ray")))
"""


def test_a_command_joins_the_cluster_that_is_named_unless_its_ray_is_another_and_leaves_it_running(cluster):
    address = cluster.get_runtime_context().gcs_address
    done = subprocess.run(
        [sys.executable, "-c", JOINING],
        env={**os.environ, **workers_ray._ALONE, "RAY_ADDRESS": address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    fault, remedy, given = done.stdout.strip().split("\n")
    assert f"RAY_ADDRESS={address} cannot be joined: Version mismatch" in fault
    assert "the Ray that it was started with" in remedy
    assert given == "['1,2']"
    assert [node["Alive"] for node in cluster.nodes()] == [True]


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
    items = [Item("a", path.stem, path, caption="") for path in sorted((written / "audio").iterdir())]
    for name, listener in (
        ("local", open_listener("yamnet", workers=1)),
        ("ray", OnRay("yamnet", workers=1)),
    ):
        (tmp_path / name).mkdir()
        with Ledger.create(tmp_path / name / "ledger.sqlite") as ledger:
            ledger.begin({}, items)
            runner.run(ledger, listener, lambda stored: [Ask("clip", "events")], QUESTIONS, seed=0)
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


def test_calls_of_a_lost_worker_are_heard_again_and_one_that_fails_is_unheard(written):
    clips = [audio.read(path) for path in sorted((written / "audio").iterdir())]
    killed = []

    def calls():
        for number in range(3 * len(clips)):
            clip = clips[number % len(clips)]
            if number == 13:  # one more than are under way before the first is done
                killed.extend(actors())
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
            broken = number == 2  # two clips, where one is asked about
            yield Call(f"call {number}", (clip, clip) if broken else (clip,), QUESTIONS["events"])

    found = list(OnRay("yamnet", workers=1).hear(calls()))
    assert killed
    assert [key for key, _ in found] == [f"call {number}" for number in range(3 * len(clips))]
    answers = [answer for _, answer in found]
    assert isinstance(answers[2], Unheard)
    assert answers[2].reason == "transport"
    assert all(isinstance(answer, Hearing) for number, answer in enumerate(answers) if number != 2)
    assert answers[6:12] == answers[12:18]


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
        [found for _, found in embedded(files, backbone, workers=1, engine=engine, cache=False)]
        for engine in ("local", "ray")
    )
    for one, other in zip(here[:-1], there[:-1], strict=True):
        assert np.array_equal(one.embedding.frames, other.embedding.frames)
        assert np.array_equal(one.embedding.logits, other.embedding.logits)
        assert one.pcm_hash == other.pcm_hash
    assert isinstance(there[-1], UnusableAudio)
    assert str(there[-1]) == str(here[-1])


# Training


def test_what_a_detector_is_trained_on_is_the_same_bits(tmp_path, monkeypatch):
    whole = Bank.builtin(1)
    cut = slices.cut(replace(whole, sources={"rain": whole.sources["rain"]}))
    few = features.Mixtures(pools(cut.slices), Mixing(duration_s=5.0, augment=True), 0, 3)
    found = []
    for engine in ("local", "ray"):
        monkeypatch.setattr(features, "cache_folder", lambda engine=engine: tmp_path / engine)
        found.append(np.array(features.rows(few, features.Source("yamnet"), workers=1, engine=engine)))
    assert found[0].any()
    assert np.array_equal(*found)
