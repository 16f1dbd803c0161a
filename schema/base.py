"""The base of all values."""

from typing import Final

from pydantic import BaseModel, ConfigDict

NO_NUL: Final = r"^[^\x00]*$"
"""A pattern for text that is kept: none has a character of the code 0, and Postgres takes none that has."""


class Value(BaseModel):
    """A value: never changed, and quiet about what it holds when it is wrong, since errors end in logs."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)
