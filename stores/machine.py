"""What Python itself raises where a machine has no more to give or a connection is lost, in the project's words."""

from __future__ import annotations

import errno

from schema.errors import MachineExhausted, OutOfMemory, Transient

_USED_UP = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
)
"""Open files, memory, threads, room on a disk that works."""


def translated(error: BaseException) -> BaseException:
    """Return the project's error for a failure of Python's own that may pass, and any other as it is.

    It may come from everywhere, also from a part that a user brings, so that whoever decides what becomes of a failure
    asks here.
    """
    match error:
        case MemoryError():
            return OutOfMemory("the process has no more memory")
        case OSError() if error.errno in _USED_UP:
            return MachineExhausted(f"the machine has no more to give: {error.strerror}")
        case ConnectionError() | TimeoutError():
            return Transient(f"{type(error).__name__}: {error}")
        case _:
            return error
