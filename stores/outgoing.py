"""Requests to addresses that strangers name (no SSRF): never to a private one, nor for longer than is allowed.

A name is resolved here, every address that it has is checked, and the connection goes to a checked one: what the name
means a moment later changes nothing. Nothing is redirected, and no proxy of the environment is asked.
"""

from __future__ import annotations

import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final
from urllib.parse import urlsplit

import httpcore

from schema.errors import Transient

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAMED_BY: Final = "name the network in AFTERTURN_WEBHOOK_NETWORKS, for the service and the workers"
_RESOLVE_SECONDS: Final = 3.0
_MOST_ADDRESSES: Final = 8
"""How many addresses of a name are tried: each may take as long as the whole request has left."""
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")
"""IPv4 addresses as a NAT64 gateway reaches them (RFC 6052)."""
_NOT_PUBLIC: Final = (
    IPv4Network("192.0.0.0/24"),  # IETF's own (RFC 6890); a cloud answers with an instance's credentials at .192
    IPv4Network("168.63.129.16/32"),  # a public number, at which Azure's host answers each of its machines
    IPv6Network("::/96"),  # IPv4 addresses as they were once written (RFC 4291, 2.5.5.1)
    IPv6Network("64:ff9b:1::/48"),  # those of a site's own NAT64 gateway (RFC 8215)
    IPv6Network("fec0::/10"),  # a site's own, before there was fc00::/7 (RFC 3879)
)
"""Networks of this machine's surroundings that `is_global` takes for public, in all or in some versions of Python."""


class Undelivered(Transient):
    """Nobody answered. `reason` is one word for a log: no_address, private_address, plain_http, timeout, tls,
    connection."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Answer:
    """Answer of a receiver: its body is not read."""

    status: int
    retry_after: float | None


def networks_of(names: Sequence[str]) -> tuple[Network, ...]:
    """Return networks by their names, such as 127.0.0.0/8.

    Raises:
        ValueError: one is none.
    """
    return tuple(ip_network(name) for name in names)


def is_allowed(address: Address, networks: Iterable[Network]) -> bool:
    """Return whether a request may go to an address: a public one, or one of these networks.

    An IPv6 address that leads to an IPv4 one is judged by that.
    """
    if _is_in(address, networks):
        return True
    inner = _inner(address)
    if inner is not None:
        return is_allowed(inner, networks)
    is_public = address.is_global and not address.is_multicast
    return is_public and not _is_in(address, _NOT_PUBLIC)


def require_destination(url: str, networks: Sequence[str]) -> None:
    """Check a URL whose host is an address, in whatever form, as it will be when something is sent there. What a name
    means is known only then, but of `localhost`.

    Raises:
        ValueError: nothing would be sent there.
    """
    parsed = urlsplit(url)
    address = _address_of(parsed.hostname or "")
    if address is None:
        return
    if not is_allowed(address, networks_of(networks)):
        raise ValueError(f"{address} is no public address: {_NAMED_BY}")
    if parsed.scheme == "http" and not _is_in(address, networks_of(networks)):
        raise ValueError(f"plain http goes to your own networks alone: use https, or {_NAMED_BY}")


def _address_of(host: str) -> Address | None:
    """Return the address that a host is without asking anybody, in the old forms too ("127.1"); None for a name."""
    if f".{host.rstrip('.')}".endswith(".localhost"):
        return ip_address("127.0.0.1")  # RFC 6761, 6.3
    with suppress(ValueError):
        return ip_address(host)
    try:
        return ip_address(socket.inet_aton(host))
    except OSError:
        return None


class Outgoing:
    """Posts to URLs that strangers name. May be used from many threads."""

    def __init__(self, networks: Sequence[str], timeout: float) -> None:
        self._networks = networks_of(networks)
        self._timeout = timeout

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Post a body within the timeout, names and handshakes included.

        Plain http goes to the networks of the settings alone.

        Raises:
            Undelivered: nobody answered, or the URL leads where nothing may be sent.
        """
        backend = _CheckedBackend(
            self._networks, time.monotonic() + self._timeout, is_plain=url.lower().startswith("http:")
        )
        limits: dict[str, Any] = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), self._timeout)}
        try:
            with (
                httpcore.ConnectionPool(ssl_context=_trusted(), network_backend=backend, max_connections=1) as pool,
                pool.stream("POST", url, headers=list(headers.items()), content=body, extensions=limits) as response,
            ):
                fields = {name.lower(): value for name, value in response.headers}
                return Answer(response.status, _seconds(fields.get(b"retry-after")))
        except httpcore.TimeoutException as error:
            raise Undelivered("timeout") from error
        except httpcore.ConnectError as error:
            raise Undelivered("tls" if isinstance(error.__cause__, ssl.SSLError) else "connection") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol, OSError) as error:
            raise Undelivered("connection") from error


class _BoundStream(httpcore.NetworkStream):
    """A stream of which no read or write goes on past a deadline: a receiver that drips is no better than a silent
    one."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _remaining(self._deadline, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _remaining(self._deadline, timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        remaining = _remaining(self._deadline, timeout)
        return _BoundStream(self._stream.start_tls(ssl_context, server_hostname, remaining), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _CheckedBackend(httpcore.NetworkBackend):
    """Connects to addresses that were checked, within a deadline."""

    def __init__(self, networks: Sequence[Network], deadline: float, *, is_plain: bool) -> None:
        self._networks = networks
        self._deadline = deadline
        self._is_plain = is_plain
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failed: Exception = Undelivered("no_address")
        for address in self._checked(host, port)[:_MOST_ADDRESSES]:
            try:
                stream = self._backend.connect_tcp(
                    str(address), port, _remaining(self._deadline, timeout), local_address, socket_options
                )
            except httpcore.ConnectError as error:
                failed = error
            else:
                return _BoundStream(stream, self._deadline)
        raise failed

    def _checked(self, host: str, port: int) -> list[Address]:
        addresses = _resolved(host, port, _remaining(self._deadline, _RESOLVE_SECONDS))
        allowed = [address for address in addresses if is_allowed(address, self._networks)]
        if not allowed:
            raise Undelivered("private_address")
        if not self._is_plain:
            return allowed
        within = [address for address in allowed if _is_in(address, self._networks)]
        if not within:
            raise Undelivered("plain_http")
        return within


def _resolved(host: str, port: int, seconds: float) -> list[Address]:
    """Return the addresses of a host within some seconds. The system's resolver knows no deadline, so it is asked in a
    thread that nobody waits for longer."""
    resolved: queue.SimpleQueue[list[Address]] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            answers = []
        resolved.put([ip_address(str(sockaddr[0])) for *_, sockaddr in answers])

    threading.Thread(target=look_up, name="resolve", daemon=True).start()
    try:
        addresses = resolved.get(timeout=seconds)
    except queue.Empty as error:
        raise Undelivered("timeout") from error
    if not addresses:
        raise Undelivered("no_address")
    return list(dict.fromkeys(addresses))


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _inner(address: Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def _remaining(deadline: float, timeout: float | None) -> float:
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise Undelivered("timeout")
    return remaining if timeout is None else min(remaining, timeout)


def _seconds(retry_after: bytes | None) -> float | None:
    """Return what a receiver asks to be waited for, where it says seconds; a date is left to our own schedule."""
    return float(retry_after) if retry_after is not None and retry_after.isdigit() else None


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()
