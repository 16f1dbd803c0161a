"""Parts that users bring: a setting names a function of theirs as `package.module:function`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from memory.settings import SettingsError


def load_plugin(path: str, variable: str) -> Callable[..., Any]:
    """The function that a setting names.

    Raises:
        SettingsError: there is no such module or function; the message names the variable.
    """
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"{variable}: cannot load {path!r}: {error}") from error
