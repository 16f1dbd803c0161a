"""What is no request that the service knows, sent to it byte by byte: a problem document, and never another's text."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from email.parser import BytesParser
from typing import Any

import httpx
import pytest

from tests.conftest import free_port
from tests.e2e.command import COMMAND, Home, wait_until


@pytest.fixture(scope="module")
def port(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a service as the command starts it."""
    home, port = Home(tmp_path_factory.mktemp("unreadable"), 0), free_port()
    log = home.folder / "serve.log"
    environment = home.environment(AFTERTURN_BROKER_URL=broker_url, AFTERTURN_HTTP_PORT=str(port))
    with log.open("wb") as said:
        process = subprocess.Popen([*COMMAND, "serve"], env=environment, stdout=said, stderr=said)
    try:
        wait_until(lambda: "Application startup complete" in log.read_text() or process.poll() is not None, "it is up")
        assert process.poll() is None, log.read_text()
        yield port
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in log.read_text()


def answer_to(request: bytes, port: int) -> tuple[int, dict[str, str], Any]:
    """Return the status, the fields and the JSON of the answer to what is sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        whole = b"".join(iter(lambda: connection.recv(65_536), b""))
    head, _, body = whole.partition(b"\r\n\r\n")
    line, _, fields = head.partition(b"\r\n")
    parsed = BytesParser().parsebytes(fields + b"\r\n\r\n")
    return int(line.split()[1]), {name.lower(): value for name, value in parsed.items()}, json.loads(body)


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"GET /a b c HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: localhost\r\nno field\r\n\r\n",
        b"GET /livez HTTP/1.1\r\n\r\n",
        b"POST /api/v1/turns HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
        b"POST /api/v1/turns HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n",
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nGr\u00fc\u00df: Gott\r\n\r\n".encode(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
    ids=["line", "spaces", "field", "host", "length", "chunk", "name", "tls"],
)
def test_what_is_no_request_of_http_is_answered_with_a_problem_document(port: int, request_: bytes) -> None:
    status, fields, told = answer_to(request_, port)
    assert (status, fields["content-type"]) == (400, "application/problem+json")
    assert (told["status"], told["title"]) == (400, "Bad Request")
    assert fields["x-request-id"]
    assert fields["connection"] == "close"


def test_a_method_that_nobody_knows_is_answered_with_a_problem_document(port: int) -> None:
    status, fields, _ = answer_to(b"BREW /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", port)
    assert (status, fields["content-type"]) == (405, "application/problem+json")


def test_a_websocket_is_opened_nowhere_and_its_request_answered_as_any_other(port: int) -> None:
    wanted = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    assert httpx.get(f"http://127.0.0.1:{port}/livez", headers=wanted, timeout=30.0).status_code == 200
    nowhere = httpx.get(f"http://127.0.0.1:{port}/nowhere", headers=wanted, timeout=30.0)
    assert (nowhere.status_code, nowhere.headers["content-type"]) == (404, "application/problem+json")
