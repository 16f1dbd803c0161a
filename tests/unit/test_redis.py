"""What a Redis that is there may refuse: told from our own mistakes by what it answers."""

from __future__ import annotations

import inspect
import ssl

import pytest
from redis._parsers.base import BaseParser

from recall.events import listen
from schema.errors import BrokerOutage, OperatorError, Outage, Transient
from schema.settings import Settings
from stores.queue import create_celery, create_publisher
from stores.redis import LONGEST_BLOCK_SECONDS, open_async_redis, open_redis, translated


def as_raised(answer: str) -> Exception:
    """The project's error for an answer of the server."""
    return translated(BaseParser.parse_error(answer), "redis://127.0.0.1:6390/0")  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    "answer",
    [
        "OOM command not allowed when used memory > 'maxmemory'.",
        "READONLY You can't write against a read only replica.",
        "MISCONF Errors writing to the AOF file: No space left on device",
        "NOREPLICAS Not enough good replicas to write.",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
        "LOADING Redis is loading the dataset in memory",
    ],
)
def test_a_server_that_cannot_serve_for_now_is_an_outage_and_no_fault_of_a_turn(answer: str) -> None:
    assert isinstance(as_raised(answer), Outage)


@pytest.mark.parametrize(
    "answer", ["WRONGTYPE Operation against a key holding the wrong kind of value", "ERR unknown command 'BUSY'"]
)
def test_a_command_that_is_wrong_stays_wrong(answer: str) -> None:
    assert not isinstance(as_raised(answer), Transient)


@pytest.mark.parametrize("answer", ["WRONGPASS invalid username-password pair", "NOPERM User has no rights to run"])
def test_a_user_who_may_not_is_mended_by_a_person_and_costs_no_turn(answer: str) -> None:
    refused = as_raised(answer)
    assert isinstance(refused, OperatorError)
    assert isinstance(refused, Outage)


def test_a_broker_that_is_away_is_named_without_its_password() -> None:
    settings = Settings(broker_url="redis://:hunter2@127.0.0.1:1/0")
    with open_redis(settings, timeout=0.1, retries=0) as redis, pytest.raises(BrokerOutage) as away:
        redis.ping()
    with open_redis(settings, timeout=0.1, retries=0) as redis, pytest.raises(BrokerOutage):
        redis.pipeline().set("key", 1).execute()
    assert "127.0.0.1:1/0" in str(away.value)
    assert "hunter2" not in str(away.value)


@pytest.mark.parametrize(
    ("query", "checked"),
    [
        ("", ssl.CERT_REQUIRED),
        ("?ssl_ca_certs=/etc/our-own.pem&ssl_cert_reqs=required", ssl.CERT_REQUIRED),
        ("?ssl_cert_reqs=none", ssl.CERT_NONE),
    ],
)
def test_messages_go_over_tls_only_to_who_proves_who_they_are_unless_the_url_says_otherwise(
    query: str, checked: ssl.VerifyMode
) -> None:
    settings = Settings(broker_url=f"rediss://broker.example.org:6380/0{query}")
    with (
        create_celery(settings).connection_for_write() as celerys,
        create_publisher(settings, timeout=1.0).connection as ours,
    ):
        for connection in (celerys, ours):
            assert isinstance(connection.ssl, dict)
            assert connection.ssl["ssl_cert_reqs"] is checked


def test_a_broker_without_tls_is_asked_for_none() -> None:
    settings = Settings(broker_url="redis://broker.example.org:6379/0")
    with create_celery(settings).connection_for_write() as connection:
        assert not connection.ssl
    assert not create_publisher(settings, timeout=1.0).connection.ssl


def test_who_waits_on_a_stream_is_not_given_up_before_the_stream_says_that_nothing_happened() -> None:
    waits = inspect.signature(listen).parameters["block_seconds"].default
    patience = open_async_redis(Settings()).connection_pool.connection_kwargs["socket_timeout"]
    assert waits <= LONGEST_BLOCK_SECONDS < patience
