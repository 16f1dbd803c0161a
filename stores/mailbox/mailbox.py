"""The mailbox: the pending turns of one subject, in order, held by one worker at a time.

Producers append, workers drain. It is a write-ahead list in Redis, so a turn is safe before any message is sent and
a lost message costs time, not turns. Every move is one Lua script (`stores/mailbox/lua`): nobody ever sees half
of one. All clocks are Redis' own, so a worker with a wrong clock harms nobody.

A subject takes a *slot* while a message for it is under way or a worker holds it. A tenant has a number of slots; its
other subjects wait in its *wait queue*, so that a backlog of one tenant never fills the queue before the turns of
another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, cast

from redis import Redis

import stores.mailbox.scripts as scripts
from schema import Subject, Turn
from schema.errors import BrokerFailed, ConflictingTurn, LeaseLost, QuotaExceeded
from stores.batching import Batcher, Failed

_DONE_SECONDS = 3600
_FENCE_SECONDS = 7 * 86_400
_NOTIFIED_SECONDS = 30.0
"""How long a message may be under way before its subject counts as forgotten and a worker is notified again."""
_SUBJECTS_A_SCAN = 1000
_DIGEST_CHARS = 64
_ARRIVAL_CHARS = 16
_LONGEST_WAIT_SECONDS = 30 * 86_400
"""How far back a sender may say that it enqueued a turn: a clock that began in 1970 must not have all refused."""


class Appended(StrEnum):
    """Outcome of an append."""

    ADDED = "added"
    PENDING = "pending"
    """It was there already, and waits."""
    DONE = "done"
    """It was processed lately."""


@dataclass(frozen=True)
class TurnQuota:
    """Number of new turns a minute of one user, and of one tenant, that are parked; 0: any number."""

    user: int = 0
    tenant: int = 0

    def exceeded(self, scope: str, seconds: float) -> QuotaExceeded:
        """Return the error for a turn that was not taken, and may be sent again in so many seconds."""
        of_whom = "AFTERTURN_QUOTA_USER" if scope == "user" else "AFTERTURN_QUOTA_TENANT"
        turns = self.user if scope == "user" else self.tenant
        return QuotaExceeded(
            f"this {scope} may send {turns} turns a minute ({of_whom}_TURNS_PER_MINUTE); the turn was not taken: send "
            f"it again in {seconds:.0f} s",
            scope=scope,
            retry_after=seconds,
        )


ANY_NUMBER: Final = TurnQuota()


@dataclass(frozen=True)
class Receipt:
    """Receipt of an append. `notify` says that nobody is on the way to the subject: a message must be sent.

    `pending` is how many turns of all subjects wait.
    """

    appended: Appended
    notify: bool
    pending: int


@dataclass(frozen=True)
class Lease:
    """The right to work on one subject. `token` grows with every lease of it: the catalog refuses older ones."""

    subject: Subject
    token: int


@dataclass(frozen=True)
class ParkedTurn:
    """A turn as it lies in the mailbox. It was enqueued before it arrived if it lay in a spool.

    `deliveries` counts how often a worker took it and was not heard of again, this time included; `failures` how often
    it failed in a way that may pass.
    """

    turn_id: str
    digest: str
    body: str
    arrived_at: datetime
    enqueued_at: datetime
    deliveries: int
    failures: int


@dataclass(frozen=True)
class Batch:
    """The oldest turns of a subject, in order, under a lease.

    `outages` counts how often in a row the subject's work failed for a reason that was no turn's fault.
    """

    lease: Lease
    turns: tuple[ParkedTurn, ...]
    outages: int


@dataclass(frozen=True)
class Depths:
    """Numbers of what waits, at a moment on Redis' clock.

    `queues` are messages by queue; `pending_turns` of all subjects, those in hand included; `waiting_subjects` wait
    for a slot of their tenant. `oldest_pending_seconds` is for how long the oldest pending turn has waited, 0 without
    one.
    """

    at: datetime
    queues: dict[str, int]
    pending_turns: int
    pending_subjects: int
    waiting_subjects: int
    oldest_pending_seconds: float


def key_of(subject: Subject, part: str) -> str:
    """Return where a part of a subject's mailbox lies in Redis."""
    return f"{scripts.PREFIX}{{{subject.key}}}:{part}"


def _parked(turn_id: bytes, record: bytes, deliveries: int, failures: int, enqueued: bytes | None) -> ParkedTurn:
    text = record.decode()
    arrived = int(text[_DIGEST_CHARS : _DIGEST_CHARS + _ARRIVAL_CHARS])
    return ParkedTurn(
        turn_id=turn_id.decode(),
        digest=text[:_DIGEST_CHARS],
        body=text[_DIGEST_CHARS + _ARRIVAL_CHARS :],
        arrived_at=datetime.fromtimestamp(arrived / 1e6, UTC),
        enqueued_at=datetime.fromtimestamp(int(enqueued or arrived) / 1e6, UTC),
        deliveries=deliveries,
        failures=failures,
    )


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))


@dataclass(frozen=True, slots=True)
class _Move:
    """One script to run, by its name."""

    script: str
    keys: list[str]
    arguments: list[Any]


class Mailbox:
    """The mailboxes of all subjects, over one Redis client with `decode_responses=False`.

    `notify` sends a message that makes some worker look into a subject's mailbox; `slots` is how many subjects of one
    tenant may be under way or in work at a time.
    """

    def __init__(self, redis: Redis, *, notify: Callable[[Subject], None], slots: int) -> None:
        self._redis = redis
        self._notify = notify
        self._slots = slots
        self._scripts = {name: redis.register_script(text) for name, text in scripts.SCRIPTS.items()}
        self._batcher: Batcher[_Move, Any] = Batcher(self._moved)

    def append(self, turn: Turn, look_after: float, quota: TurnQuota = ANY_NUMBER, waited: float = 0.0) -> Receipt:
        """Park a turn behind the others of its subject, once per turn_id.

        A sweeper looks at the subject if nobody has taken the turn `look_after` seconds from now. It was enqueued
        `waited` seconds ago, by a clock that may have jumped: no more than 30 days count, and none below 0.

        Raises:
            ConflictingTurn: a turn with its id and other content waits or was lately processed.
            QuotaExceeded: the user, or the tenant, has had its turns of this minute.
        """
        appended, notify, pending = self._run(
            "append",
            turn.subject,
            turn.turn_id,
            turn.dated_digest(),
            turn.canonical_json(),
            _us(look_after),
            quota.user,
            quota.tenant,
            turn.digest(),
            _FENCE_SECONDS,
            _us(min(max(0.0, waited), _LONGEST_WAIT_SECONDS)),
        )
        if appended in (b"user", b"tenant"):
            raise quota.exceeded(appended.decode(), notify / 1000)
        if appended == b"conflict":
            raise ConflictingTurn(turn.turn_id)
        return Receipt(Appended(appended.decode()), bool(notify), pending)

    def acquire(self, subject: Subject, limit: int, lease_seconds: float) -> Batch | None:
        """Take the lease and up to `limit` of the oldest turns.

        None when there is nothing to do here now: another worker holds the lease and will take what is parked, the
        mailbox is empty, the subject is backing off, or its tenant has no slot left.
        """
        return self._batch(subject, self._run_together("acquire", subject, _ms(lease_seconds), limit, _FENCE_SECONDS))

    def acquire_lease(self, subject: Subject, lease_seconds: float, *, turns_first: bool = False) -> Lease | None:
        """Take the lease for work that no turn asks for, and no turns.

        None while another holds it, and with `turns_first` while turns are pending. Turns that come meanwhile wait.
        Give it back with `release_lease`.
        """
        token = self._run("acquire_lease", subject, _ms(lease_seconds), _FENCE_SECONDS, int(turns_first))
        return Lease(subject, int(token)) if token else None

    def hold_back(self, subject: Subject, seconds: float) -> None:
        """Have no worker take turns of a subject for so long; who holds its lease leaves it after the batch in hand.
        Longer pauses stand."""
        self._redis.set(key_of(subject, "retry"), 1, px=_ms(seconds), nx=True)

    def release_lease(self, lease: Lease) -> None:
        """Give back a lease that brought no turns. One that is lost is no error: there is nothing to give back."""
        self._notify_next(self._run("release_lease", lease.subject, lease.token))

    def commit(self, lease: Lease, turn_ids: Sequence[str], limit: int, lease_seconds: float) -> Batch | None:
        """Drop processed turns, and take up to `limit` more under the renewed lease, or release it.

        None when the lease was released: nothing is left, or `limit` is 0 and the subject waits again behind the
        others of its tenant.

        Raises:
            LeaseLost: the lease expired or is another's; nothing was dropped.
        """
        reply = self._run_together(
            "commit", lease.subject, lease.token, _ms(lease_seconds), limit, _DONE_SECONDS, *turn_ids
        )
        if reply[0] == b"lost":
            raise LeaseLost
        return self._batch(lease.subject, reply)

    def renew(self, lease: Lease, lease_seconds: float) -> bool:
        """Keep a lease for longer; False when it is lost."""
        return bool(self._run("renew", lease.subject, lease.token, _ms(lease_seconds)))

    def release(self, batch: Batch, *, retry_in: float, blamed: bool) -> None:
        """Give a batch back with nothing dropped; nobody takes the subject for `retry_in` seconds.

        `blamed` counts it as a failure of its turns, otherwise as an outage. A lease that is lost is no error: there
        is nothing to give back.
        """
        wait_ms = _ms(retry_in) if retry_in > 0 else 0
        turn_ids = [parked.turn_id for parked in batch.turns]
        lease = batch.lease
        self._notify_next(self._run("release", lease.subject, lease.token, wait_ms, int(blamed), *turn_ids))

    def now(self) -> datetime:
        """Return the moment by the clock by which turns arrive."""
        seconds, microseconds = self._redis.time()
        return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)

    def parked(self, subject: Subject) -> dict[str, ParkedTurn]:
        """Return a subject's pending turns, by turn_id: for erasures."""
        return {parked.turn_id: parked for parked in self.in_order(subject)}

    def subjects(self) -> Iterator[Subject]:
        """Yield every subject that has pending turns from the first to the last; one that has some for a part of that
        time may be missed."""
        seen = set()
        for key, _ in self._redis.zscan_iter(scripts.PENDING_SUBJECTS, count=_SUBJECTS_A_SCAN):
            if key not in seen:
                seen.add(key)
                yield Subject.from_key(key.decode())

    def in_order(self, subject: Subject) -> list[ParkedTurn]:
        """Return a subject's pending turns at one moment, oldest first."""
        pipeline = self._redis.pipeline(transaction=True)
        pipeline.lrange(key_of(subject, "order"), 0, -1)
        pipeline.hgetall(key_of(subject, "turns"))
        pipeline.hgetall(key_of(subject, "enqueued"))
        order, records, enqueued = pipeline.execute()
        return [_parked(id_, records[id_], 0, 0, enqueued.get(id_)) for id_ in order if id_ in records]

    def drop(self, lease: Lease, turn_ids: Sequence[str]) -> None:
        """Drop pending turns under a lease, and keep it. Their ids are known for an hour, as those of processed ones:
        a message for one of them that a worker had in hand brings nothing back.

        Raises:
            LeaseLost: the lease expired or is another's; nothing was dropped.
        """
        if not self._run("drop", lease.subject, lease.token, _DONE_SECONDS, *turn_ids):
            raise LeaseLost

    def reopen(self, turn: Turn) -> None:
        """Forget that a turn with this content was lately processed, so that it may be appended again."""
        self._run("reopen", turn.subject, turn.turn_id, turn.dated_digest(), turn.digest())

    def due(self, limit: int, look_again_after: float) -> list[Subject]:
        """Return up to `limit` subjects with turns that nobody has taken in time, longest due first.

        None of them is due again for `look_again_after` seconds. Subjects whose tenant has no slot left
        stay in its wait queue.
        """
        keys = cast(list[bytes], self._run("due", None, limit, _us(look_again_after)))
        return [Subject.from_key(key.decode()) for key in keys]

    def take_over_quota(self, limit: int) -> list[tuple[Subject, str]]:
        """Return up to `limit` subjects of whom a turn was refused, each with whose quota it was ("user", "tenant"),
        and forget them: whoever asks tells it."""
        members = cast(list[bytes], self._redis.spop(scripts.OVER_QUOTA, limit))
        pairs = (member.decode().split(" ", 1) for member in members)
        return [(Subject.from_key(key), scope) for scope, key in pairs]

    def forget_over_quota(self, subject: Subject) -> None:
        """Tell nobody any more that a turn of a subject was refused."""
        self._redis.srem(scripts.OVER_QUOTA, *(f"{scope} {subject.key}" for scope in ("user", "tenant")))

    def pending_subjects(self) -> int:
        """Return how many subjects have pending turns."""
        return self._redis.zcard(scripts.PENDING_SUBJECTS)

    def pending_turns(self) -> int:
        """Return how many turns of all subjects are pending."""
        return int(self._redis.get(scripts.PENDING_TURNS) or 0)

    def depths(self, queues: Sequence[str]) -> Depths:
        """Return how much waits in all mailboxes and in the queues of these names, in one read."""
        at_us, turns, pending, waiting, oldest_us, *messages = self._run("depths", None, *queues)
        return Depths(
            at=datetime.fromtimestamp(at_us / 1e6, UTC),
            queues=dict(zip(queues, messages, strict=True)),
            pending_turns=turns,
            pending_subjects=pending,
            waiting_subjects=waiting,
            oldest_pending_seconds=oldest_us / 1e6,
        )

    def _run(self, script: str, subject: Subject | None, *arguments: Any) -> Any:
        return self._alone(self._move(script, subject, *arguments))

    def _run_together(self, script: str, subject: Subject, *arguments: Any) -> Any:
        """Run a script with those that other threads of this worker ask for meanwhile, in one round trip."""
        return self._batcher.do(self._move(script, subject, *arguments))

    def _move(self, script: str, subject: Subject | None, *arguments: Any) -> _Move:
        keys = [*scripts.SHARED_KEYS]
        if subject:
            keys += [key_of(subject, part) for part in scripts.SUBJECT_PARTS]
        name = subject.key if subject else ""
        return _Move(script, keys, [name, self._slots, _us(_NOTIFIED_SECONDS), *arguments])

    def _moved(self, moves: Sequence[_Move]) -> list[Any]:
        if len(moves) == 1:
            return [self._alone(moves[0])]
        pipeline = self._redis.pipeline(transaction=False)
        for move in moves:
            pipeline.evalsha(self._scripts[move.script].sha, len(move.keys), *move.keys, *move.arguments)
        replies = pipeline.execute(raise_on_error=False)
        return [
            self._again(move) if isinstance(reply, Exception) else reply
            for move, reply in zip(moves, replies, strict=True)
        ]

    def _alone(self, move: _Move) -> Any:
        return self._scripts[move.script](move.keys, move.arguments)

    def _again(self, move: _Move) -> Any:
        """Run a script that was refused among others, as one that a server started anew does not know yet."""
        try:
            return self._alone(move)
        except BrokerFailed as error:
            return Failed(error)

    def _batch(self, subject: Subject, reply: Sequence[Any]) -> Batch | None:
        self._notify_next(reply)
        if reply[0] != b"taken":
            return None
        flat = reply[4]
        turns = tuple(_parked(*flat[start : start + 5]) for start in range(0, len(flat), 5))
        return Batch(Lease(subject, int(reply[1])), turns, outages=reply[3])

    def _notify_next(self, reply: Sequence[Any]) -> None:
        if reply[2]:
            self._notify(Subject.from_key(reply[2].decode()))


def _us(seconds: float) -> int:
    return round(seconds * 1e6)
