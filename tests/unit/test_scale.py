"""The simulation of scale: what is full holds up, what is shared out does not, and syncs are shared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.scale import FULL, Costs, Fleet, Limit, Machines, limits, p95, simulate
from benchmarks.scale_parts import Disk, PostgresCost, RedisCost

COSTS = Costs(
    redis=RedisCost(cpu_ms=0.2, log_bytes=4_000, waiting_bytes=5_000),
    postgres=PostgresCost(cpu_ms=0.5, log_bytes=10_000, held_ms=5),
    disk=Disk(sync_ms=2, bytes_a_second=200e6),
)
MACHINES = Machines()
ENOUGH = Fleet(redis=4, workers=40, postgres=4, model=4)
SECONDS = 10.0


def slowest(fleet: Fleet, costs: Costs, machines: Machines, turns_a_second: float = 1000) -> float:
    return p95(simulate(fleet, costs, machines, turns_a_second, SECONDS))


def test_limits_come_by_what_breaks_first_and_say_at_how_many_turns() -> None:
    found = limits(COSTS, MACHINES)
    assert [limit.turns_a_second for limit in found] == sorted(limit.turns_a_second for limit in found)
    assert found[0] == Limit("workers", "a worker's core", 1000, COSTS.worker_ms)
    [core] = [limit for limit in found if limit.name == "Redis' core"]
    assert core.turns_a_second == pytest.approx(FULL * 5_000)
    assert core.load(core.turns_a_second, 1) == pytest.approx(FULL)


@pytest.mark.parametrize(
    ("part", "costs", "machines"),
    [
        ("redis", replace(COSTS, redis=replace(COSTS.redis, cpu_ms=2)), MACHINES),
        ("workers", replace(COSTS, worker_ms=60), MACHINES),
        ("model", COSTS, replace(MACHINES, calls_a_second=100)),
        ("postgres", replace(COSTS, postgres=replace(COSTS.postgres, cpu_ms=6)), MACHINES),
        ("postgres", replace(COSTS, postgres=replace(COSTS.postgres, log_bytes=300_000)), MACHINES),
        ("postgres", COSTS, replace(MACHINES, connections=3)),
    ],
    ids=["Redis' core", "workers", "the model's quota", "Postgres' cores", "Postgres' log", "Postgres' connections"],
)
def test_a_part_that_is_overfull_is_what_the_limits_name_and_more_of_it_is_what_helps(
    part: str, costs: Costs, machines: Machines
) -> None:
    few = ENOUGH if part == "workers" else replace(ENOUGH, **{part: 1})
    found = limits(costs, machines)
    loads = few.loads(1000, found)
    worst = max(loads, key=loads.__getitem__)
    assert loads[worst] > 1
    assert {limit.name: limit.part for limit in found}[worst] == part
    assert slowest(few, costs, machines) > 2
    more = replace(few, **{part: 160 if part == "workers" else 16})
    assert slowest(more, costs, machines) < 1


def test_turns_that_commit_at_the_same_moment_share_a_sync() -> None:
    slow = replace(COSTS, disk=replace(COSTS.disk, sync_ms=50))
    # One by one, twenty a second would be all; and 1,000 are no slower than 10.
    assert slowest(ENOUGH, slow, MACHINES) < slowest(ENOUGH, COSTS, MACHINES) + 0.15
