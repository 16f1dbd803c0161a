"""Parts that are asked at once."""

from __future__ import annotations

import subprocess
import sys
from multiprocessing import TimeoutError as NotInTime
from threading import Event

from interfaces.timeouts import ask_all

_ASKS = """
from interfaces.timeouts import ask_all
def fails():
    raise ValueError("no")
print(dict(ask_all({"first": lambda: "yes", "second": fails}, 60)))
"""


def test_each_part_answers_or_fails_for_itself_and_one_that_hangs_is_waited_for_no_longer_than_is_said() -> None:
    ended = Event()
    parts = {"first": lambda: "yes", "second": lambda: str(int("no")), "third": lambda: str(ended.wait(60))}
    first, second, third = (answer for _, answer in ask_all(parts, 0.2))
    ended.set()
    assert first == "yes"
    assert isinstance(second, ValueError)
    assert isinstance(third, NotInTime)


def test_a_command_that_asked_parts_ends_without_a_word_of_it() -> None:
    ended = subprocess.run([sys.executable, "-c", _ASKS], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
