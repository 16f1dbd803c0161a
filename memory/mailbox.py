"""The mailbox: the pending turns of one subject, in order, held by one worker at a time.

Producers append, workers drain. It is a write-ahead list in Redis, so a turn is safe before any message is sent and
a lost message costs time, not turns. Every move is one Lua script: nobody ever sees half of one. All clocks are
Redis' own, so a worker with a wrong clock harms nobody.

What lies where, a subject each (`docs/reference/redis-keys.md`):

    order       list of pending turn ids, oldest first
    turns       hash of turn id -> digest, arrival and body
    deliveries  hash of turn id -> how often a worker took it
    done        hash of turn id -> digest, of turns lately dropped: a late message for one of them is no work
    lease       the token of the worker that holds the mailbox; expires
    fence       the last token given; the next is greater
    retry       stands while the subject is backing off

`afterturn:mailbox:dirty` is one sorted set over all subjects with pending turns, scored by when to ring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, cast

from redis import Redis

from memory.schema import Subject, Turn

DIRTY_KEY = "afterturn:mailbox:dirty"
_DONE_SECONDS = 3600
_FENCE_SECONDS = 7 * 86400
_DIGEST_CHARS = 64
_ARRIVAL_CHARS = 16

# Redis' clock in microseconds fits a double exactly until the year 2255.
_NOW = """
local function now_us()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end
"""

_APPEND = (
    _NOW
    + """
local order, turns, done, dirty = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local subject, turn_id, digest, body, ring_after_us = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local seen = redis.call('HGET', done, turn_id)
if seen then
  if seen == digest then return 'done' end
  return 'conflict'
end
local parked = redis.call('HGET', turns, turn_id)
if parked then
  if string.sub(parked, 1, 64) == digest then return 'pending' end
  return 'conflict'
end
local now = now_us()
redis.call('HSET', turns, turn_id, digest .. string.format('%016.0f', now) .. body)
redis.call('RPUSH', order, turn_id)
redis.call('ZADD', dirty, 'NX', now + ring_after_us, subject)
return 'added'
"""
)

# A turn that was taken before and not committed may be what killed its worker: it is taken alone, so that its
# neighbours neither share its count of deliveries nor its end.
_TAKE = """
local function take(limit)
  local ids = redis.call('LRANGE', order, 0, limit - 1)
  local taken = {}
  for place, id in ipairs(ids) do
    local before = tonumber(redis.call('HGET', deliveries, id) or '0')
    if before > 0 and place > 1 then break end
    local count = redis.call('HINCRBY', deliveries, id, 1)
    table.insert(taken, id)
    table.insert(taken, redis.call('HGET', turns, id))
    table.insert(taken, count)
    if before > 0 then break end
  end
  return taken
end
"""

_ACQUIRE = (
    _NOW
    + """
local order, turns, deliveries, lease, fence, retry, dirty =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local subject, lease_ms, limit, fence_seconds = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
"""
    + _TAKE
    + """
if redis.call('EXISTS', lease) == 1 then return {'held'} end
if redis.call('LLEN', order) == 0 then
  redis.call('ZREM', dirty, subject)
  return {'empty'}
end
if redis.call('EXISTS', retry) == 1 then return {'waiting'} end
local now = now_us()
local token = math.max(now, tonumber(redis.call('GET', fence) or '0') + 1)
local written = string.format('%.0f', token)
redis.call('SET', fence, written, 'EX', fence_seconds)
redis.call('SET', lease, written, 'PX', lease_ms)
redis.call('ZADD', dirty, now + lease_ms * 1000, subject)
return {'taken', written, take(limit)}
"""
)

_COMMIT = (
    _NOW
    + """
local order, turns, deliveries, lease, done, dirty = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local subject, token, lease_ms, limit, done_seconds = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
"""
    + _TAKE
    + """
if redis.call('GET', lease) ~= token then return {'lost'} end
for place = 6, #ARGV do
  local id = ARGV[place]
  local parked = redis.call('HGET', turns, id)
  if parked then
    redis.call('HSET', done, id, string.sub(parked, 1, 64))
    redis.call('LREM', order, 1, id)
    redis.call('HDEL', turns, id)
    redis.call('HDEL', deliveries, id)
  end
end
if #ARGV >= 6 then redis.call('EXPIRE', done, done_seconds) end
if limit == 0 or redis.call('LLEN', order) == 0 then
  redis.call('DEL', lease)
  if redis.call('LLEN', order) == 0 then
    redis.call('ZREM', dirty, subject)
  else
    redis.call('ZADD', dirty, now_us(), subject)
  end
  return {'released'}
end
redis.call('PEXPIRE', lease, lease_ms)
redis.call('ZADD', dirty, now_us() + lease_ms * 1000, subject)
return {'taken', token, take(limit)}
"""
)

_RENEW = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""

_RELEASE = (
    _NOW
    + """
local lease, retry, dirty = KEYS[1], KEYS[2], KEYS[3]
local subject, token, wait_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('GET', lease) ~= token then return 0 end
redis.call('DEL', lease)
if wait_ms > 0 then redis.call('SET', retry, '1', 'PX', wait_ms) end
redis.call('ZADD', dirty, now_us() + wait_ms * 1000, subject)
return 1
"""
)

_RING = (
    _NOW
    + """
local dirty, limit, again_us = KEYS[1], ARGV[1], tonumber(ARGV[2])
local now = now_us()
local due = redis.call('ZRANGE', dirty, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)
for _, subject in ipairs(due) do redis.call('ZADD', dirty, now + again_us, subject) end
return due
"""
)


class Appended(StrEnum):
    """What an append did."""

    ADDED = "added"
    PENDING = "pending"
    """It was there already, and waits."""
    DONE = "done"
    """It was processed lately."""


class ConflictingTurn(Exception):
    """A turn with this id and other content was enqueued before."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"turn_id {turn_id!r} was enqueued before with other content; a turn is immutable: "
            "give the new one an id of its own"
        )
        self.turn_id = turn_id


class LeaseLost(Exception):
    """Another worker may hold the mailbox: what was being done must not be committed."""


@dataclass(frozen=True)
class Lease:
    """The right to work on one subject. `token` grows with every lease of it: the catalog refuses older ones."""

    subject: Subject
    token: int


@dataclass(frozen=True)
class ParkedTurn:
    """A turn as it lies in the mailbox. `deliveries` counts how often a worker took it, this time included."""

    turn_id: str
    digest: str
    body: str
    arrived_at: datetime
    deliveries: int


@dataclass(frozen=True)
class Batch:
    """The oldest turns of a subject, in order, under a lease."""

    lease: Lease
    turns: tuple[ParkedTurn, ...]


def _key(subject: Subject, part: str) -> str:
    return f"afterturn:mailbox:{{{subject.key}}}:{part}"


def _parked(turn_id: bytes, record: bytes, deliveries: int) -> ParkedTurn:
    text = record.decode()
    arrived = int(text[_DIGEST_CHARS : _DIGEST_CHARS + _ARRIVAL_CHARS])
    return ParkedTurn(
        turn_id=turn_id.decode(),
        digest=text[:_DIGEST_CHARS],
        body=text[_DIGEST_CHARS + _ARRIVAL_CHARS :],
        arrived_at=datetime.fromtimestamp(arrived / 1e6, UTC),
        deliveries=deliveries,
    )


def _batch(subject: Subject, reply: Sequence[Any]) -> Batch:
    flat = reply[2]
    turns = tuple(_parked(*flat[place : place + 3]) for place in range(0, len(flat), 3))
    return Batch(Lease(subject, int(reply[1])), turns)


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))


class Mailbox:
    """The mailboxes of all subjects, over one Redis client with `decode_responses=False`."""

    def __init__(self, redis: Redis) -> None:
        self._append = redis.register_script(_APPEND)
        self._acquire = redis.register_script(_ACQUIRE)
        self._commit = redis.register_script(_COMMIT)
        self._renew = redis.register_script(_RENEW)
        self._release = redis.register_script(_RELEASE)
        self._ring = redis.register_script(_RING)
        self._redis = redis

    def append(self, turn: Turn, ring_after: float) -> Appended:
        """Park a turn behind the others of its subject, once per turn_id.

        A sweeper rings the subject if nobody has taken the turn `ring_after` seconds from now.

        Raises:
            ConflictingTurn: a turn with its id and other content waits or was lately processed.
        """
        subject = turn.subject
        body = turn.canonical_json()
        reply = self._append(
            keys=[*(_key(subject, part) for part in ("order", "turns", "done")), DIRTY_KEY],
            args=[subject.key, turn.turn_id, turn.digest(), body, round(ring_after * 1e6)],
        )
        answer = cast(bytes, reply).decode()
        if answer == "conflict":
            raise ConflictingTurn(turn.turn_id)
        return Appended(answer)

    def acquire(self, subject: Subject, limit: int, lease_seconds: float) -> Batch | None:
        """Take the lease and up to `limit` of the oldest turns.

        None when there is nothing to do here: another worker holds the lease and will take what is parked, the
        mailbox is empty, or the subject is backing off.
        """
        parts = ("order", "turns", "deliveries", "lease", "fence", "retry")
        reply = self._acquire(
            keys=[*(_key(subject, part) for part in parts), DIRTY_KEY],
            args=[subject.key, _ms(lease_seconds), limit, _FENCE_SECONDS],
        )
        return _batch(subject, reply) if reply[0] == b"taken" else None

    def commit(self, lease: Lease, turn_ids: Sequence[str], limit: int, lease_seconds: float) -> Batch | None:
        """Drop processed turns, and take up to `limit` more under the renewed lease, or release it.

        None when the lease was released: nothing is left, or `limit` is 0.

        Raises:
            LeaseLost: the lease expired or is another's; nothing was dropped.
        """
        parts = ("order", "turns", "deliveries", "lease", "done")
        reply = self._commit(
            keys=[*(_key(lease.subject, part) for part in parts), DIRTY_KEY],
            args=[lease.subject.key, lease.token, _ms(lease_seconds), limit, _DONE_SECONDS, *turn_ids],
        )
        if reply[0] == b"lost":
            raise LeaseLost
        return _batch(lease.subject, reply) if reply[0] == b"taken" else None

    def renew(self, lease: Lease, lease_seconds: float) -> bool:
        """Keep a lease for longer; False when it is lost."""
        reply = self._renew(keys=[_key(lease.subject, "lease")], args=[lease.token, _ms(lease_seconds)])
        return bool(reply)

    def release(self, lease: Lease, retry_in: float = 0.0) -> None:
        """Give a lease back with nothing dropped; nobody takes the subject for `retry_in` seconds.

        A lease that is lost is no error: there is nothing to give back.
        """
        subject = lease.subject
        wait_ms = _ms(retry_in) if retry_in > 0 else 0
        self._release(
            keys=[_key(subject, "lease"), _key(subject, "retry"), DIRTY_KEY],
            args=[subject.key, lease.token, wait_ms],
        )

    def due(self, limit: int, ring_again_after: float) -> list[Subject]:
        """Up to `limit` subjects with turns that nobody has taken in time, longest due first.

        None of them is due again for `ring_again_after` seconds.
        """
        keys = cast(list[bytes], self._ring(keys=[DIRTY_KEY], args=[limit, round(ring_again_after * 1e6)]))
        return [Subject.from_key(key.decode()) for key in keys]

    def dirty_subjects(self) -> int:
        """How many subjects have pending turns."""
        return self._redis.zcard(DIRTY_KEY)
