"""Work on many keys or calls, in this process, in several, or on a Ray cluster."""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

from earwitness.errors import EarwitnessError, UserError

_CHUNK = 16  # keys a worker takes at a time

Part = TypeVar("Part")
Work = Callable[[Sequence[str]], Part]


def parts(work: Work[Part], keys: Sequence[str], workers: int) -> Iterator[Part]:
    """What ``work`` gives for some keys after others, in their order; few parts are under way at a time.

    Args:
        work: With more than one worker it is pickled once for each.

    Raises:
        UserError: If a worker died, or had an error of ours.
    """
    chunks = (keys[at : at + _CHUNK] for at in range(0, len(keys), _CHUNK))
    if workers == 1:
        yield from map(work, chunks)
        return
    context = get_context("spawn")  # a fork would copy locks that other threads hold
    with ProcessPoolExecutor(workers, context, _start, (work,)) as pool:
        waiting = deque(pool.submit(_done, chunk) for chunk in islice(chunks, 3 * workers))
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


_work: Work[Any] | None = None


def _start(work: Work[Any]) -> None:
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


def _done(keys: Sequence[str]) -> Any:
    assert _work is not None
    try:
        return _work(keys)
    except EarwitnessError as fault:  # of several arguments, which do not survive the way to the parent
        raise UserError(str(fault)) from None
