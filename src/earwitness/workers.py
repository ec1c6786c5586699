"""Work on many keys or calls, in this process, in several, or on a Ray cluster.

Whatever does it, results come in the order of the keys, each once, and they are the same.
"""

import importlib.util
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

from earwitness.errors import EarwitnessError, MissingExtra, UserError, choices, nearest

ENGINES = ("local", "ray")
"""Where work is done: processes of this machine, or a Ray cluster."""
CHUNK = 16
"""Keys a worker takes at a time."""
AHEAD = 3
"""Parts under way for every worker: one is done while the one before it is waited for."""

Key = TypeVar("Key")
Part = TypeVar("Part")


def parts(
    work: Callable[[Sequence[Key]], Part], keys: Iterable[Key], workers: int | None, engine: str = "local"
) -> Iterator[Part]:
    """What ``work`` gives for some keys after others, in their order; few parts are under way at a time.

    Args:
        work: With more than one worker it is pickled once for each.
        keys: Drawn as they are needed.
        workers: Processes; None takes every core, of this machine or of the cluster.
        engine: One of :data:`ENGINES`. On Ray, what a lost worker had under way is done again.

    Raises:
        UserError: If a worker died (on Ray: again and again, over the same key), or had an error of ours;
            or see :func:`check`.
    """
    check(engine)
    source = iter(keys)
    if engine == "ray":
        from earwitness.workers_ray import on_ray

        for part in on_ray(work, source, workers, at_a_time=CHUNK, ahead=AHEAD):
            yield part.given()
        return
    workers = workers or len(os.sched_getaffinity(0))
    chunks = iter(lambda: list(islice(source, CHUNK)), [])
    if workers == 1:
        yield from map(work, chunks)
        return
    context = get_context("spawn")  # a fork would copy locks that other threads hold
    with ProcessPoolExecutor(workers, context, _start, (work,)) as pool:
        waiting = deque(pool.submit(_done, chunk) for chunk in islice(chunks, AHEAD * workers))
        try:
            while waiting:
                part = waiting.popleft().result()
                waiting.extend(pool.submit(_done, chunk) for chunk in islice(chunks, 1))
                yield part
        except BrokenProcessPool as fault:
            raise UserError(
                "A worker process ended before its work was done.",
                "Was memory short? Or is this a script without 'if __name__ == \"__main__\":'? Ask for one "
                "worker to work in this process. What is finished is kept.",
            ) from fault
        finally:
            pool.shutdown(cancel_futures=True)


def check(engine: str) -> None:
    """Make sure that there is such an engine here.

    Raises:
        UserError: Naming the nearest engine, or the extra that is not installed.
    """
    if engine not in ENGINES:
        raise UserError(f"there is no engine {engine!r}.", choices(nearest(engine, ENGINES), ENGINES))
    if engine == "ray" and importlib.util.find_spec("ray") is None:
        raise MissingExtra("Ray, which the engine 'ray' needs,", "ray")


_work: Callable[[Sequence[Any]], Any] | None = None


def _start(work: Callable[[Sequence[Any]], Any]) -> None:
    """In a new worker. Ctrl-C is the parent's to handle; a parent that is killed takes its workers along."""
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _done(keys: Sequence[Any]) -> Any:
    assert _work is not None
    try:
        return _work(keys)
    except EarwitnessError as fault:  # of several arguments, which do not survive the way to the parent
        raise UserError(str(fault)) from None
