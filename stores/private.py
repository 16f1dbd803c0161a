"""Files and folders that hold what people said: nobody else on the machine may read them."""

from __future__ import annotations

import os
from pathlib import Path


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone; close one that is there and ours.

    Raises:
        OSError: it cannot be made.
    """
    for missing in reversed([above for above in folder.absolute().parents if not above.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    _close(folder)


def private_file(path: Path) -> None:
    """Make a file for its owner alone; close one that is there and ours.

    Raises:
        OSError: it cannot be made.
    """
    path.touch(mode=0o600)
    _close(path)


def _close(path: Path) -> None:
    found = path.stat()
    if found.st_mode & 0o077 and found.st_uid == os.geteuid():
        path.chmod(found.st_mode & 0o700)
