"""A broker of a test's own, and the ways in which it can be unwell."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import cast

from redis import Redis

from interfaces.local.broker import embedded_broker
from stores.mailbox import key_of
from tests.conftest import free_port
from tests.turns import subject

_DELAY_SECONDS = 0.015
_CHUNK = 65_536


class BadBroker:
    """A Valkey server behind a loopback proxy: producers go to `url`, the test itself looks past the proxy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._server = ExitStack()
        self._proxy = Proxy(self._port)
        self.url = f"redis://127.0.0.1:{self._proxy.port}/0"
        self.direct_url = f"redis://127.0.0.1:{self._port}/0"
        self._start()
        self.redis = Redis(port=self._port)

    def _start(self) -> None:
        self._process = self._server.enter_context(embedded_broker(self.direct_url, self._folder))

    def order_of(self, user: str) -> list[str]:
        """The turns that wait in a user's mailbox, oldest first."""
        return [
            turn_id.decode() for turn_id in cast(list[bytes], self.redis.lrange(key_of(subject(user), "order"), 0, -1))
        ]

    @contextmanager
    def gone(self) -> Iterator[None]:
        """Nobody listens at its port."""
        self._proxy.close()
        self._server.close()
        yield
        self._start()
        self._proxy.open()

    @contextmanager
    def killed(self) -> Iterator[None]:
        """It dies without a word, and starts again on what it had written."""
        self._process.kill()
        self._process.wait()
        yield
        self._start()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """The server is frozen: connections are taken by the kernel, nothing is answered."""
        self._process.send_signal(signal.SIGSTOP)
        yield
        self._process.send_signal(signal.SIGCONT)

    @contextmanager
    def full(self) -> Iterator[None]:
        """No write is taken for want of memory."""
        self.redis.config_set("maxmemory", 1)
        yield
        self.redis.config_set("maxmemory", 0)

    @contextmanager
    def slow(self) -> Iterator[None]:
        """Each packet takes 15 ms in each direction."""
        with self._proxy.passing(_late):
            yield

    @contextmanager
    def black_hole(self) -> Iterator[None]:
        """What is sent is taken and goes nowhere, on old connections and new ones."""
        with self._proxy.passing(lambda _: None):
            yield

    @contextmanager
    def half_open(self) -> Iterator[None]:
        """What is sent arrives, what is answered does not."""
        with self._proxy.passing(lambda data: data, answers=lambda _: None):
            yield

    @contextmanager
    def resetting(self) -> Iterator[None]:
        """Every connection is reset at its first packet."""
        with self._proxy.passing(_reset):
            yield

    @contextmanager
    def speaking_another_protocol(self) -> Iterator[None]:
        """What answers is no Redis."""
        with self._proxy.passing(lambda data: data, answers=lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n"):
            yield

    def close(self) -> None:
        self._process.send_signal(signal.SIGCONT)
        self.redis.close()
        self._proxy.close()
        self._server.close()


_Pass = Callable[[bytes], bytes | None]


def _late(data: bytes) -> bytes:
    time.sleep(_DELAY_SECONDS)
    return data


def _reset(_: bytes) -> bytes:
    raise ConnectionResetError


class Proxy:
    """A loopback port that leads to another one, until it is closed."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.port = free_port()
        self._through: _Pass = bytes
        self._back: _Pass = bytes
        self.open()

    def open(self) -> None:
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=[self._listener], daemon=True).start()

    @contextmanager
    def passing(self, through: _Pass, *, answers: _Pass | None = None) -> Iterator[None]:
        self._through, self._back = through, answers or through
        yield
        self._through = self._back = bytes
        # What a broken connection swallowed is missing in its stream: nothing more may go over it.
        self._drop()

    def close(self) -> None:
        # Without it, the accepting thread would keep the port.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._drop()

    def _drop(self) -> None:
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._target))
                except OSError:
                    # Nobody is there just now; whoever comes later may find somebody.
                    client.close()
                    continue
                self._sockets += [client, server]
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for source, to, back in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self._pump, args=[source, to, back], daemon=True).start()

    def _pump(self, source: socket.socket, to: socket.socket, back: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                passed = (self._back if back else self._through)(data)
                if passed:
                    to.sendall(passed)
        for one in (source, to):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
