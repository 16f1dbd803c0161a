"""Read a Celery message out of a Redis list, whoever sent it: of either protocol, compressed or not."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any, Final

from kombu.compression import decompress
from kombu.exceptions import KombuError

from stores.queue import QUEUES

LISTS: Final = tuple(
    f"{queue}\x06\x16{priority}" if priority else queue for queue in QUEUES for priority in (0, 3, 6, 9)
)
"""Where kombu puts messages on Redis, by queue and priority; a sender may set either."""

_DEEPEST: Final = 200
"""Levels of JSON that are read as such: whoever reads from deeper in a stack must not fail on what another read."""


def arguments_of(message: bytes) -> tuple[str, str, Any]:
    """Return what tells a message from all others, the name of its task, and its arguments: the one if there is just
    one, else all there are. What cannot be read is text, of no task: that of its body, or else of the whole message."""
    readable: Any = message
    try:
        envelope = json.loads(message)
        headers = envelope.get("headers") or {}
        content: Any = envelope["body"]
        if (envelope.get("properties") or {}).get("body_encoding", "base64") == "base64":
            content = base64.b64decode(content)
        if compression := headers.get("compression"):
            content = decompress(content if isinstance(content, bytes) else content.encode("latin-1"), compression)
        readable = content
        body = json.loads(content)
        _require_readable(body)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, KombuError, zlib.error):
        text = readable if isinstance(readable, bytes | str) else message
        return _digest(message), "", text.decode(errors="replace") if isinstance(text, bytes) else text
    if isinstance(body, dict):
        # Celery's first protocol has all in the body.
        id_, task, arguments, named = body.get("id"), body.get("task"), body.get("args"), body.get("kwargs")
    else:
        id_, task = headers.get("id"), headers.get("task")
        arguments, named = (*body, None, None)[:2] if isinstance(body, list) else (body, None)
    whole = arguments[0] if isinstance(arguments, list) and len(arguments) == 1 and not named else [arguments, named]
    # Two senders may give the same id.
    return f"{id_}:{_digest(str(envelope['body']).encode())}", str(task or ""), whole


def _require_readable(value: Any) -> None:
    """Check that a JSON value is no deeper than anybody can write it again.

    Raises:
        RecursionError: it is.
    """
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise RecursionError


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def json_or_text(body: bytes | str) -> Any:
    """Return the JSON value that a text is, or the text itself."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "backslashreplace") if isinstance(body, bytes) else body
