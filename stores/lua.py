"""Lua scripts for Redis, which lie in `.lua` files beside the adapter that runs them."""

from __future__ import annotations

from pathlib import Path


def load_lua(folder: Path, *names: str) -> str:
    """Return the text of the scripts of these names in a folder, one behind the other: a library before what uses it.

    Raises:
        FileNotFoundError: there is no such script; the installation is damaged.
    """
    return "\n".join((folder / f"{name}.lua").read_text(encoding="utf-8") for name in names)
