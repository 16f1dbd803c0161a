"""Check the broker, the workers and beat."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, cast

from redis import Redis

from interfaces.fleet_checks import check_beat, check_dead_letters, check_queues, check_workers
from interfaces.fleet_report import FleetReport, read_beat, read_queues, read_workers
from schema.errors import BrokerFailed, BrokerRefused, BrokerRejected
from schema.health import HealthCheck, failed, fine, skipped, warning
from schema.settings import Settings
from stores.redis import open_redis

LEAST_VERSION = (7, 0)
_SECONDS = 2.0
_CLOCK_SECONDS = 1.0
_FULL = 0.8


def check_broker(settings: Settings) -> Iterator[HealthCheck]:
    """Check the server: that it answers, what it is, that it keeps what it is given, its clock, and what waits."""
    with open_redis(settings, timeout=_SECONDS, retries=0) as redis:
        try:
            info = cast(dict[str, Any], redis.info())
        except BrokerRefused as error:
            hint = "give the user of AFTERTURN_BROKER_URL its password, and the rights +@all ~* &*"
            yield failed(
                "broker", f"{settings.broker_shown} refuses the user ({type(error.__cause__ or error).__name__})", hint
            )
            return
        except BrokerFailed as error:
            hint = "start one (`afterturn run` brings its own), or set AFTERTURN_BROKER_URL"
            yield failed(
                "broker", f"{settings.broker_shown} does not answer ({type(error.__cause__ or error).__name__})", hint
            )
            return
        yield _server(info, settings)
        yield _keeping(info)
        yield _room(info)
        yield _clock(redis)
        yield from _queues(redis, settings)


def check_fleet(settings: Settings, *, patience: float = 1.0) -> Iterator[HealthCheck]:
    """Check who works, as far as it answers within `patience` seconds, and whether beat starts the sweep."""
    try:
        with open_redis(settings, timeout=_SECONDS, retries=0) as redis:
            fields = {**read_beat(redis), **read_workers(settings, patience)}
    except BrokerFailed:
        yield skipped("workers", "not asked: the broker does not answer")
        return
    report = FleetReport(settings.broker_shown, **fields)
    yield from check_workers(report)
    yield from check_beat(report, settings.sweep_seconds)


def _server(info: dict[str, Any], settings: Settings) -> HealthCheck:
    name = "Valkey" if "valkey_version" in info else "Redis"
    version = str(info.get("valkey_version") or info.get("redis_version"))
    server = f"{name} {version} at {settings.broker_shown}"
    if tuple(int(part) for part in version.split(".")[:2]) < LEAST_VERSION:
        return failed("broker", server, f"update it to {'.'.join(map(str, LEAST_VERSION))} or newer")
    if info.get("redis_mode") == "cluster" or info.get("server_mode") == "cluster":
        return failed("broker", f"{server}, a cluster", "take a single server, with a replica where it must not fail")
    if info.get("role") in {"slave", "replica"}:
        return failed("broker", f"{server}, a replica that takes no writes", "set AFTERTURN_BROKER_URL to the primary")
    return fine("broker", server)


def _keeping(info: dict[str, Any]) -> HealthCheck:
    part = "broker keeps"
    if info.get("aof_last_write_status", "ok") != "ok":
        return failed(part, "its append-only file cannot be written", "look at the disk of the broker: space, rights")
    if info.get("maxmemory_policy") != "noeviction":
        state = f"maxmemory-policy {info.get('maxmemory_policy')}: a full broker throws turns away"
        return failed(part, state, "CONFIG SET maxmemory-policy noeviction, and the same in its configuration")
    if not info.get("aof_enabled"):
        hint = "CONFIG SET appendonly yes, and the same in its configuration (a managed one: turn persistence on)"
        return failed(part, "no append-only file: a restart loses the turns that wait", hint)
    return fine(part, "append-only file, noeviction")


def _room(info: dict[str, Any]) -> HealthCheck:
    used, most = int(info.get("used_memory", 0)), int(info.get("maxmemory", 0))
    if most and used > most * _FULL:
        hint = "give it more memory (maxmemory), or more workers to what waits: `afterturn status`"
        return warning("broker memory", f"{used / 1e6:.0f} of {most / 1e6:.0f} MB", hint)
    return fine("broker memory", f"{used / 1e6:.0f} MB{f' of {most / 1e6:.0f}' if most else ', no limit of its own'}")


def _clock(redis: Redis) -> HealthCheck:
    before = time.time()
    seconds, micros = redis.time()
    ahead = seconds + micros / 1e6 - (before + time.time()) / 2
    if abs(ahead) > _CLOCK_SECONDS:
        hint = "let both hosts keep time (chrony, systemd-timesyncd): waiting times and expiries are wrong by as much"
        return warning("broker clock", f"{abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} this host", hint)
    return fine("broker clock", f"{abs(ahead) * 1000:.0f} ms from this host's")


def _queues(redis: Redis, settings: Settings) -> Iterator[HealthCheck]:
    try:
        report = FleetReport(settings.broker_shown, **read_queues(redis, settings))
    except (BrokerRefused, BrokerRejected):
        hint = "give the user of AFTERTURN_BROKER_URL the rights +@all ~* &*: mailboxes are moved by Lua scripts"
        yield failed("mailboxes", "the broker refuses our scripts", hint)
        return
    yield from check_queues(report, settings.max_pending_turns)
    yield from check_dead_letters(report)
