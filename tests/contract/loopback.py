"""A server on this machine that answers as a test tells it: real sockets for the clients of models."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    size: int = 0
    """Of the body, in bytes."""
    method: str = "POST"


@dataclass(frozen=True)
class Answer:
    """What it gets: a status and a body, and what goes wrong with it on the way.

    `fault`: "reset" ends the connection with RST instead of answering, "closed" with nothing said, "truncated" ends it
    in the middle of the body, "silent" never answers, "dripping" sends a byte each tenth of a second.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Loopback:
    """What the server is told to answer, and what it was asked. `answer` may be replaced at any time; a server
    of many requests may be told not to remember them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Request] = []
        self.remembers = True
        self.connections = 0
        self.waited_out = 0
        """Answers that were silent or dripping and that a client waited for to their end."""
        self.over = threading.Event()
        self.answer: Callable[[Request], Answer] = lambda _request: Answer(500)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer goes out in two pieces; a client that acknowledges late would hold up the second for 40 ms.
    disable_nagle_algorithm = True
    told: Loopback

    def setup(self) -> None:
        super().setup()
        self.told.connections += 1

    def do_GET(self) -> None:
        self.do_POST()

    def do_PUT(self) -> None:
        self.do_POST()

    def do_HEAD(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(length)
        if len(body) < length:  # Whoever sent it is gone, as a worker that was killed.
            self.close_connection = True
            return
        request = Request(self.path, headers, json.loads(body or b"{}"), length, self.command)
        if self.told.remembers:
            self.told.requests.append(request)
        answer = self.told.answer(request)
        if answer.fault in {"reset", "closed", "silent"}:
            self._end(answer.fault)
            return
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer.content)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.fault == "truncated":
            self.wfile.write(answer.content[: len(answer.content) // 2])
            self._end("closed")
        elif answer.fault == "dripping":
            self._drip(answer.content)
        else:
            self.wfile.write(answer.content)

    def _drip(self, content: bytes) -> None:
        for place in range(len(content)):
            if self.told.over.wait(0.1):
                return
            try:
                self.wfile.write(content[place : place + 1])
            except OSError:
                return
        self.told.waited_out += 1

    def _end(self, how: str) -> None:
        self.close_connection = True
        if how == "silent":
            self.told.waited_out += not self.told.over.wait(30)
        elif how == "reset":
            # Closed with a linger time of zero, a socket sends RST.
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:
        """The tests say what went wrong."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is what some tests are about; others fail by what they were answered."""


@contextmanager
def loopback() -> Iterator[Loopback]:
    """A server that listens until the block ends."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    told = Loopback(f"http://127.0.0.1:{server.server_address[1]}")
    handler.told = told  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        told.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def aws_at_loopback(service: str = "BEDROCK_RUNTIME") -> Iterator[Loopback]:
    """A server in the place of one of Amazon's: boto3 finds it in its own variables."""
    with loopback() as told, pytest.MonkeyPatch.context() as environment:
        environment.setenv(f"AWS_ENDPOINT_URL_{service}", told.url)
        environment.setenv("AWS_ACCESS_KEY_ID", "an-id")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
        yield told
