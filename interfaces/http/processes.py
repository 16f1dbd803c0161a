"""The processes of the service: one, or several that share its port. What they must agree on lies in the stores."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, Final, cast

import structlog
import uvicorn
from prometheus_client import REGISTRY, CollectorRegistry, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from interfaces.http.listening import is_open_to_all
from interfaces.http.unreadable import ProblemProtocol
from schema.errors import AfterturnError, OperatorError, SettingsError, exit_code_of
from schema.settings import Settings, load_settings
from worker.logs import configure_logging

if TYPE_CHECKING:
    from fastapi import FastAPI

_log = structlog.get_logger()
_HANGS_SECONDS: Final = 30
"""After how long without an answer a process is taken to hang: uvicorn's five are too few where models load on a busy
machine."""

_IDLE_SECONDS: Final = 75
"""For how long a connection may be idle: nginx's default. Who keeps one for longer (httpx 5 seconds, as uvicorn does by
default, Amazon's balancers 60) may send into one that is just being closed."""


def serve(settings: Settings) -> None:
    """Answer requests until this process is told to end. Of several processes one that dies is started again.

    Raises:
        SettingsError: the port of the metrics cannot be had.
        SystemExit: a process cannot start; the log says why. Its code is that of a command that a person must mend.
    """
    # Every process reads the settings for itself.
    os.environ |= {"AFTERTURN_HTTP_HOST": settings.http_host, "AFTERTURN_HTTP_PORT": str(settings.http_port)}
    config = uvicorn.Config(
        f"{__name__}:app_of_this_process",
        factory=True,
        host=settings.http_host,
        port=settings.http_port,
        workers=settings.http_processes,
        http=ProblemProtocol,
        # A handshake is answered as any other request is.
        ws="none",
        # Its own lines go where ours go, in the same form: a traceback of its logger would show what was said.
        log_config=None,
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=10,
        timeout_worker_healthcheck=_HANGS_SECONDS,
    )
    try:
        has_started = _serve_alone(config, settings) if config.workers == 1 else _serve_together(config, settings)
    except SystemExit as end:
        if end.code != STARTUP_FAILURE:
            raise
        has_started = False
    if not has_started:
        # No command ends with uvicorn's own code for it.
        sys.exit(exit_code_of(OperatorError()))


def app_of_this_process() -> FastAPI:
    """Return the app by the settings of the environment, in a process that ends with the one that started it."""
    # A supervisor needs none of it: that is a second of the processor, and 80 MB.
    from interfaces.http.app import create_app

    settings = load_settings()
    configure_logging(settings.log_level)
    Thread(target=_end_with_supervisor, name="end-with-supervisor", daemon=True).start()
    try:
        return create_app(settings, anonymous=is_open_to_all(settings))
    except AfterturnError as failure:
        _log.error("service_cannot_start", error=type(failure).__name__, reason=str(failure))
        # By this code the supervisor knows that it need not try again.
        sys.exit(STARTUP_FAILURE if isinstance(failure, OperatorError) else 1)


def _serve_alone(config: uvicorn.Config, settings: Settings) -> bool:
    _show_metrics(settings, REGISTRY)
    server = uvicorn.Server(config)
    server.run()
    return server.started


def _serve_together(config: uvicorn.Config, settings: Settings) -> bool:
    with tempfile.TemporaryDirectory(prefix="afterturn-metrics-") as counts:
        if settings.http_metrics_port:
            # What the processes count lies in files there, and this one adds it up.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = counts
            sums = CollectorRegistry()
            MultiProcessCollector(sums, counts)  # type: ignore[no-untyped-call]
            _show_metrics(settings, sums)
        # Which port it is where the settings leave the choice.
        with config.bind_socket() as probe:
            host, port = probe.getsockname()[:2]
        supervisor = _Processes(config, [cast(socket.socket, _Port(host, port))])
        supervisor.run()
    return all(process.exitcode != STARTUP_FAILURE for process in supervisor.processes)


class _Port:
    """A port that becomes a socket of its own in each process to which it is sent.

    From one socket for all the process that wakes first takes every connection that came, and works alone for as long
    as their clients keep them (asyncio accepts until there is none left): of two processes one had nine tenths of the
    work. Linux spreads connections evenly over sockets of the same port.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port

    def __reduce__(self) -> tuple[Callable[[str, int], socket.socket], tuple[str, int]]:
        return shared_port, (self._host, self._port)


def shared_port(host: str, port: int) -> socket.socket:
    """Return a socket bound to a port that others of this service are bound to as well."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    # Connections inherit it. asyncio would set it where a socket says that it is one of TCP, and this one says
    # nothing: the second part of an answer would wait for the client's acknowledgement of the first, 40 ms.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    bound.bind((host, port))
    return bound


class _Processes(Multiprocess):
    """uvicorn's supervisor, which knows at once that a process is gone, and forgets how many listeners it had."""

    def keep_subprocess_alive(self) -> None:
        for process in self.processes:
            # The child's end: while it is open here too, one that dies while it is asked passes for one that hangs.
            process.child_conn.close()
        before = {process.pid for process in self.processes}
        super().keep_subprocess_alive()
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            for pid in before - {process.pid for process in self.processes}:
                mark_process_dead(pid)  # type: ignore[no-untyped-call]


def _end_with_supervisor() -> None:
    # A supervisor that was killed cannot end its processes, and they would keep the port.
    if supervisor := multiprocessing.parent_process():
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _show_metrics(settings: Settings, registry: CollectorRegistry) -> None:
    if not settings.http_metrics_port:
        return
    try:
        start_http_server(settings.http_metrics_port, settings.metrics_address, registry)
    except OSError as error:
        raise SettingsError(
            f"AFTERTURN_HTTP_METRICS_PORT: cannot listen on {settings.metrics_address} port "
            f"{settings.http_metrics_port}: {error.strerror or error}"
        ) from error
