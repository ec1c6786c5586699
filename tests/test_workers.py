"""Work spread over processes of this machine: the same results, in order, and errors that a user can read."""

import os
import sys

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from earwitness.errors import MissingExtra, UnusableAudio, UserError
from earwitness.workers import AHEAD, CHUNK, check, parts


def squares(keys):
    return [int(key) ** 2 for key in keys]


def refusing(keys):
    if "20" in keys:
        raise UnusableAudio("empty", "20 holds no samples")
    return list(keys)


def full(keys):
    raise OSError(28, "No space left on device")


def dying(keys):
    os._exit(1)


def numbers(count):
    return [str(number) for number in range(count)]


@given(st.lists(st.integers(0, 99).map(str), max_size=70))
def test_every_key_is_done_once_and_in_order(keys):
    assert [one for part in parts(squares, keys, 1) for one in part] == [int(key) ** 2 for key in keys]


@hypothesis_settings(max_examples=2)
@given(st.integers(2, 3), st.integers(CHUNK + 1, 6 * CHUNK))
def test_the_number_of_workers_changes_nothing(workers, count):
    keys = numbers(count)
    assert list(parts(squares, keys, workers)) == list(parts(squares, keys, 1))


def test_keys_are_drawn_as_they_are_needed():
    drawn = []

    def drawing():
        for key in numbers(100 * CHUNK):
            drawn.append(key)
            yield key

    found = parts(squares, drawing(), 2)
    next(found)
    assert len(drawn) <= (2 * AHEAD + 1) * CHUNK
    found.close()


def test_an_error_of_ours_reaches_the_user_from_another_process():
    with pytest.raises(UserError, match="20 holds no samples"):
        list(parts(refusing, numbers(40), 2))


def test_a_full_disk_is_told_as_such():
    with pytest.raises(OSError) as told:
        list(parts(full, numbers(40), 2))
    assert told.value.errno == 28


def test_a_worker_that_dies_is_told():
    with pytest.raises(UserError, match="ended before its work was done"):
        list(parts(dying, numbers(40), 2))


def test_an_unknown_engine_is_refused_with_the_nearest():
    with pytest.raises(UserError, match=r"no engine 'rya'.*\n.*Did you mean 'ray'"):
        list(parts(squares, numbers(3), 1, "rya"))


def test_a_missing_ray_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'earwitness\[ray\]'"):
        check("ray")
