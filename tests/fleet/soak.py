"""Turns and random faults for as long as told, then the same count as in every test: `make soak MINUTES=10 SEED=7`.

The seed chooses turns and faults and their order. When exactly each happens is the machine's to say, so that a run
with the same seed is alike, not the same.
"""

from __future__ import annotations

import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Annotated

import typer
from rich.console import Console

from schema import Turn
from stores.failpoints import FAILPOINTS
from stores.queue import INGEST_QUEUE, send_turn
from tests.fleet.bad_broker import BadBroker
from tests.fleet.clock import clock_off_by
from tests.fleet.fleet import ORACLE, Fleet, locked, stop
from tests.fleet.load import Said, fact, names
from tests.fleet.oracle import Faults
from tests.fleet.state import Tally, lasting_keys, left_in_mailboxes, tally

_WORKERS = 3
_USERS = 300
_PAUSE_SECONDS = 4.0
"""How long nothing goes wrong between two faults."""
_LONGEST_SECONDS = 300.0


@dataclass
class Soak:
    """A fleet, what is under it, and chance."""

    fleet: Fleet
    network: BadBroker
    chance: random.Random
    frozen: set[int] = field(default_factory=set)

    def keep_workers(self, **variables: str) -> None:
        """Start workers for those that are gone; every third goes through the bad network."""
        fleet = self.fleet
        fleet.workers = [worker for worker in fleet.workers if worker.poll() is None]
        while len(fleet.workers) < _WORKERS:
            url = self.network.url if self.chance.randrange(3) == 0 else self.network.direct_url
            fleet.launch_worker(AFTERTURN_BROKER_URL=url, **variables)

    def end_a_worker(self, by: signal.Signals) -> None:
        stop(self.fleet.workers.pop(self.chance.randrange(len(self.fleet.workers))), by)

    def freeze_a_worker(self) -> None:
        worker = self.chance.choice(self.fleet.workers)
        self.frozen.add(worker.pid)
        worker.send_signal(signal.SIGSTOP)
        time.sleep(6)
        worker.send_signal(signal.SIGCONT)

    def crash(self) -> None:
        self.end_a_worker(signal.SIGKILL)
        mark = self.fleet.folder / f"crash{self.chance.getrandbits(32)}"
        point = self.chance.choice(FAILPOINTS)
        self.keep_workers(CRASH_AT=point, CRASH_MARK=str(mark), CRASH_PASSAGE=str(self.chance.randrange(1, 40)))

    def put_a_clock_off(self) -> None:
        self.end_a_worker(signal.SIGTERM)
        self.keep_workers(**clock_off_by(self.chance.choice((-3600, 3600)), self.fleet.folder))

    def kill_a_beat(self) -> None:
        stop(self.fleet.beats.pop(0), signal.SIGKILL)
        self.fleet.start("beat")

    def lose_the_queue(self) -> None:
        self.fleet.redis.delete(INGEST_QUEUE)

    def send_again(self) -> None:
        # Not what may lie in the spool still: a message that overtakes its own turn puts it before its time.
        known = [said for said in self.fleet.said[-2000:-200] if self.is_known(said)]
        for said in self.chance.sample(known, min(200, len(known))):
            send_turn(self.fleet.celery, Turn.model_validate(said.turn()))

    def is_known(self, said: Said) -> bool:
        return bool(self.fleet.stores.catalog.processed(said.subject, [said.turn_id]))

    def during(self, fault: AbstractContextManager[None], seconds: float) -> None:
        with fault:
            time.sleep(seconds)

    def trouble_the_model(self, faults: Faults) -> None:
        self.fleet.oracle.ask_for(faults)
        time.sleep(5)
        self.fleet.oracle.ask_for(Faults())

    def faults(self) -> dict[str, Callable[[], None]]:
        """Everything that may go wrong, by name."""
        network, data = self.network, self.fleet.settings.data_dir
        return {
            "a worker is killed": lambda: self.end_a_worker(signal.SIGKILL),
            "a worker is asked to stop": lambda: self.end_a_worker(signal.SIGTERM),
            "a worker is frozen for 6 s": self.freeze_a_worker,
            "a worker crashes at a point": self.crash,
            "a worker's clock is an hour off": self.put_a_clock_off,
            "a beat is killed": self.kill_a_beat,
            "the broker is killed": lambda: self.during(network.killed(), 0.5),
            "the broker hangs for 6 s": lambda: self.during(network.hanging(), 6),
            "the broker is full for 3 s": lambda: self.during(network.full(), 3),
            "the network is slow for 5 s": lambda: self.during(network.slow(), 5),
            "the network is half open for 5 s": lambda: self.during(network.half_open(), 5),
            "the network resets connections for 3 s": lambda: self.during(network.resetting(), 3),
            "the network is a black hole for 5 s": lambda: self.during(network.black_hole(), 5),
            "the queue is lost": self.lose_the_queue,
            "200 messages come again": self.send_again,
            "the catalog is locked for 6 s": lambda: self.during(locked([data / "catalog.sqlite3"]), 6),
            "the index is locked for 6 s": lambda: self.during(locked(sorted(data.glob("index/*.sqlite3"))), 6),
            "the model is down": lambda: self.trouble_the_model(Faults(throttled=1)),
            "the model throttles": lambda: self.trouble_the_model(Faults(throttled=0.2)),
            "the model talks nonsense": lambda: self.trouble_the_model(Faults(garbage=0.1)),
            "the model hangs": lambda: self.trouble_the_model(Faults(hangs=True)),
            "the model is slow": lambda: self.trouble_the_model(Faults(fastest=3.5, slowest=4.5)),
        }


def _turns(chance: random.Random) -> Iterator[Said]:
    users = names(_USERS)
    numbers = Counter[str]()
    while True:
        user = users[0] if chance.random() < 0.2 else chance.choice(users)
        yield fact(user, numbers[user])
        numbers[user] += 1


def _feed(soak: Soak, chance: random.Random, a_second: float, over: Event) -> None:
    begin = time.monotonic()
    for place, said in enumerate(_turns(chance)):
        if over.wait(max(0.0, begin + place / a_second - time.monotonic())):
            return
        soak.fleet.enqueue([said])


def _go_wrong(soak: Soak, seconds: float, console: Console) -> Counter[str]:
    begin, done = time.monotonic(), Counter[str]()
    faults = soak.faults()
    order: list[str] = []
    while time.monotonic() - begin < seconds:
        # Every one of them, in an order of chance, before any comes again.
        order = order or soak.chance.sample(list(faults), len(faults))
        name = order.pop()
        fleet = soak.fleet
        said = f"{time.monotonic() - begin:6.0f} s  {len(fleet.said):6} said  {fleet.processed():6} processed"
        console.print(f"{said}  {name}", soft_wrap=True)
        faults[name]()
        done[name] += 1
        time.sleep(soak.chance.uniform(0, _PAUSE_SECONDS))
        fleet.revive_beats()
        soak.keep_workers()
    return done


def run(
    minutes: Annotated[float, typer.Option(help="How long things go wrong.")] = 10,
    seed: Annotated[int | None, typer.Option(help="What chance begins with; a new one if left out.")] = None,
    a_second: Annotated[float, typer.Option(help="Turns enqueued a second.")] = 40,
) -> None:
    """Enqueue turns, let everything go wrong that may, then count what was lost, doubled, misordered or crossed."""
    console = Console()
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    console.print(f"seed {seed}, {minutes:g} minutes, {a_second:g} turns a second of {_USERS} users")
    over = Event()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ThreadPoolExecutor(1) as pool:
        network = BadBroker(Path(folder) / "broker")
        fleet = Fleet(network.direct_url, Path(folder), llm_timeout_seconds=2, **ORACLE)
        soak = Soak(fleet, network, random.Random(seed))
        for _ in range(2):
            fleet.start("beat")
        fleet.start_workers(_WORKERS)
        fed = pool.submit(_feed, soak, random.Random(seed + 1), a_second, over)
        try:
            done = _go_wrong(soak, minutes * 60, console)
        finally:
            over.set()
        fed.result()
        begin = time.monotonic()
        fleet.wait_until_idle(_LONGEST_SECONDS)
        console.print(f"all is processed {time.monotonic() - begin:.0f} s after the last fault")
        found = tally(fleet, frozen=soak.frozen)
        left = [*left_in_mailboxes(fleet), *lasting_keys(fleet)]
        calls = len(fleet.oracle.calls())
        fleet.close()
        network.close()
    console.print(found, soft_wrap=True)
    console.print(f"{sum(done.values())} faults of {len(done)} kinds; {calls / found.turns:.2f} model calls a turn")
    if found != Tally(found.turns) or left:
        console.print(f"not as it must be; left in Redis: {left}; to see it again: --seed {seed}", style="red")
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(run)
