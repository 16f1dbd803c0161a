"""What a Redis that is there may refuse: told from our own mistakes by what it answers."""

from __future__ import annotations

import pytest
from redis._parsers.base import BaseParser

from memory.redis import refuses
from worker.failures import is_outage, is_transient


@pytest.mark.parametrize(
    "answer",
    [
        "OOM command not allowed when used memory > 'maxmemory'.",
        "READONLY You can't write against a read only replica.",
        "MISCONF Errors writing to the AOF file: No space left on device",
        "NOREPLICAS Not enough good replicas to write.",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
        "LOADING Redis is loading the dataset in memory",
    ],
)
def test_a_server_that_cannot_serve_for_now_is_an_outage_and_no_fault_of_a_turn(answer: str) -> None:
    error = BaseParser.parse_error(answer)  # type: ignore[no-untyped-call]
    assert refuses(error)
    assert is_outage(error)
    assert is_transient(error)


@pytest.mark.parametrize(
    "answer", ["WRONGTYPE Operation against a key holding the wrong kind of value", "ERR unknown command 'BUSY'"]
)
def test_a_command_that_is_wrong_stays_wrong(answer: str) -> None:
    error = BaseParser.parse_error(answer)  # type: ignore[no-untyped-call]
    assert not refuses(error)
    assert not is_transient(error)
