"""Which failures pass, and which of them are nobody's turn's fault."""

from __future__ import annotations

import errno
import os

import pytest

from memory.failures import is_outage, is_transient, pause_before_retry


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO])
def test_a_machine_that_has_no_more_to_give_is_no_turns_fault(code: int) -> None:
    assert is_outage(OSError(code, os.strerror(code)))


@pytest.mark.parametrize("code", [errno.ENOENT, errno.EACCES, errno.EISDIR])
def test_a_file_that_is_not_as_it_must_be_stays_so(code: int) -> None:
    assert not is_transient(OSError(code, os.strerror(code)))


def test_a_turn_that_takes_all_memory_is_tried_again_but_not_for_ever() -> None:
    assert (is_transient(MemoryError()), is_outage(MemoryError())) == (True, False)


@pytest.mark.parametrize("attempt", [20, 2000])
def test_an_outage_of_days_is_waited_for_by_pauses_of_a_minute_at_most(attempt: int) -> None:
    assert 30 <= pause_before_retry(attempt) <= 60
