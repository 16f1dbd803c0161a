"""Answers to what is no request of HTTP: problem documents, as of every failure, and not uvicorn's own text."""

from __future__ import annotations

import uuid
from http import HTTPStatus
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from interfaces.http.problems import problem

_ENDS: Final = (b"connection", b"close")


class ProblemProtocol(H11Protocol):
    """uvicorn's protocol of HTTP/1.1; its own refusals are problem documents with an id, too."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - it says less than ours
        """Refuse what cannot be read, and close the connection: nobody knows where the next request begins."""
        answer = problem(HTTPStatus.BAD_REQUEST, "this is no request of HTTP/1.1: mend its first line or its fields")
        headers = [*answer.raw_headers, _ENDS, (b"x-request-id", uuid.uuid4().hex.encode())]
        start = h11.Response(status_code=answer.status_code, headers=headers, reason=HTTPStatus.BAD_REQUEST.phrase)
        for event in (start, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
