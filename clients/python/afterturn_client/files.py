"""Files that processes of a machine share and lock; whatever lies in their place, nobody waits for it without end."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

_LOOK_SECONDS: Final = 0.01


def make(file: Path) -> None:
    """Make a file of this account's own where there is none, without opening one that is there.

    Raises:
        OSError: it cannot be made, or what is there is no regular file.
    """
    file.touch(mode=0o600)
    _check(file, file.stat())


def open_lock(file: Path) -> IO[bytes]:
    """Open a file to lock it, and make it where there is none.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    # Without O_NONBLOCK a pipe lets whoever opens it wait for another end.
    lock = os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600), "r+b", buffering=0)
    try:
        _check(file, os.fstat(lock.fileno()))
    except OSError:
        lock.close()
        raise
    return lock


def try_lock(lock: IO[bytes]) -> bool:
    """Lock an open file, or return False where another has it locked."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(lock: IO[bytes]) -> None:
    """Unlock a file; to close it alone is not enough, for a child that was forked meanwhile has it open too."""
    fcntl.flock(lock, fcntl.LOCK_UN)


def is_locked(file: Path) -> bool:
    """Return whether another has a file locked.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    with open_lock(file) as lock:
        if not try_lock(lock):
            return True
        unlock(lock)
    return False


@contextmanager
def locked(file: Path, wait_seconds: float) -> Iterator[None]:
    """Make this block the only one on the machine that has a file locked.

    Raises:
        OSError: it cannot be opened, or others have it locked for `wait_seconds`.
    """
    deadline = time.monotonic() + wait_seconds
    with open_lock(file) as lock:
        while not try_lock(lock):
            if time.monotonic() >= deadline:
                raise OSError(f"another process has {file.name} locked for {wait_seconds:.0f} seconds")
            time.sleep(_LOOK_SECONDS)
        try:
            yield
        finally:
            unlock(lock)


def _check(file: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{file.name} is no regular file; remove it")
