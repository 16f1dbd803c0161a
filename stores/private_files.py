"""Folders and files that only this account reaches, whatever the umask: what people said lies in them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this account alone; what is there stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        if folder.parent == folder:
            raise
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def tighten(path: Path) -> None:
    """Take the rights of all others to a folder or file of this account."""
    there = path.stat()
    # A folder with the sticky bit is shared on purpose: /tmp is root's, too.
    if there.st_uid != os.geteuid() or there.st_mode & stat.S_ISVTX or not there.st_mode & 0o077:
        return
    if stat.S_ISDIR(there.st_mode) or stat.S_ISREG(there.st_mode):
        # Some file systems know no rights.
        with suppress(OSError):
            path.chmod(stat.S_IMODE(there.st_mode) & ~0o077)
