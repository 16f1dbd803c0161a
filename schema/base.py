"""The base of all values."""

import hashlib
from typing import Final

from pydantic import BaseModel, ConfigDict

NO_NUL: Final = r"^[^\x00]*$"
"""A pattern for text that is kept: none has a character of the code 0, and Postgres takes none that has."""

ANY_ETAG: Final = frozenset({"*"})
"""The names of whatever is there, whatever it says."""


def etag_of(written: str) -> str:
    """Return a name of what a value says as JSON: another one as soon as it says something else."""
    return hashlib.sha256(written.encode()).hexdigest()[:32]


class Value(BaseModel):
    """A value: never changed, and quiet about what it holds when it is wrong, since errors end in logs."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)
