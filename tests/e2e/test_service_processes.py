"""Several processes behind one port: whichever answers, it is one service, and one that dies takes nothing with it."""

from __future__ import annotations

import math
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from interfaces.http.processes import shared_port
from memory.keys import issue
from producers import Accepted, Producer
from producers.spool import Spool
from schema import Capability
from schema.settings import Settings
from stores.catalog import open_catalog
from tests.conftest import free_port
from tests.e2e.command import COMMAND, Home, children, is_alive, wait_until
from tests.e2e.killed import parked
from tests.e2e.service import served, settings_in
from tests.fleet.bad_broker import BadBroker

READS, PROCESSES = 60, 2
SENDERS, TURNS = 6, 80
CONNECTIONS = 40


@dataclass(frozen=True)
class Together:
    """`afterturn serve` with several processes."""

    url: str
    metrics: str
    supervisor: int
    key: str
    log: Path

    def processes(self) -> list[int]:
        return [pid for pid, line in children(self.supervisor).items() if "spawn_main" in line]

    @contextmanager
    def at(self, pid: int) -> Iterator[httpx.Client]:
        """A client whose one connection is with this process."""
        others = [other for other in self.processes() if other != pid]
        for other in others:
            os.kill(other, signal.SIGSTOP)
        try:
            client = self.client()
            while not _answers(client):
                client.close()
                client = self.client()
        finally:
            for other in others:
                os.kill(other, signal.SIGCONT)
        with closing(client):
            yield client

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"X-API-Key": self.key}, timeout=30.0)

    def is_up(self) -> bool:
        """Whether all processes have come to serve, those too that took the place of others."""
        pids, said = self.processes(), self.log.read_text()
        have_begun = all(f"Started server process [{pid}]" in said for pid in pids)
        are_ready = said.count("Started server process") == said.count("Application startup complete")
        return len(pids) == PROCESSES and have_begun and are_ready


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/livez", timeout=2.0).is_success
    except httpx.HTTPError:
        return False


def _sockets(pid: int) -> int:
    links = (link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink())
    return sum(link.name.startswith("socket:") for link in links)


@contextmanager
def together(settings: Settings) -> Iterator[Together]:
    """Serve until the block ends; the supervisor is killed then, and its processes are to follow it."""
    home = Home(settings.data_dir.parent, 0)
    with closing(open_catalog(settings)) as catalog:
        key = issue("test", "acme", tuple(Capability), catalog, by="test", now=datetime.now(UTC)).secret
    port, metrics = free_port(), free_port()
    environment = home.environment(
        AFTERTURN_DATA_DIR=str(settings.data_dir),
        AFTERTURN_BROKER_URL=settings.broker_url,
        AFTERTURN_HTTP_PORT=str(port),
        AFTERTURN_HTTP_PROCESSES=str(PROCESSES),
        AFTERTURN_HTTP_METRICS_PORT=str(metrics),
        AFTERTURN_HTTP_READS_PER_MINUTE=str(READS),
        AFTERTURN_HTTP_WRITES_PER_MINUTE="0",
    )
    log = home.folder / "serve.log"
    with log.open("ab") as said:
        process = subprocess.Popen([*COMMAND, "serve"], env=environment, stdout=said, stderr=said)
    running = Together(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{metrics}", process.pid, key, log)
    try:
        wait_until(running.is_up, "both processes answer", seconds=120)
        yield running
    finally:
        pids = running.processes()
        process.kill()
        process.wait()
        wait_until(lambda: not any(map(is_alive, pids)), "the processes end with their supervisor")


@pytest.fixture(scope="module")
def service(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Together]:
    with together(settings_in(tmp_path_factory.mktemp("together") / "data", broker_url)) as running:
        yield running


@pytest.fixture
def pair(service: Together) -> tuple[int, int]:
    first, second = service.processes()
    return first, second


def wait_until_handed_over(settings: Settings) -> None:
    with closing(Spool(settings.effective_spool_dir, max_turns=10**6, max_bytes=10**9)) as spool:
        wait_until(spool.is_empty, "the spool is handed over")


def left(answer: httpx.Response) -> int:
    found = re.search(r"r=(\d+)", answer.headers["RateLimit"])
    assert found is not None
    return int(found[1])


@pytest.mark.long
def test_a_limit_is_one_over_all_processes(service: Together, pair: tuple[int, int]) -> None:
    list_of = {"user_id": "limited"}
    began = time.monotonic()
    with service.at(pair[0]) as client:
        before = [left(client.get("/api/v1/memories/", params=list_of)) for _ in range(20)][-1]
    with service.at(pair[1]) as client:
        after = left(client.get("/api/v1/memories/", params=list_of))
    # A token comes back each second.
    assert after <= before + math.ceil(time.monotonic() - began)


@pytest.mark.long
def test_what_one_wrote_or_erased_the_other_knows_at_once(service: Together, pair: tuple[int, int], user: str) -> None:
    ask = {"user_id": user, "query": "Which instrument does Anna play?"}

    def found(client: httpx.Client) -> list[str]:
        return [memory["content"] for memory in client.get("/api/v1/memories/search", params=ask).json()]

    for writing, reading in (pair, pair[::-1]):
        with service.at(reading) as client:
            assert found(client) == []
        with service.at(writing) as client:
            said = {"content": "Anna plays the violin.", "user_id": user}
            created = client.post("/api/v1/memories/", json=said, headers={"Idempotency-Key": f"say{writing}"}).json()
        with service.at(reading) as client:
            assert found(client) == ["Anna plays the violin."]
            again = client.post("/api/v1/memories/", json=said, headers={"Idempotency-Key": f"say{writing}"})
            assert again.json() == created
            erased = client.delete(f"/api/v1/memories/{created['memory_id']}", params={"user_id": user})
            assert erased.status_code == 204
        with service.at(writing) as client:
            assert found(client) == []


@pytest.mark.long
def test_a_link_opens_pages_once_and_its_session_at_every_process(
    service: Together, pair: tuple[int, int], user: str
) -> None:
    with service.at(pair[0]) as client:
        link = client.post(f"/api/v1/subjects/{user}/page-link").json()["url"]
    with service.at(pair[1]) as client:
        came_in = client.get(link)
        session = dict(client.cookies)
        assert came_in.status_code == 303
    with service.at(pair[0]) as client:
        assert client.get(link).status_code != 303
        client.cookies.update(session)
        assert client.get("/me").status_code == 200


@pytest.mark.long
def test_a_listener_at_one_hears_what_comes_through_the_other_and_the_metrics_are_of_both(
    service: Together, pair: tuple[int, int], user: str
) -> None:
    def shown(name: str) -> float:
        page = httpx.get(f"{service.metrics}/metrics", timeout=30.0).text
        return sum(float(line.split()[-1]) for line in page.splitlines() if line.startswith(name))

    def heard(listening: httpx.Client, stack: ExitStack) -> Iterator[str]:
        stream = stack.enter_context(listening.stream("GET", "/api/v1/events", params={"user_id": user}))
        return stream.iter_lines()

    with ExitStack() as stack, service.at(pair[0]) as listening, service.at(pair[1]) as client:
        lines = heard(listening, stack)
        assert next(lines) == ": listening"
        assert shown("afterturn_sse_listeners") == 1
        client.post("/api/v1/memories/", json={"content": "Anna rows.", "user_id": user})
        assert any("Anna rows." in line for line in lines)
    wait_until(lambda: shown("afterturn_sse_listeners") == 0, "nobody listens")
    with ExitStack() as stack, service.at(pair[0]) as listening:
        assert next(heard(listening, stack)) == ": listening"
        answered = shown("afterturn_http_request_duration_seconds_count")
        os.kill(pair[0], signal.SIGKILL)
        wait_until(
            lambda: pair[0] not in service.processes() and service.is_up(), "another took its place", seconds=120
        )
        # What it had counted stays, and its listeners are gone with it.
        assert shown("afterturn_sse_listeners") == 0
        assert shown("afterturn_http_request_duration_seconds_count") >= answered


@pytest.mark.long
def test_connections_are_spread_over_all_processes(service: Together, pair: tuple[int, int]) -> None:
    before = [_sockets(pid) for pid in pair]
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            assert _answers(stack.enter_context(service.client()))
        taken = [_sockets(pid) - earlier for pid, earlier in zip(pair, before, strict=True)]
    # Where each is as likely at one as at the other, a tenth at one of them comes once in a million runs.
    assert min(taken) > CONNECTIONS // 10, taken


def test_what_a_killed_service_left_in_its_spool_is_handed_over_when_it_starts_again(tmp_path: Path) -> None:
    with closing(BadBroker(tmp_path / "broker")) as broker:
        settings = settings_in(tmp_path / "data", broker.url)
        said = [{"role": "user", "content": "I row."}]
        with broker.gone(), closing(Producer(settings)) as producer:
            assert producer.enqueue(tenant_id="acme", user_id="anna", turn_id="t0", messages=said) is Accepted.SPOOLED
        with served(settings):
            wait_until_handed_over(settings)
        assert list(parked(broker.direct_url, settings.data_dir, "anna", "acme")) == ["t0"]


def test_no_answer_waits_for_the_acknowledgement_of_its_first_part() -> None:
    with closing(shared_port("127.0.0.1", 0)) as port:
        port.listen()
        with socket.create_connection(port.getsockname()), closing(port.accept()[0]) as connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.long
def test_what_was_answered_with_202_is_there_though_processes_are_killed_and_the_broker_goes_away(
    tmp_path: Path,
) -> None:
    said: dict[str, list[str]] = {f"sender{number}": [] for number in range(SENDERS)}
    with closing(BadBroker(tmp_path / "broker")) as broker:
        settings = settings_in(tmp_path / "data", broker.url)

        def send(user: str) -> None:
            for number in range(TURNS):
                turn = {"user_id": user, "turn_id": f"t{number}", "messages": [{"role": "user", "content": "I row."}]}
                while True:
                    try:
                        with running.client() as client:
                            answer = client.post("/api/v1/turns", json=turn)
                    except httpx.HTTPError:
                        continue
                    if answer.status_code == 202:
                        break
                said[user].append(f"t{number}")

        def sent(share: float) -> None:
            wanted = share * SENDERS * TURNS
            wait_until(lambda: sum(map(len, said.values())) >= wanted, f"{wanted:.0f} were sent", seconds=60)

        def kill_one() -> None:
            pids = running.processes()
            os.kill(pids[0], signal.SIGKILL)
            wait_until(
                lambda: pids[0] not in running.processes() and len(running.processes()) == PROCESSES, "a new one"
            )

        with together(settings) as running:
            threads = [threading.Thread(target=send, args=[user]) for user in said]
            for thread in threads:
                thread.start()
            sent(0.2)
            kill_one()
            sent(0.4)
            with broker.gone():
                sent(0.6)
                kill_one()
                sent(0.8)
                kill_one()
            for thread in threads:
                thread.join(60)
                assert not thread.is_alive()
            wait_until_handed_over(settings)
        there = {user: list(parked(broker.direct_url, settings.data_dir, user, "acme")) for user in said}
    assert there == said
