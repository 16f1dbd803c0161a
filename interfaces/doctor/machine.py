"""Health checks of the settings and of this machine's folders."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from schema.health import HealthCheck, failed, fine, warning
from schema.settings import Settings, load_policy
from stores.private_files import make_private

_LOW_BYTES, _LEAST_BYTES = 1024**3, 100 * 1024**2
_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "fuse.s3fs", "glusterfs"}
)
_ANOTHER_DISK = "set AFTERTURN_DATA_DIR to a folder on another disk of this machine"


def check_settings() -> Iterator[HealthCheck]:
    """Yield that the settings were read, and the policy."""
    policy = load_policy()
    by_hand = len(policy.model_fields_set)
    yield fine("settings", f"{len(Settings.model_fields)} read; {by_hand} policy constants set by hand")


def check_folders(settings: Settings) -> Iterator[HealthCheck]:
    """Check the data folder, and the spool's where it is elsewhere: writing, room, locks, and what disk they are on."""
    yield from _folder("data folder", settings.data_dir.absolute(), "AFTERTURN_DATA_DIR")
    if settings.spool_dir is not None:
        yield from _folder("spool folder", settings.effective_spool_dir, "AFTERTURN_SPOOL_DIR")


def _folder(part: str, folder: Path, variable: str) -> Iterator[HealthCheck]:
    try:
        make_private(folder)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x")
    except OSError as error:
        yield failed(
            part, f"cannot write in {folder}: {error.strerror}", f"set {variable} to a folder that you may write"
        )
        return
    free = shutil.disk_usage(folder).free
    room = f"{folder}, {free / 1e9:.1f} GB free"
    if free < _LEAST_BYTES:
        yield failed(part, room, f"make room, or {_ANOTHER_DISK.replace('AFTERTURN_DATA_DIR', variable)}")
    elif free < _LOW_BYTES:
        yield warning(part, room, f"make room, or {_ANOTHER_DISK.replace('AFTERTURN_DATA_DIR', variable)}")
    else:
        yield fine(part, f"{room}, writable")
    kind = _kind_of(folder)
    if not _locks_hold(folder):
        yield failed(f"{part} locks", f"two may hold one lock of {folder}", _ANOTHER_DISK)
    elif kind in _NETWORK:
        hint = f"keep it to one host's processes, or {_ANOTHER_DISK}"
        yield warning(f"{part} locks", f"{folder} is on a network ({kind}): SQLite needs all on one host", hint)
    else:
        yield fine(f"{part} locks", f"hold{f' ({kind})' if kind else ''}")


def _locks_hold(folder: Path) -> bool:
    """Return whether a second is refused what a first has locked: some network file systems let both in."""
    with tempfile.NamedTemporaryFile(dir=folder) as file, Path(file.name).open("rb") as second:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(second.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False


def _kind_of(folder: Path) -> str | None:
    """Return the kind of file system that a folder is on, where the system tells (Linux)."""
    if not _MOUNTS.exists():
        return None
    device = folder.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in _MOUNTS.read_text().splitlines():
        before, _, after = line.partition(" - ")
        if before.split()[2] == wanted:
            return after.split()[0]
    return None
