"""Where a fleet for many turns a second breaks first: service times are measured here, the rest is simulated with them.

    python -m benchmarks.scale --turns-a-second 1000

Measured on real servers: of Redis and Postgres what a turn takes of their cores, their logs and, while it waits, of
Redis' memory; of the disk how fast it is. What a turn costs a worker is given, as `make bench` measured it. Simulated:
turns arrive at random, each of a random user, and stand in line at their user's shard of Redis, at the workers, at the
quota of the language model, and at their user's partition of Postgres: for a connection, a core, and the log.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.scale_parts import Disk, PostgresCost, RedisCost, measured_disk, measured_postgres, measured_redis

WORKER_MS = 10.5
"""CPU of a turn in a worker (docs/reference/measured.md: turns that come one by one, no language model, load 10)."""
MODEL_SECONDS = 0.3
MODEL_CALLS = 0.2
"""Calls of a language model a turn (docs/reference/measured.md)."""
FULL = 0.7
"""The share of its time past which a part is said to hold up."""

Part = Literal["redis", "workers", "postgres", "model"]


@dataclass(frozen=True)
class Machines:
    """What one of each part has."""

    cores: int = 4
    """Of a partition of Postgres; a shard of Redis works on one, whatever it has, and so does a worker."""
    connections: int = 300
    """`max_connections` of a partition of Postgres."""
    redis_gigabytes: float = 8.0
    calls_a_second: float = 200.0
    """What the provider of the language model takes."""


@dataclass(frozen=True)
class Costs:
    """What a turn takes of each part, and how fast their disks are."""

    redis: RedisCost
    postgres: PostgresCost
    disk: Disk
    worker_ms: float = WORKER_MS


@dataclass(frozen=True)
class Limit:
    """Something that a part has so much of a second, and of which a turn takes so much."""

    part: Part
    name: str
    has: float
    takes: float

    def load(self, turns_a_second: float, count: int) -> float:
        """Return the share of it that is taken where so many of the part share the turns."""
        return turns_a_second * self.takes / self.has / count

    @property
    def turns_a_second(self) -> float:
        """Return how many turns fill one of the part as far as it may be."""
        return FULL * self.has / self.takes


def limits(costs: Costs, machines: Machines) -> list[Limit]:
    """Return what may break, by what breaks first with one of each part."""
    found = [
        Limit("redis", "Redis' core", 1000, costs.redis.cpu_ms),
        Limit("redis", "Redis' log", costs.disk.bytes_a_second, costs.redis.log_bytes),
        Limit("workers", "a worker's core", 1000, costs.worker_ms),
        Limit("postgres", "Postgres' cores", 1000 * machines.cores, costs.postgres.cpu_ms),
        Limit("postgres", "Postgres' log", costs.disk.bytes_a_second, costs.postgres.log_bytes),
        Limit("postgres", "Postgres' connections", 1000 * machines.connections, costs.postgres.held_ms),
        Limit("model", "the model's quota", machines.calls_a_second, MODEL_CALLS),
    ]
    return sorted(found, key=lambda limit: limit.turns_a_second)


@dataclass(frozen=True)
class Fleet:
    """How many of each part there are."""

    redis: int = 1
    workers: int = 1
    postgres: int = 1
    model: int = 1

    def of(self, part: Part) -> int:
        return int(getattr(self, part))

    def more(self, part: Part, most: int) -> Fleet:
        """Return a fleet with twice as many of a part, but no more than `most` of workers."""
        doubled = self.of(part) * 2
        return replace(self, **{part: min(most, doubled) if part == "workers" else doubled})

    def loads(self, turns_a_second: float, found: Sequence[Limit]) -> dict[str, float]:
        """Return the share of each limit that is taken."""
        return {limit.name: limit.load(turns_a_second, self.of(limit.part)) for limit in found}


def simulate(
    fleet: Fleet, costs: Costs, machines: Machines, turns_a_second: float, seconds: float, seed: int = 0
) -> list[float]:
    """Return for how long each turn was under way, in seconds, from its arrival to its commit."""
    chance = random.Random(seed)
    moment, arrivals = 0.0, []
    while (moment := moment + chance.expovariate(turns_a_second)) < seconds:
        arrivals.append(moment)
    everybody = range(len(arrivals))
    shard = [chance.randrange(fleet.redis) for _ in everybody]
    partition = [chance.randrange(fleet.postgres) for _ in everybody]

    def passed(at: list[float], lanes: Sequence[int], servers: int, mean: float) -> list[float]:
        return _pass(at, lanes, servers, [chance.expovariate(1 / mean) for _ in everybody])

    at = passed(arrivals, shard, 1, costs.redis.cpu_ms / 1000)
    at = passed(at, [0] * len(at), fleet.workers, costs.worker_ms / 1000)
    at = _asked(at, fleet.model * machines.calls_a_second, chance)
    # A connection is held from before the processor's work to the end of the write.
    held = [costs.postgres.held_ms / 1000 for _ in everybody]
    waited = [
        end - held[index] - at[index] for index, end in enumerate(_pass(at, partition, machines.connections, held))
    ]
    at = [moment + late for moment, late in zip(at, waited, strict=True)]
    at = passed(at, partition, machines.cores, costs.postgres.cpu_ms / 1000)
    at = _pass(at, partition, 1, [costs.postgres.log_bytes / costs.disk.bytes_a_second for _ in everybody])
    at = _synced(at, partition, costs.disk.sync_ms / 1000)
    return [end - begun for begun, end in zip(arrivals, at, strict=True)]


def _pass(arrivals: Sequence[float], lanes: Sequence[int], servers: int, takes: Sequence[float]) -> list[float]:
    """Return when each leaves a station at which each lane has so many servers, first come first served."""
    free: dict[int, list[float]] = {}
    departures = [0.0] * len(arrivals)
    for index in sorted(range(len(arrivals)), key=arrivals.__getitem__):
        lane = free.setdefault(lanes[index], [0.0] * servers)
        departures[index] = max(arrivals[index], heapq.heappop(lane)) + takes[index]
        heapq.heappush(lane, departures[index])
    return departures


def _asked(arrivals: Sequence[float], calls_a_second: float, chance: random.Random) -> list[float]:
    """Return when each has its answer, if it asks the model at all. Slots are plenty beside the cores: the answer is
    waited for and not stood in line for, the right to ask is."""
    asking = [index for index in range(len(arrivals)) if chance.random() < MODEL_CALLS]
    may = _pass([arrivals[index] for index in asking], [0] * len(asking), 1, [1 / calls_a_second] * len(asking))
    departures = list(arrivals)
    for index, moment in zip(asking, may, strict=True):
        departures[index] = moment + chance.lognormvariate(0, 0.4) * MODEL_SECONDS
    return departures


def _synced(arrivals: Sequence[float], lanes: Sequence[int], takes: float) -> list[float]:
    """Return when each is there for good: all of a lane that wait when the disk begins to write are written with one
    sync."""
    departures = [0.0] * len(arrivals)
    began: dict[int, float] = {}
    for index in sorted(range(len(arrivals)), key=arrivals.__getitem__):
        last = began.get(lanes[index], -takes)
        if arrivals[index] > last:
            began[lanes[index]] = last = max(arrivals[index], last + takes)
        departures[index] = last + takes
    return departures


def p95(values: Sequence[float]) -> float:
    """Return the value that 95 of 100 do not pass."""
    return sorted(values)[int(len(values) * 0.95)]


def run(
    turns_a_second: Annotated[float, typer.Option(help="How many turns arrive a second.")] = 1000.0,
    turns: Annotated[int, typer.Option(help="How many turns to measure each server with.")] = 3000,
    seconds: Annotated[float, typer.Option(help="For how long to simulate.")] = 60.0,
    cores: Annotated[int, typer.Option(help="Cores of a server of Postgres.")] = Machines.cores,
    connections: Annotated[int, typer.Option(help="Connections that it lets in.")] = Machines.connections,
    redis_gigabytes: Annotated[float, typer.Option(help="Memory of a Redis.")] = Machines.redis_gigabytes,
    calls_a_second: Annotated[
        float, typer.Option(help="Calls of the language model that its provider takes.")
    ] = Machines.calls_a_second,
    folder: Annotated[Path | None, typer.Option(help="The disk to be measured [default: the temporary one].")] = None,
) -> None:
    """Measure, say what breaks at how many turns, then simulate fleets of growing parts, and which holds each up."""
    machines = Machines(cores, connections, redis_gigabytes, calls_a_second)
    costs = Costs(measured_redis(turns), measured_postgres(turns, folder), measured_disk(folder))
    console = Console(width=140)
    console.print(
        f"a turn: Redis {costs.redis.cpu_ms:.2f} ms, {costs.redis.log_bytes / 1e3:.1f} KB of log, "
        f"{costs.redis.waiting_bytes / 1e3:.1f} KB while it waits; worker {costs.worker_ms:.1f} ms; Postgres "
        f"{costs.postgres.cpu_ms:.2f} ms, {costs.postgres.log_bytes / 1e3:.1f} KB of log, "
        f"{costs.postgres.held_ms:.1f} ms of a connection; the disk: {costs.disk.sync_ms:.2f} ms a sync, "
        f"{costs.disk.bytes_a_second / 1e6:.0f} MB/s",
        soft_wrap=True,
    )
    found = limits(costs, machines)
    console.print(_of_limits(found))
    console.print(_of_outages(costs, machines, turns_a_second))
    console.print(_of_fleets(costs, machines, found, turns_a_second, seconds))


def _of_limits(found: Sequence[Limit]) -> Table:
    table = Table("limit", "one has a second", "a turn takes", "turns/s", title=f"One of each part, {FULL:.0%} full")
    for limit in found:
        table.add_row(limit.name, f"{limit.has:,.0f}", f"{limit.takes:,.2f}", f"{limit.turns_a_second:,.0f}")
    return table


def _of_outages(costs: Costs, machines: Machines, turns_a_second: float) -> Table:
    """Return when Redis is full while workers, the model or Postgres are away: turns wait there."""
    table = Table("shards of Redis", "full after", title=f"{turns_a_second:,.0f} turns/s, and none is processed")
    for shards in (1, 4, 16):
        seconds = FULL * machines.redis_gigabytes * 1e9 * shards / costs.redis.waiting_bytes / turns_a_second
        table.add_row(str(shards), f"{seconds / 60:,.0f} min")
    return table


def _of_fleets(
    costs: Costs, machines: Machines, found: Sequence[Limit], turns_a_second: float, seconds: float
) -> Table:
    part_of: Mapping[str, Part] = {limit.name: limit.part for limit in found}
    needed = max(1, round(turns_a_second * costs.worker_ms / 1000 / FULL + 0.5))
    fleet = Fleet(workers=max(1, needed // 4))
    table = Table(title=f"{turns_a_second:,.0f} turns/s, a model of {MODEL_SECONDS} s for one turn in five")
    for name in ("Redis", "workers", "Postgres", "quotas", "fullest", "next", "p95", "held up by"):
        table.add_column(name, justify="right", no_wrap=True)
    while True:
        loads = fleet.loads(turns_a_second, found)
        worst, second = sorted(loads, key=loads.__getitem__, reverse=True)[:2]
        last = p95(simulate(fleet, costs, machines, turns_a_second, seconds))
        table.add_row(
            *(str(count) for count in (fleet.redis, fleet.workers, fleet.postgres, fleet.model)),
            f"{worst} {loads[worst]:.0%}",
            f"{second} {loads[second]:.0%}",
            f"{last:.2f} s",
            worst if loads[worst] > FULL else "the model",
        )
        # A rounding error is no load.
        if loads[worst] <= FULL + 1e-9:
            return table
        fleet = fleet.more(part_of[worst], needed)


if __name__ == "__main__":
    typer.run(run)
