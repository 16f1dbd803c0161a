"""The Python client against the real service: what it asks, hears and hands over, and a service that is killed."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

from afterturn_client import (
    Accepted,
    AsyncClient,
    Client,
    Event,
    Forbidden,
    Invalid,
    NotFound,
    PreconditionFailed,
    Unauthorized,
    Unavailable,
)
from memory.events import stream_key
from schema import Capability, Subject
from schema.settings import Settings
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis
from tests.conftest import free_port
from tests.e2e.command import Home, wait_until
from tests.e2e.killed import hand_over_what_the_service_left, killable, parked
from tests.e2e.service import Served, served, settings_in
from tests.fleet.bad_broker import BadBroker

PATIENT_MS = 20_000
"""How long a turn may wait for the disk here: whether each is accepted in time is measured, not asserted."""
WHEN = datetime(2026, 11, 2, 8, tzinfo=UTC)


@pytest.fixture
def client(service: Served, tmp_path: Path) -> Iterator[Client]:
    """A backend's client, which asks for its users."""
    with Client(service.url, service.key(), spool_dir=tmp_path / "spool", budget_ms=PATIENT_MS, timeout=60) as client:
        yield client


# -- what is known ------------------------------------------------------------------------------------------------


def test_what_is_remembered_is_found_read_edited_and_forgotten(client: Client, user: str) -> None:
    remembered = client.remember("Anna plays the violin.", user_id=user, tags=["music"])
    assert remembered.outcome == "created"
    assert remembered.memory is not None
    first = remembered.memory
    [hit] = client.search("Which instrument does Anna play?", user_id=user, explain=True)
    assert (hit.memory_id, hit.content, hit.tags) == (first.memory_id, "Anna plays the violin.", ("music",))
    assert hit.why is not None
    assert client.search("How do I compile a kernel module?", user_id=user) == ()
    edited = client.edit(first.memory_id, version=first.version, user_id=user, content="Anna plays the viola.")
    assert client.get(first.memory_id, user_id=user) == edited
    with pytest.raises(PreconditionFailed, match="get it again"):
        client.edit(first.memory_id, version=first.version, user_id=user, content="Anna plays the cello.")
    client.forget(first.memory_id, user_id=user)
    with pytest.raises(NotFound):
        client.get(first.memory_id, user_id=user)


def test_verbs_do_what_they_say(client: Client, user: str) -> None:
    memory = client.remember("Anna plays the violin.", user_id=user).memory
    assert memory is not None
    assert client.pin(memory.memory_id, user_id=user).pinned
    assert not client.unpin(memory.memory_id, user_id=user).pinned
    assert client.suppress(memory.memory_id, user_id=user).suppressed
    assert not client.unsuppress(memory.memory_id, user_id=user).suppressed
    assert client.archive(memory.memory_id, user_id=user).status == "archived"
    assert client.restore(memory.memory_id, user_id=user).status == "active"


def test_all_that_is_known_comes_once_over_pages(client: Client, user: str) -> None:
    said = ["Anna plays the violin.", "Anna is vegan.", "Anna lives in Porto.", "Anna has two cats.", "Anna skis."]
    for statement in said:
        client.remember(statement, user_id=user)
    assert [memory.content for memory in client.memories(user_id=user, page_size=2)] == said[::-1]


def test_a_context_block_says_what_is_known_of_a_user_whatever_their_name(client: Client, user: str) -> None:
    odd = f"{user} ?#%å.."
    client.remember("Anna is vegan.", user_id=odd)
    block = client.context(odd, "What can Anna eat?", tokens=200)
    assert "vegan" in block.text
    assert len(block.used) == 1
    assert client.context(user, "What can Anna eat?").used == ()


def test_what_a_user_says_at_length_is_a_question_as_any_other(client: Client, user: str) -> None:
    """A chat backend asks with all that its user typed, or pasted."""
    client.remember("Maya is vegan.", user_id=user)
    typed = "Is Maya vegan? " * 2_000
    assert "Maya is vegan." in client.context(user, typed).text
    assert [hit.content for hit in client.search(typed, user_id=user)] == ["Maya is vegan."]


def test_what_a_user_wants_is_kept_to(client: Client, user: str) -> None:
    assert client.want(user, time_zone="Europe/Lisbon").time_zone == "Europe/Lisbon"
    assert client.block_topic(user, "my divorce").blocked_topics == ("my divorce",)
    checked = client.check(user, "How is my divorce going?")
    assert (checked.may_be_said, checked.topics) == (False, ("my divorce",))
    unblocked = client.unblock_topic(user, "my divorce")
    assert unblocked == client.preferences(user)
    client.want(user, consent="granted", etag=unblocked.etag)
    with pytest.raises(PreconditionFailed, match="get it again"):
        client.want(user, consent="withdrawn", etag=unblocked.etag)
    assert client.preferences(user).consent == "granted"


def test_a_user_is_forgotten_with_a_proof(client: Client, user: str) -> None:
    client.remember("Anna is vegan.", user_id=user)
    assert client.forget_user(user).clean
    assert list(client.memories(user_id=user)) == []


def test_what_a_forgotten_user_said_that_the_service_did_not_take_is_forgotten_too(
    service: Served, client: Client, user: str, tmp_path: Path
) -> None:
    other = Client(service.url, service.key(), spool_dir=tmp_path / "other", budget_ms=PATIENT_MS)
    with other:
        for said_by, said in ((other, "I am vegan."), (client, "I eat everything.")):
            for name in (user, f"{user}-neighbour"):
                said_by.enqueue(name, [{"role": "user", "content": said}], turn_id=f"{name}-1")
            assert said_by.flush(30) == 0
    assert [turn.turn_id for turn in client.rejected()] == [f"{user}-1", f"{user}-neighbour-1"]
    assert client.forget_user(user).clean
    [left] = client.rejected()
    assert left.turn_id == f"{user}-neighbour-1"
    assert client.drop_rejected([left]) == 1
    assert client.spooled().rejected == 0


def test_the_awaited_client_does_the_same(service: Served, user: str, tmp_path: Path) -> None:
    async def ask() -> tuple[list[str], str]:
        async with AsyncClient(service.url, service.key(), spool_dir=tmp_path / "spool") as client:
            for statement in ("Anna plays the violin.", "Anna is vegan.", "Anna skis."):
                await client.remember(statement, user_id=user)
            listed = [memory.content async for memory in client.memories(user_id=user, page_size=2)]
            block, _ = await asyncio.gather(client.context(user), client.search("vegan", user_id=user))
            return listed, block.text

    listed, text = asyncio.run(ask())
    assert listed == ["Anna skis.", "Anna is vegan.", "Anna plays the violin."]
    assert "vegan" in text


# -- failures -----------------------------------------------------------------------------------------------------


def test_a_failure_says_what_the_service_says_and_what_to_do(client: Client, user: str) -> None:
    with pytest.raises(Invalid) as refused:
        client.remember("Anna is vegan.", user_id=user, memory_type="gossip")
    problem = refused.value.problem
    assert problem is not None
    assert (problem.status, [wrong["field"] for wrong in problem.errors]) == (422, ["body.memory_type"])
    assert problem.request_id is not None
    assert "What to do: mend what is named" in str(refused.value)


def test_keys_that_do_not_suffice_are_told_apart(service: Served, user: str, tmp_path: Path) -> None:
    nobody = Client(service.url, "at_wrong", spool_dir=tmp_path / "1")
    reader = Client(service.url, service.key(Capability.READ, user="bert"), spool_dir=tmp_path / "2")
    with nobody, pytest.raises(Unauthorized, match="afterturn keys create"):
        nobody.search("vegan", user_id=user)
    with reader, pytest.raises(Forbidden, match="capability"):
        reader.remember("Anna is vegan.")


def test_a_service_that_is_away_is_named_as_such(user: str, tmp_path: Path) -> None:
    client = Client(f"http://127.0.0.1:{free_port()}", spool_dir=tmp_path / "spool", attempts=2)
    with client, pytest.raises(Unavailable, match="see that the service runs"):
        client.search("vegan", user_id=user)


# -- events -------------------------------------------------------------------------------------------------------


def announce(settings: Settings, tenant: str, user: str, *event_ids: int) -> None:
    redis = open_redis(settings)
    for event_id in event_ids:
        said = json.dumps({"turn_id": f"t{event_id}", "code": "invalid", "message": "line\u2028separated"})
        redis.xadd(
            stream_key(Subject(tenant_id=tenant, subject_id=user)),
            {"event_id": event_id, "event": "memory.error", "at": WHEN.isoformat(), "payload": said},
        )
    redis.close()


def turns_of(events: list[Event]) -> list[str]:
    return [event.data["turn_id"] for event in events]


def test_a_listener_goes_on_where_another_left_off(service: Served, client: Client, user: str) -> None:
    announce(service.settings, "acme", user, 1, 2, 3)
    first = list(islice(client.events(user_id=user, after="0"), 2))
    rest = list(islice(client.events(user_id=user, after=first[-1].id), 1))
    assert turns_of(first + rest) == ["t1", "t2", "t3"]
    assert first[0].data["message"] == "line\u2028separated"


def test_a_listener_hears_each_event_once_over_a_service_that_is_started_again(
    broker_url: str, user: str, tmp_path: Path
) -> None:
    settings, port = settings_in(tmp_path / "data", broker_url), free_port()
    said: list[str] = []
    heard: list[Event] = []
    with Client(f"http://127.0.0.1:{port}", spool_dir=tmp_path / "spool") as client:
        events = client.events(user_id=user, after="0")
        for first in (1, 4):
            announce(settings, "default", user, first, first + 1, first + 1, first + 2)
            said += [f"t{number}" for number in range(first, first + 3)]
            with served(settings, anonymous=True, port=port):
                heard += islice(events, 3)
    assert turns_of(heard) == said


# -- turns --------------------------------------------------------------------------------------------------------


def test_turns_reach_the_mailbox_in_order_and_once(
    service: Served, client: Client, user: str, broker_url: str, tmp_path: Path
) -> None:
    for number in range(20):
        said = [{"role": "user", "content": f"I have {number} cats."}]
        assert client.enqueue(user, said, turn_id=f"{number}").accepted is Accepted.SPOOLED
        assert client.enqueue(user, said, turn_id=f"{number}").accepted is Accepted.KNOWN
    assert client.flush(30) == 0
    found = parked(broker_url, tmp_path, user, "acme")
    assert list(found) == [f"{number}" for number in range(20)]
    assert found["7"] == [{"role": "user", "content": "I have 7 cats."}]


def test_a_turn_that_the_service_knows_otherwise_is_put_aside_with_the_reason(
    service: Served, user: str, tmp_path: Path
) -> None:
    """As when two machines enqueue under one id."""
    rejected = []
    for machine in ("one", "other"):
        with Client(service.url, service.key(), spool_dir=tmp_path / machine, budget_ms=PATIENT_MS) as client:
            client.enqueue(user, [{"role": "user", "content": f"I am the {machine}."}], turn_id="same")
            client.enqueue(user, [{"role": "user", "content": "I am vegan."}], turn_id=f"later-{machine}")
            assert client.flush(30) == 0
            rejected = client.rejected()
    assert [turn.turn_id for turn in rejected] == ["same"]
    assert "409" in rejected[0].reason


def test_turns_that_a_service_took_while_its_broker_was_away_come_before_those_that_the_next_one_takes(
    user: str, tmp_path: Path
) -> None:
    said: list[str] = []

    def say(client: Client) -> None:
        for _ in range(20):
            said.append(f"t{len(said)}")
            client.enqueue(user, [{"role": "user", "content": f"I have {len(said)} cats."}], turn_id=said[-1])
        assert client.flush(30) == 0

    with closing(BadBroker(tmp_path / "broker")) as broker:
        settings, port = settings_in(tmp_path / "data", broker.url), free_port()
        with Client(f"http://127.0.0.1:{port}", spool_dir=tmp_path / "spool", budget_ms=PATIENT_MS) as client:
            with broker.gone(), served(settings, anonymous=True, port=port):
                say(client)
            assert broker.redis.keys("afterturn:mailbox:*") == []
            with served(settings, anonymous=True, port=port):
                say(client)
        hand_over_what_the_service_left(settings)
        assert list(parked(broker.direct_url, tmp_path / "data", user, "default")) == said


def test_how_long_a_turn_lay_in_the_spools_of_client_and_service_goes_with_it_to_the_mailbox(
    user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour_ago = time.time() - 3_600
    with closing(BadBroker(tmp_path / "broker")) as broker:
        settings, port = settings_in(tmp_path / "data", broker.url), free_port()
        with Client(f"http://127.0.0.1:{port}", spool_dir=tmp_path / "spool", budget_ms=PATIENT_MS) as client:
            with monkeypatch.context() as an_hour_ago:
                an_hour_ago.setattr("afterturn_client.spool.time", lambda: hour_ago)
                client.enqueue(user, [{"role": "user", "content": "I have a cat."}], turn_id="spooled twice")
            with broker.gone(), served(settings, anonymous=True, port=port):
                assert client.flush(30) == 0
        hand_over_what_the_service_left(settings)
        with closing(open_redis(settings.model_copy(update={"broker_url": broker.direct_url}))) as redis:
            mailbox = open_mailbox(settings, redis, create_celery(settings))
            [turn] = mailbox.in_order(Subject(tenant_id="default", subject_id=user))
    assert 3_599 < (turn.arrived_at - turn.enqueued_at).total_seconds() < 3_700


@pytest.mark.long
def test_a_service_killed_in_the_middle_of_a_thousand_turns_gets_each_once_and_in_order(
    broker_url: str, tmp_path: Path
) -> None:
    home, port = Home.at(tmp_path), free_port()
    run = uuid.uuid4().hex[:8]
    users = [f"{run}-{number}" for number in range(10)]
    said: dict[str, list[str]] = {user: [] for user in users}

    def say(client: Client, first: int, last: int) -> None:
        for number in range(first, last):
            user = users[number % len(users)]
            turn = client.enqueue(user, [{"role": "user", "content": f"I have {number} cats."}], turn_id=f"t{number}")
            assert turn.accepted is Accepted.SPOOLED
            said[user].append(turn.turn_id)

    with Client(f"http://127.0.0.1:{port}", spool_dir=tmp_path / "spool", budget_ms=PATIENT_MS) as client:
        with killable(home, broker_url, port):
            say(client, 0, 400)
            wait_until(lambda: client.spooled().waiting <= 350, "some of the turns were sent")
        assert client.spooled().waiting > 0
        say(client, 400, 800)
        with killable(home, broker_url, port):
            say(client, 800, 1000)
            assert client.flush(60) == 0
        assert client.rejected() == []
    # Where the broker was late, which on a busy machine it is, a turn lay in the spool of the service when it died.
    hand_over_what_the_service_left(settings_in(home.data, broker_url))
    assert {user: list(parked(broker_url, home.data, user, "default")) for user in users} == said


def test_what_a_closed_client_leaves_the_next_one_sends(
    service: Served, user: str, tmp_path: Path, broker_url: str
) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    client = Client(gone, spool_dir=tmp_path / "spool", budget_ms=PATIENT_MS)
    for number in range(3):
        client.enqueue(user, [{"role": "user", "content": f"I have {number} cats."}], turn_id=f"{number}")
    assert client.close(timeout=0.1) == 3
    with Client(service.url, service.key(), spool_dir=tmp_path / "spool", budget_ms=PATIENT_MS) as later:
        later.enqueue(user, [{"role": "user", "content": "I have 3 cats."}], turn_id="3")
        assert later.flush(30) == 0
    assert list(parked(broker_url, tmp_path, user, "acme")) == ["0", "1", "2", "3"]
