"""The files of Anthropic's memory tool (`memory_20250818`), kept in the service's store instead of on a disk.

Source: "Memory tool", platform.claude.com/docs, for the commands and what a model is answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from afterturn_client.client import Client
from afterturn_client.errors import PreconditionFailed
from afterturn_client.items import Item, read_items, writes_of

ROOT: Final = "/memories"
_NAMESPACE: Final = ("memory-tool",)
_PAGE: Final = 1_000
_LONGEST_LINE_NUMBER: Final = 999_999
_SNIPPET_LINES: Final = 4
_SEGMENT: Final = re.compile(r"[^/\\\x00-\x1f\x7f]+")
_DEPTH: Final = 2
_CHANGED: Final = (
    "Error: somebody else changed it {when}, and nothing was overwritten. View it again, and do what still has to be "
    "done to what is there now."
)


class ToolFailed(Exception):
    """A command was not done; the message is for the model: answer with it and `is_error`."""


class _Changed(ToolFailed):
    """A file is not as it was read, or as the model knows it."""


class MemoryTool:
    """One user's files under /memories. `run` takes the `input` of a tool_use block, and answers its result.

    The files are the user's: in their export, gone with their erasure, and nobody else's model reaches them.

    It knows what its model has seen of them, which no command says: one of them for each conversation.
    """

    def __init__(self, client: Client, user_id: str) -> None:
        self._client, self._user_id = client, user_id
        self._seen: dict[str, str] = {}
        """Texts of files as the model knows them: as it saw them last, and changed them since."""

    def run(self, command: Mapping[str, Any]) -> str:
        """Do one command of the model.

        Raises:
            ToolFailed: it cannot be done, such as a path outside of /memories.
            RequestFailed: the service did not do it; the class says why.
        """
        name = command.get("command")
        commands: dict[Any, Callable[[Mapping[str, Any]], str]] = {
            "view": self._view,
            "create": self._create,
            "str_replace": self._str_replace,
            "insert": self._insert,
            "delete": self._delete,
            "rename": self._rename,
        }
        if name not in commands:
            raise ToolFailed(f"Error: there is no command {name!r}; there are {', '.join(commands)}")
        return commands[name](command)

    def _view(self, command: Mapping[str, Any]) -> str:
        path = _path(command, "path")
        file = self._item(path)
        if file is None:
            return self._listed(path)
        lines = _lines(_content(file))
        if len(lines) > _LONGEST_LINE_NUMBER:
            raise ToolFailed(f"File {path} exceeds maximum line limit of {_LONGEST_LINE_NUMBER:,} lines.")
        first, last = _range(command.get("view_range"), len(lines))
        self._seen[path] = _content(file)
        return f"Here's the content of {path} with line numbers:\n{_numbered(lines, first, last)}"

    def _listed(self, path: str) -> str:
        under = "" if path == "/" else f"{path}/"
        sizes = {name: len(_content(file).encode()) for name, file in self._files().items() if name.startswith(under)}
        if not sizes and path != ROOT:
            raise ToolFailed(_missing(path))
        shown: dict[str, int] = {path: sum(sizes.values())}
        for file, size in sorted(sizes.items()):
            segments = file.removeprefix(under).split("/")
            if any(part.startswith(".") for part in segments) or "node_modules" in segments:
                continue
            for depth in range(1, min(len(segments), _DEPTH) + 1):
                entry = under + "/".join(segments[:depth])
                shown[entry] = shown.get(entry, 0) + size
        lines = "\n".join(f"{_size(size)}\t{entry}" for entry, size in shown.items())
        left_out = "excluding hidden items and node_modules"
        return f"Here're the files and directories up to {_DEPTH} levels deep in {path}, {left_out}:\n{lines}"

    def _create(self, command: Mapping[str, Any]) -> str:
        path, text = _file(command, "path"), _text_of(command, "file_text")
        files = self._files()
        if path in files:
            raise ToolFailed(f"Error: File {path} already exists")
        _require_room(path, files)
        try:
            self._write([_put(path, text)])
        except _Changed:
            raise ToolFailed(f"Error: File {path} already exists") from None
        self._seen[path] = text
        return f"File created successfully at: {path}"

    def _str_replace(self, command: Mapping[str, Any]) -> str:
        path, old, new = _path(command, "path"), _text_of(command, "old_str"), _text_of(command, "new_str")
        file = self._existing(path)
        text = _content(file)
        times = text.count(old) if old else 0
        if not times:
            raise ToolFailed(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        if times > 1:
            starts = [match.start() for match in re.finditer(re.escape(old), text)]
            numbers = ", ".join(str(text.count("\n", 0, start) + 1) for start in starts)
            raise ToolFailed(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
                "Please ensure it is unique"
            )
        changed = text.replace(old, new)
        self._change(path, file, changed)
        line = text[: text.index(old)].count("\n") + 1
        lines = _lines(changed)
        around = _numbered(
            lines, max(1, line - _SNIPPET_LINES), min(len(lines), line + new.count("\n") + _SNIPPET_LINES)
        )
        return f"The memory file has been edited.\n{around}"

    def _insert(self, command: Mapping[str, Any]) -> str:
        path, line, added = _path(command, "path"), command.get("insert_line"), _text_of(command, "insert_text")
        file = self._existing(path)
        self._require_known(path, file)
        lines = _lines(_content(file))
        if not isinstance(line, int) or not 0 <= line <= len(lines):
            raise ToolFailed(
                f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: "
                f"[0, {len(lines)}]"
            )
        self._change(path, file, "\n".join([*lines[:line], *_lines(added), *lines[line:]]) + "\n")
        return f"The file {path} has been edited."

    def _delete(self, command: Mapping[str, Any]) -> str:
        path = _file(command, "path")
        files = self._files_at(path)
        for name, file in files.items():
            self._require_known(name, file)
        self._write([_put(name, None, file) for name, file in files.items()])
        for name in files:
            self._seen.pop(name, None)
        return f"Successfully deleted {path}"

    def _rename(self, command: Mapping[str, Any]) -> str:
        old, new = _file(command, "old_path"), _file(command, "new_path")
        files = self._files()
        chosen = self._files_at(old)
        if any(file == new or file.startswith(f"{new}/") for file in files):
            raise ToolFailed(f"Error: The destination {new} already exists")
        if new.startswith(f"{old}/"):
            raise ToolFailed(f"Error: {old} cannot be moved into itself")
        _require_room(new, files.keys() - chosen.keys())
        moved = [_put(new + name.removeprefix(old), _content(file)) for name, file in chosen.items()]
        self._write([*moved, *(_put(name, None, file) for name, file in chosen.items())])
        for name in self._seen.keys() & chosen.keys():
            self._seen[new + name.removeprefix(old)] = self._seen.pop(name)
        return f"Successfully renamed {old} to {new}"

    def _require_known(self, path: str, file: Item) -> None:
        """Check that a file which the model has seen is as it knows it: a line's number is of the text that it saw.

        Raises:
            ToolFailed: it is not.
        """
        if self._seen.get(path, _content(file)) != _content(file):
            raise _Changed(_CHANGED.format(when="since you saw it"))

    def _change(self, path: str, file: Item, text: str) -> None:
        self._write([_put(path, text, file)])
        if self._seen.get(path) == _content(file):
            self._seen[path] = text

    def _files_at(self, path: str) -> dict[str, Item]:
        """Return the files that a path is, or that are under it."""
        found = {name: file for name, file in self._files().items() if name == path or name.startswith(f"{path}/")}
        if not found:
            raise ToolFailed(_missing(path))
        return found

    def _existing(self, path: str) -> Item:
        file = self._item(path)
        if file is None:
            raise ToolFailed(_missing(path))
        return file

    def _item(self, path: str) -> Item | None:
        [item] = self._client.send(read_items(self._user_id, [{"op": "get", "namespace": _NAMESPACE, "key": path}]))
        return item if isinstance(item, Item) else None

    def _files(self) -> dict[str, Item]:
        found: dict[str, Item] = {}
        while True:
            asked = {"op": "search", "namespace_prefix": _NAMESPACE, "limit": _PAGE, "offset": len(found)}
            [items] = self._client.send(read_items(self._user_id, [asked]))
            page = [item for item in items if isinstance(item, Item)] if isinstance(items, list) else []
            found |= {item.key: item for item in page}
            if len(page) < _PAGE:
                return found

    def _write(self, puts: Iterable[Mapping[str, Any]]) -> None:
        try:
            for request in writes_of(self._user_id, puts):
                self._client.send(request)
        except PreconditionFailed as error:
            raise _Changed(_CHANGED.format(when="at the same time")) from error


def _content(file: Item) -> str:
    return str(file.value["text"])


def _put(path: str, text: str | None, read: Item | None = None) -> dict[str, Any]:
    """Return the put of a file that is as it was `read`; None: that is not there. No text deletes it."""
    condition = {"if_none_match": "*"} if read is None else {"if_match": read.etag}
    return {"namespace": _NAMESPACE, "key": path, "value": None if text is None else {"text": text}, **condition}


def _path(command: Mapping[str, Any], name: str) -> str:
    """Return a path of a command.

    Raises:
        ToolFailed: it is none under /memories.
    """
    path = command.get(name)
    names = path.rstrip("/").split("/") if isinstance(path, str) else []
    segments = names[1:]
    are_plain = all(_SEGMENT.fullmatch(part) and part not in {".", ".."} for part in segments)
    if not segments or names[0] or f"/{segments[0]}" != ROOT or not are_plain or len(str(path)) > 1_000:
        raise ToolFailed(f"Error: {name} should be a path under {ROOT}, without . or ..")
    return "/".join(names)


def _file(command: Mapping[str, Any], name: str) -> str:
    path = _path(command, name)
    if path == ROOT:
        raise ToolFailed(f"Error: {name} cannot be {ROOT} itself")
    return path


def _text_of(command: Mapping[str, Any], name: str) -> str:
    text = command.get(name, "" if name == "new_str" else None)
    if not isinstance(text, str):
        raise ToolFailed(f"Error: {name} should be text")
    return text


def _require_room(path: str, files: Collection[str]) -> None:
    """Check that no folder would be a file at once."""
    if any(path.startswith(f"{file}/") or file.startswith(f"{path}/") for file in files):
        raise ToolFailed(f"Error: {path} would be a file and a directory at once")


def _range(asked: Any, lines: int) -> tuple[int, int]:
    if asked is None:
        return 1, lines
    if not (isinstance(asked, list | tuple) and len(asked) == 2 and all(isinstance(bound, int) for bound in asked)):
        raise ToolFailed("Error: view_range should be two line numbers")
    first, last = asked[0], lines if asked[1] == -1 else asked[1]
    if not 1 <= first <= max(first, last):
        raise ToolFailed(f"Error: view_range should lie between 1 and {lines}")
    return first, min(last, lines)


def _lines(text: str) -> list[str]:
    # By line feeds alone: `splitlines` takes page breaks and Unicode's separators for ends of lines, and drops them.
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _numbered(lines: list[str], first: int, last: int) -> str:
    return "\n".join(f"{number:6}\t{lines[number - 1]}" for number in range(first, last + 1))


def _size(count: int) -> str:
    for unit, of in (("M", 1024 * 1024), ("K", 1024)):
        if count >= of:
            return f"{count / of:.1f}{unit}"
    return str(count)


def _missing(path: str) -> str:
    return f"The path {path} does not exist. Please provide a valid path."
