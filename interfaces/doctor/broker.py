"""What a look at the broker, the workers and beat finds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, cast

from redis import Redis

from schema.errors import BrokerFailed, BrokerRefused, BrokerRejected
from schema.health import HealthCheck, failed, fine, skipped, warning
from schema.settings import Settings
from stores.dead_letters import count_dead_letters
from stores.queue import BEAT_KEYS, BEAT_LOCK, QUEUES, ask_workers, create_celery, open_mailbox
from stores.redis import open_redis

LEAST_VERSION = (7, 0)
_SECONDS = 2.0
_CLOCK_SECONDS = 1.0
_FULL = 0.8
_BEATS_SCHEDULE, _SWEEP = f"{BEAT_KEYS}:schedule", f"{BEAT_KEYS}sweep"
_LATE_SECONDS = 60.0


def check_broker(settings: Settings) -> Iterator[HealthCheck]:
    """The server: whether it answers, what it is, whether it keeps what it is given, its clock, and what waits."""
    with open_redis(settings, timeout=_SECONDS, retries=0) as redis:
        try:
            said = cast(dict[str, Any], redis.info())
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
        yield _server(said, settings)
        yield _keeping(said)
        yield _room(said)
        yield _clock(redis)
        yield from _scripts(redis, settings)


def check_fleet(settings: Settings, *, patience: float = 1.0) -> Iterator[HealthCheck]:
    """Who works, as far as it answers within `patience` seconds, and whether beat rings."""
    with open_redis(settings, timeout=_SECONDS, retries=0) as redis:
        try:
            redis.ping()
        except BrokerFailed:
            yield skipped("workers", "not asked: the broker does not answer")
            return
        replies = ask_workers(create_celery(settings), patience)
        workers = [said for reply in replies for said in reply.values()]
        if workers:
            busy, slots = (sum(said.get(name, 0) for said in workers) for name in ("busy", "slots"))
            yield fine("workers", f"{len(workers)} answer, {busy} of {slots} slots busy")
        else:
            yield failed("workers", "none answers", "start one: `afterturn worker` (or all at once: `afterturn run`)")
        yield _beat(redis, settings)


def _server(said: dict[str, Any], settings: Settings) -> HealthCheck:
    name = "Valkey" if "valkey_version" in said else "Redis"
    version = str(said.get("valkey_version") or said.get("redis_version"))
    what = f"{name} {version} at {settings.broker_shown}"
    if tuple(int(part) for part in version.split(".")[:2]) < LEAST_VERSION:
        return failed("broker", what, f"update it to {'.'.join(map(str, LEAST_VERSION))} or newer")
    if said.get("redis_mode") == "cluster" or said.get("server_mode") == "cluster":
        return failed("broker", f"{what}, a cluster", "take a single server, with a replica where it must not fail")
    if said.get("role") in {"slave", "replica"}:
        return failed("broker", f"{what}, a replica that takes no writes", "set AFTERTURN_BROKER_URL to the primary")
    return fine("broker", what)


def _keeping(said: dict[str, Any]) -> HealthCheck:
    part = "broker keeps"
    if said.get("aof_last_write_status", "ok") != "ok":
        return failed(part, "its append-only file cannot be written", "look at the disk of the broker: space, rights")
    if said.get("maxmemory_policy") != "noeviction":
        found = f"maxmemory-policy {said.get('maxmemory_policy')}: a full broker throws turns away"
        return failed(part, found, "CONFIG SET maxmemory-policy noeviction, and the same in its configuration")
    if not said.get("aof_enabled"):
        hint = "CONFIG SET appendonly yes, and the same in its configuration (a managed one: turn persistence on)"
        return failed(part, "no append-only file: a restart loses the turns that wait", hint)
    return fine(part, "append-only file, noeviction")


def _room(said: dict[str, Any]) -> HealthCheck:
    used, most = int(said.get("used_memory", 0)), int(said.get("maxmemory", 0))
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


def _scripts(redis: Redis, settings: Settings) -> Iterator[HealthCheck]:
    try:
        depths = open_mailbox(settings, redis, create_celery(settings)).depths(QUEUES)
        letters = count_dead_letters(redis)
    except (BrokerRefused, BrokerRejected):
        hint = "give the user of AFTERTURN_BROKER_URL the rights +@all ~* &*: mailboxes are moved by Lua scripts"
        yield failed("mailboxes", "the broker refuses our scripts", hint)
        return
    waiting = f"{depths.pending_turns} turns of {depths.pending_subjects} users wait"
    if depths.pending_turns and depths.oldest_pending_seconds > _LATE_SECONDS:
        found = f"{waiting}, the oldest for {depths.oldest_pending_seconds:.0f} s"
        yield warning("queues", found, "look at `afterturn status`: it says who works and what holds them up")
    elif depths.pending_turns > settings.max_pending_turns:
        yield warning("queues", waiting, "start more workers: producers are told that the fleet is overloaded")
    else:
        yield fine("queues", waiting)
    if letters:
        yield warning("dead letters", f"{letters}", "see why: `afterturn dead-letters list`, and replay them")


def _beat(redis: Redis, settings: Settings) -> HealthCheck:
    if not redis.exists(BEAT_LOCK):
        return failed("beat", "none leads: no sweep, no nights", "start one: `afterturn beat`")
    due = redis.zscore(_BEATS_SCHEDULE, _SWEEP)
    if due is None:
        return failed("beat", "leads, and has no sweep to ring", "start it again: `afterturn beat`")
    late = redis.time()[0] - due
    if late > _LATE_SECONDS:
        return failed("beat", f"leads, and has not rung for {late:.0f} s", "look at its log, and start it again")
    since = max(0.0, late + settings.sweep_seconds)
    return fine("beat", f"leads, rang {since:.0f} s ago")
