"""Parts that do not come with every installation: packages of an extra, and functions that users bring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from schema.errors import SettingsError


@contextmanager
def needs_extra(extra: str, wanted_by: str) -> Iterator[None]:
    """Import inside the block what only an extra of this package installs; `wanted_by` is a setting or a module.

    Raises:
        SettingsError: it is not installed; the message says how to.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise SettingsError(f"{wanted_by}: {error.name} is not installed; pip install 'afterturn[{extra}]'") from error


def load_plugin(path: str, variable: str) -> Callable[..., Any]:
    """Return the function that a setting names.

    Raises:
        SettingsError: there is no such module or function; the message names the variable.
    """
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"{variable}: cannot load {path!r}: {error}") from error
