"""What a Redis that is there may refuse: told from our own mistakes by what it answers."""

from __future__ import annotations

import ssl

import pytest
from redis._parsers.base import BaseParser

from memory.failures import is_outage, is_transient
from schema.settings import Settings
from stores.queue import create_celery
from stores.redis import refuses


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
    error = BaseParser.parse_error(answer)  # type: ignore[no-untyped-call]
    assert refuses(error)
    assert is_outage(error)
    assert is_transient(error)


@pytest.mark.parametrize(
    "answer", ["WRONGTYPE Operation against a key holding the wrong kind of value", "ERR unknown command 'BUSY'"]
)
def test_a_command_that_is_wrong_stays_wrong(answer: str) -> None:
    error = BaseParser.parse_error(answer)  # type: ignore[no-untyped-call]
    assert not refuses(error)
    assert not is_transient(error)


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
    celery = create_celery(Settings(broker_url=f"rediss://broker.example.org:6380/0{query}"))
    with celery.connection_for_write() as connection:
        assert isinstance(connection.ssl, dict)
        assert connection.ssl["ssl_cert_reqs"] is checked


def test_a_broker_without_tls_is_asked_for_none() -> None:
    with create_celery(Settings(broker_url="redis://broker.example.org:6379/0")).connection_for_write() as connection:
        assert not connection.ssl
