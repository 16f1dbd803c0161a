"""Parses every Lua script of the project with Lua 5.1, which is Redis' own, and looks for names that nobody declares.

`make lint` runs it. Redis says both only when a script, or the line with the name, first runs there.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lupa.lua51 import LuaRuntime

ROOT = Path(__file__).parents[1]
LIBRARY = "common.lua"
"""What lies in a file of this name is put before every script beside it."""
_OPAQUE = re.compile(r"--\[\[.*?\]\]|--[^\n]*|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_DECLARING = re.compile(
    r"\blocal\s+(?!function\b)([\w ,]+)|\bfor\s+([\w ,]+?)\s*(?:=|\bin\b)|\bfunction\b\s*\w*\s*\(([^)]*)\)"
)
_FUNCTION = re.compile(r"\blocal\s+function\s+(\w+)")
_NAME = re.compile(r"(?<![\w.:])[A-Za-z_]\w*")
_KEYWORDS = "and break do else elseif end false for function if in local nil not or repeat return then true until while"
_PROVIDED = "redis KEYS ARGV cjson ipairs math pairs string table tonumber tostring type unpack"
_KNOWN = frozenset(f"{_KEYWORDS} {_PROVIDED}".split())


def problems(code: str, library: str = "") -> Iterator[str]:
    """Return what is wrong in a script that runs behind a library, a line of text each; nothing if all is well."""
    compile_ = LuaRuntime(encoding="utf-8").eval("loadstring")
    if isinstance(refused := compile_(library + "\n" + code, "=script"), tuple):
        yield refused[1]
        return
    library, code = (
        _OPAQUE.sub(lambda match: "" if match[0].startswith("--") else "0", text) for text in (library, code)
    )
    declared = set(_declared(library + code))
    yield from (f"nobody declares {name}" for name in sorted(set(_NAME.findall(code)) - declared - _KNOWN))
    yield from (
        f"nothing uses {name}"
        for name in sorted(set(_declared(code)) - {"_"})
        if len(re.findall(rf"(?<![\w.:]){name}\b", code)) == 1
    )


def _bare(code: str) -> str:
    """Return a script without what is said in comments and strings."""
    return _OPAQUE.sub(lambda match: "" if match[0].startswith("--") else "0", code)


def _declared(code: str) -> Iterator[str]:
    yield from _FUNCTION.findall(code)
    for groups in _DECLARING.findall(code):
        yield from _NAME.findall(" ".join(groups))


def main() -> None:
    """Look at every `.lua` file that git knows or is about to know, and exit with 1 where one has a problem."""
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", "*.lua"], cwd=ROOT, text=True)
    found = []
    for path in map(Path, listed.splitlines()):
        library = ROOT / path.parent / LIBRARY
        before = library.read_text() if library.exists() and path.name != LIBRARY else ""
        found += [
            f"{path}: {problem}"
            for problem in problems((ROOT / path).read_text(), before)
            if not (path.name == LIBRARY and problem.startswith("nothing uses"))
        ]
    sys.exit("\n".join(found) or None)


if __name__ == "__main__":
    main()
