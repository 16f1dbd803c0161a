"""A broker of a test's own that can be killed, frozen and started again on the same port and folder."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from interfaces.local.broker import embedded_broker
from tests.conftest import free_port


class Broker:
    """A Valkey server with an append-only file."""

    def __init__(self, folder: Path) -> None:
        self.url = f"redis://127.0.0.1:{free_port()}/0"
        self._folder = folder
        self._servers = ExitStack()
        self.start()

    def start(self) -> None:
        self._process = self._servers.enter_context(embedded_broker(self.url, self._folder))

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Connections stay, nothing is answered."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self._servers.close()
