"""Translate errors of an exhausted machine or database into the project's."""

from __future__ import annotations

import errno
import os
import resource
from typing import Final

from schema.errors import CatalogOutage, MachineExhausted, OutOfMemory, Transient

_USED_UP = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
)
"""Open files, memory, threads, room on a disk that works."""

_NOT_AS_MADE: Final = frozenset({"42P01", "42703", "42883", "42704", "42501", "3F000"})
"""Postgres' errors (its appendix A) of a table, a column, a function, a type, a right or a schema that is away. The
statements are ours and do not depend on a turn, so no turn is at fault; a statement that is wrong in itself (42601)
will never work."""


def file_shortage() -> str | None:
    """Return what to do where not one file more can be opened, None where one can: a library may say of it no more than
    that it could not."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            return None
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return f"no more files can be opened, of which this process may have {most}: raise that (`ulimit -n 4096`)"
    return None


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
        case _ if getattr(getattr(error, "orig", None), "sqlstate", None) in _NOT_AS_MADE:
            return CatalogOutage(f"the database is not as Afterturn made it: {type(error).__name__}")
        case _:
            return error
