"""The data folder of a fleet on one machine, and who owns it."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from schema.errors import OperatorError
from stores.private_files import make_private, tighten

_NEEDED_BYTES: Final = 100 * 1024 * 1024


class DataFolderUnavailable(OperatorError):
    """The folder cannot be worked in. The message says why and what to do."""


@contextmanager
def own_data_folder(path: Path) -> Iterator[Path]:
    """Make the folder if need be, and keep every other `afterturn run` out of it until the block ends.

    Raises:
        DataFolderUnavailable: it cannot be written, has too little room, or another one works in it.
    """
    folder = _writable(path)
    with (folder / "run.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise DataFolderUnavailable(
                f"another `afterturn run` (process {lock.read().strip() or 'unknown'}) works in {folder}. Stop it, or "
                "set AFTERTURN_DATA_DIR and AFTERTURN_BROKER_URL for a second one"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield folder


def _writable(path: Path) -> Path:
    folder = path.absolute()
    try:
        make_private(folder)
        tighten(folder)
        probe = folder / ".writable"
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as error:
        raise DataFolderUnavailable(
            f"cannot write in {folder}: {error.strerror}. Set AFTERTURN_DATA_DIR to a folder that you may write"
        ) from error
    free = shutil.disk_usage(folder).free
    if free < _NEEDED_BYTES:
        raise DataFolderUnavailable(
            f"only {free / 1e6:.0f} MB are free at {folder} and {_NEEDED_BYTES / 1e6:.0f} are needed. "
            "Free some, or set AFTERTURN_DATA_DIR to a folder on another disk"
        )
    return folder
