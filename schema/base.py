"""The base of all values."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A value: never changed, and quiet about what it holds when it is wrong, since errors end in logs."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)
