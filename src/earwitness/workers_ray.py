"""Work on a Ray cluster: that of ``RAY_ADDRESS``, or else one of this machine that ends with the work.

Workers are Ray actors of one CPU each, which hold the work and do one part at a time. A worker that is lost,
with its node or alone, is replaced, and the keys of its part are done again one by one, so that a key which
ends every worker is found and the others are not lost with it. So are the keys of a part that raised. A key
that has ended :data:`TRIES` workers is given up.
"""

import importlib
import importlib.metadata
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from earwitness.errors import EarwitnessError, UserError

log = logging.getLogger(__name__)

ADDRESS = "RAY_ADDRESS"
TRIES = 3
"""Workers that a key may end before it is given up."""
_PATIENCE_S = 60.0  # before a user is told that the cluster gives no CPU
_REACH_S = 5.0  # to open a connection
_ANSWER_S = 15.0  # to say that it is Ray, with the start of a process that asks
_STORE_BYTES = 256 * 2**20  # of a cluster of this machine: parts are small, and what does not fit is spilled

Key = TypeVar("Key")
Given = TypeVar("Given")


class WorkerLost(UserError):
    """A key ended every worker that took it."""


@dataclass(slots=True, eq=False)
class RayPart(Generic[Key, Given]):
    """Some keys and what the work gave for them.

    Attributes:
        fault: Why there is nothing: what the work raised for the only key, or :class:`WorkerLost`.
    """

    keys: Sequence[Key]
    lost: int = 0
    done: bool = False
    result: Given | None = None
    fault: BaseException | None = None

    def given(self) -> Given:
        """What the work gave.

        Raises:
            UserError: An error of ours that the work raised, with the key, or WorkerLost; anything else
                that it raised comes as it is.
        """
        if isinstance(self.fault, UserError) and (key := str(self.keys[0])) not in str(self.fault):
            raise UserError(f"{key}: {self.fault.message}", self.fault.remedy)
        if self.fault is not None:
            raise self.fault
        return self.result  # type: ignore[return-value]  # None may be what the work gives


def on_ray(
    work: Callable[[Sequence[Key]], Given],
    keys: Iterator[Key],
    workers: int | None,
    *,
    at_a_time: int,
    ahead: int,
) -> Iterator[RayPart[Key, Given]]:
    """The keys' parts in their order, each key once.

    Args:
        work: Pickled once, with functions of a script by value; unpickled once in every worker.
        keys: Drawn by the caller's thread, as there is room for them.
        workers: Actors at most; None for all CPUs of the cluster. They start as there is work for them.
        at_a_time: Keys a part.
        ahead: Parts under way or kept for their turn, for every worker.

    Raises:
        UserError: If the cluster cannot be reached, or its workers cannot be started.
    """
    with _cluster(workers) as (ray, cpus):
        crew = _Crew(ray, work, workers or cpus)
        window: deque[RayPart[Key, Given]] = deque()
        try:
            while True:
                while len(window) < ahead * crew.size and (chunk := list(islice(keys, at_a_time))):
                    window.append(RayPart(chunk))
                    crew.todo.append(window[-1])
                if not window:
                    return
                while window and window[0].done:
                    yield window.popleft()
                if window:
                    for part in crew.troubled():
                        _divide(part, window, crew.todo)
        finally:
            crew.end()


def _divide(
    part: RayPart[Any, Any], window: deque[RayPart[Any, Any]], todo: deque[RayPart[Any, Any]]
) -> None:
    """Put parts of one key each in the place of a part that came to nothing. They are done after the others
    that wait: where workers are lost one after the other, each takes another key with it, and none is given
    up for what was not its doing."""
    if len(part.keys) > 1:
        single = [RayPart[Any, Any]([key], part.lost) for key in part.keys]
        at = window.index(part)
        window.remove(part)
        for number, one in enumerate(single):
            window.insert(at + number, one)
        todo.extend(single)
    elif part.fault is not None:
        part.done = True
    elif part.lost < TRIES:
        todo.append(part)
    else:
        part.fault = WorkerLost(
            f"{part.lost} workers ended over it, one after the other.",
            "Does it need more memory than a worker has? What is finished is kept.",
        )
        part.done = True


class _Crew:
    """Actors, the parts that wait for one, and what is under way."""

    def __init__(self, ray: Any, work: Callable[[Sequence[Any]], Any], size: int) -> None:
        self.ray, self.size = ray, size
        self.todo: deque[RayPart[Any, Any]] = deque()
        self._actor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Worker)
        self._work = ray.put(ray.cloudpickle.dumps(work))
        self._idle: list[Any] = []
        self._starting: dict[Any, Any] = {}  # what tells that an actor is ready -> the actor
        self._busy: dict[Any, tuple[Any, RayPart[Any, Any]]] = {}  # what will be the result -> who does what
        self._failed_starts = 0

    def troubled(self) -> list[RayPart[Any, Any]]:
        """Go on until something has happened; what came to nothing is given back."""
        ray = self.ray
        troubled: list[RayPart[Any, Any]] = []
        while self.todo and self._idle:
            actor, part = self._idle.pop(), self.todo.popleft()
            self._busy[actor.done.remote(ray.cloudpickle.dumps(part.keys))] = actor, part
        here = len(self._starting) + len(self._busy) + len(self._idle)
        for _ in range(min(len(self.todo) - len(self._starting), self.size - here)):
            actor = self._actor.remote()
            self._starting[actor.start.remote(self._work, os.getcwd(), sys.path, _version())] = actor
        refs = [*self._busy, *self._starting]
        ready, _ = ray.wait(refs, num_returns=1, timeout=_PATIENCE_S)
        if not ready and not self._busy and not self._idle:
            log.warning("still waiting for the cluster to give a worker a CPU")
        for ref in ready:
            if ref in self._starting:
                self._started(ref)
            elif (failed := self._finished(ref)) is not None:
                troubled.append(failed)
        return troubled

    def end(self) -> None:
        for actor in [*self._idle, *self._starting.values(), *(actor for actor, _ in self._busy.values())]:
            self.ray.kill(actor)

    def _started(self, ref: Any) -> None:
        actor, faults = self._starting.pop(ref), self.ray.exceptions
        try:
            self.ray.get(ref)
        except faults.RayTaskError as fault:
            self.ray.kill(actor)
            cause = fault.cause
            if isinstance(cause, UserError):
                raise cause from None
            raise UserError(f"a worker could not be started: {cause!r}.", _SAME) from fault
        except faults.RayError as fault:
            self.ray.kill(actor)
            self._failed_starts += 1
            if self._failed_starts >= TRIES and not self._idle and not self._busy:
                raise UserError(f"workers end as they start: {fault}", _SAME) from fault
        else:
            self._failed_starts = 0
            self._idle.append(actor)

    def _finished(self, ref: Any) -> RayPart[Any, Any] | None:
        """Keep the result of a part; the part itself if there is none."""
        (actor, part), ray = self._busy.pop(ref), self.ray
        try:
            part.result = ray.cloudpickle.loads(ray.get(ref))
        except ray.exceptions.RayTaskError as fault:
            self._idle.append(actor)
            cause: BaseException = fault.cause
            cause.__cause__ = fault  # with the worker's own traceback
            part.fault = cause
            return part
        except ray.exceptions.RayError as fault:  # the actor, its node, or the result it kept
            log.warning("a worker was lost; what it did is done again: %s", str(fault).split("\n")[0])
            ray.kill(actor)
            part.lost += 1
            return part
        self._idle.append(actor)
        part.done = True
        return None


_SAME = "Every node needs the same Python and the same earwitness with what it needs."


class _Worker:
    """In an actor. Only bytes cross, so that arrays are the worker's own, as in a local process."""

    def start(self, work: bytes, folder: str, modules: Sequence[str], version: str) -> None:
        if version != _version():
            raise UserError(
                f"{socket.gethostname()} has earwitness {_version()}; this is {version}.",
                "Install the same version on every node.",
            )
        try:
            os.chdir(folder)  # relative paths are those of the command
        except OSError as fault:
            raise UserError(
                f"{socket.gethostname()} does not see the folder {folder}: {fault.strerror}.",
                "Give the command in a folder that all nodes share.",
            ) from None
        sys.path.extend(place for place in modules if place not in sys.path)
        self._pickle: Any = importlib.import_module("ray.cloudpickle")
        self._work = self._pickle.loads(work)

    def done(self, keys: bytes) -> bytes:
        try:
            given = self._work(self._pickle.loads(keys))
        except EarwitnessError as fault:  # of several arguments, which do not survive the way back
            raise UserError(str(fault)) from None
        dumped: bytes = self._pickle.dumps(given)
        return dumped


def _version() -> str:
    return importlib.metadata.version("earwitness")


@contextmanager
def _cluster(workers: int | None) -> Iterator[tuple[Any, int]]:
    """Ray, joined to a cluster, and how many CPUs that has. One that was joined before is left as it is."""
    address = (os.environ.get(ADDRESS) or "local").strip()
    if address == "local":
        for name, value in _ALONE.items():
            os.environ.setdefault(name, value)
    ray: Any = importlib.import_module("ray")
    joined = not ray.is_initialized()
    left = _join(ray, address, workers) if joined else None
    try:
        yield ray, int(ray.cluster_resources().get("CPU", 1))
    finally:
        if joined:
            ray.shutdown()
        if left is not None:
            shutil.rmtree(left, ignore_errors=True)  # what is left of it, Ray may still be writing


_QUIET = {"log_to_driver": False, "logging_level": logging.ERROR}
_ALONE = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is told to anybody
    "RAY_worker_niceness": "0",  # as the command is; Ray would let anything else on the machine go first
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # as there, Ray then listens on loopback alone; read at import
}


_PLACE = re.compile(r"(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^:\[\]/]+)):(?P<port>\d{1,5})")

_SECRET = re.compile(r"(?i)(?!RAY_)(.*_)?(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_.*)?")
"""Names of what is nobody's business but the command's. Ray's own processes need its token."""


def _join(ray: Any, address: str, workers: int | None) -> Path | None:
    """Join the cluster; the folder of its session if it is one of ours, which nobody else will remove.

    Raises:
        UserError: If there is none.
    """
    try:
        if address == "local":
            with _without_secrets():
                joined = ray.init(
                    address="local",
                    num_cpus=workers or len(os.sched_getaffinity(0)),
                    object_store_memory=_STORE_BYTES,
                    include_dashboard=False,
                    **_QUIET,
                )
            return Path(joined.address_info["session_dir"])
        if (place := _PLACE.fullmatch(address)) is None:  # "auto" may be a cluster that is long gone
            raise ValueError("it must be HOST:PORT, as 'ray start' gave it")
        with socket.create_connection((place["v6"] or place["host"], int(place["port"])), _REACH_S):
            pass
    except (OSError, OverflowError, RuntimeError, ValueError) as fault:
        raise _none(address, str(fault)) from fault
    _ask(address)
    try:
        ray.init(address=address, **_QUIET)
    except (ConnectionError, RuntimeError, ValueError) as fault:
        raise _closed(address, str(fault)) from fault
    return None


def _ask(address: str) -> None:
    """Make sure that Ray answers. ``ray.init`` would wait for minutes for whatever else listens there, and
    cannot be stopped; so another process asks.

    Raises:
        UserError: If it does not, or turns us away.
    """
    ask = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--skip-version-check"]
    try:
        asked = subprocess.run(
            [*ask, "--address", address], capture_output=True, text=True, timeout=_ANSWER_S, check=False
        )
    except subprocess.TimeoutExpired as fault:
        raise _none(address, f"what listens there did not answer as Ray within {_ANSWER_S:g} s") from fault
    if asked.returncode:
        raise _closed(address, asked.stderr.strip().rpartition("\n")[2])


def _none(address: str, why: str) -> UserError:
    return UserError(
        f"there is no Ray cluster at {ADDRESS}={address}: {why}.",
        f"Start one with 'ray start --head', correct {ADDRESS}, or unset it to use this machine alone.",
    )


def _closed(address: str, why: str) -> UserError:
    return UserError(
        f"the Ray cluster at {ADDRESS}={address} cannot be joined: {' '.join(why.split()).rstrip('.')}.",
        "Give the command on one of its machines, with the Python and the Ray that it was started with.",
    )


@contextmanager
def _without_secrets() -> Iterator[None]:
    """While processes are started that inherit the environment, and every worker from them."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if _SECRET.fullmatch(name)}
    try:
        yield
    finally:
        os.environ.update(kept)
