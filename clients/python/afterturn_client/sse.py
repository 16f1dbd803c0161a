"""Server-sent events: the lines of a stream put together (WHATWG), and where to go on when it breaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from afterturn_client.backoff import backoff
from afterturn_client.errors import AfterturnError, RequestFailed, Unavailable
from afterturn_client.model import Event
from afterturn_client.requests import Request

GAP: Final = "gap"
"""The name of the event that says that others were missed."""
SILENCE_SECONDS: Final = 45.0
"""After how long a silent stream counts as broken; the service says every 15 seconds that it is still there."""
_LONGEST_PAUSE_SECONDS: Final = 30.0
_MOST_BYTES: Final = 8 * 1024 * 1024


@dataclass
class Parser:
    """Makes events of the bytes of a stream, however they are cut."""

    last_id: str | None = None
    retry_seconds: float = 2.0
    _rest: bytes = b""
    _name: str = ""
    _data: list[str] = field(default_factory=list)

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that are complete with this chunk.

        Raises:
            RequestFailed: a line has no end, or its data are not JSON; this is no stream of this service.
        """
        # Lines end with CR, LF or both, and with nothing else: other signs that Unicode ends lines with are data.
        lines = (self._rest + chunk).replace(b"\r\n", b"\n")
        held = b""
        if lines.endswith(b"\r"):
            # Its LF may be in the next chunk.
            lines, held = lines[:-1], b"\r"
        *whole, last = lines.replace(b"\r", b"\n").split(b"\n")
        self._rest = last + held
        if len(self._rest) > _MOST_BYTES:
            raise RequestFailed(None, "the stream has a line without an end")
        for line in whole:
            event = self._line(line.decode("utf-8", "replace"))
            if event is not None:
                yield event

    def restart(self) -> None:
        """Drop what is incomplete: a new connection begins."""
        self._rest, self._name, self._data = b"", "", []

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self.last_id = value
        elif name == "retry" and value.isdecimal():
            self.retry_seconds = int(value) / 1000
        return None

    def _dispatch(self) -> Event | None:
        name, data = self._name, "\n".join(self._data)
        self._name, self._data = "", []
        try:
            return Event(self.last_id or "", name, json.loads(data)) if data else None
        except (ValueError, RecursionError) as error:
            raise RequestFailed(None, "the stream has data that are not JSON") from error


@dataclass
class Listening:
    """A listener over as many connections as it takes."""

    params: tuple[tuple[str, str], ...]
    parser: Parser
    _failures: int = 0
    _was_connected: bool = False

    def request(self) -> Request[Any]:
        """Return the request that goes on where the last connection ended."""
        behind = (("Last-Event-ID", self.parser.last_id),) if self.parser.last_id else ()
        headers = (("Accept", "text/event-stream"), *behind)
        return Request("GET", "/api/v1/events", lambda body: body, self.params, headers=headers, harmless=True)

    def heard(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that are complete with this chunk; none at all (b"") says that a connection was made.

        A gap comes first where nobody can say what was missed since the connection before.
        """
        self._failures = 0
        if chunk:
            yield from self.parser.feed(chunk)
            return
        if self._was_connected and self.parser.last_id is None:
            yield Event("", GAP, {"after": None})
        self._was_connected = True
        self.parser.restart()

    def pause(self, error: AfterturnError | None) -> float:
        """Return after how many seconds to connect again; `error` is None where the stream just ended.

        Raises:
            RequestFailed: to connect again would change nothing.
        """
        if error is not None and not isinstance(error, Unavailable):
            raise error
        self._failures += 1
        asked = error.retry_after if error is not None else None
        return asked or backoff(self._failures, self.parser.retry_seconds, _LONGEST_PAUSE_SECONDS)


def listening(*, user_id: str | None = None, subject_id: str | None = None, after: str | None = None) -> Listening:
    """Iterate over what happens to a user's memory, for ever: from now on, or from behind the event `after`.

    A connection that breaks is made anew and goes on behind the last event; `"0"` as `after` asks for all that the
    service still has. An event named `gap` says that some were missed: list the memories anew then.

    Raises:
        RequestFailed: the service refuses; while it only is away, this waits for it.
    """
    asked = {"user_id": user_id, "subject_id": subject_id}
    params = tuple((name, value) for name, value in asked.items() if value is not None)
    return Listening(params, Parser(after))
