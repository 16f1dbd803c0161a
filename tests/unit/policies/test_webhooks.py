"""When a webhook is tried again, what an answer means, and to which addresses one may go."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.webhooks import PAUSES, Answered, answered, left_alone, pause_after
from schema.urls import webhook_url
from stores.outgoing import is_allowed, networks_of

PRIVATE = [
    "127.0.0.1",
    "10.0.0.8",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "fe80::1",
    "fd00::1",
    "ff02::1",
    "::ffff:10.0.0.8",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "64:ff9b:1::a9fe:a9fe",
    "::7f00:1",
    "fec0::1",
    "192.0.0.192",
    "168.63.129.16",
    "::ffff:168.63.129.16",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_is_not_sent_to_in_whatever_form_it_is_written(address: str) -> None:
    assert not is_allowed(ip_address(address), ())


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34"])
def test_a_public_address_is_sent_to(address: str) -> None:
    assert is_allowed(ip_address(address), ())


def test_a_network_of_the_settings_is_sent_to_and_no_other() -> None:
    networks = networks_of(["127.0.0.0/8"])
    assert is_allowed(ip_address("127.0.0.1"), networks)
    assert is_allowed(ip_address("::ffff:127.0.0.1"), networks)
    assert not is_allowed(ip_address("10.0.0.8"), networks)


@given(st.integers(1, len(PAUSES)), st.floats(0, 1))
def test_pauses_are_the_specifications_give_or_take_a_fifth(tries: int, spread: float) -> None:
    pause = pause_after(tries, spread)
    assert pause is not None
    assert abs(pause - PAUSES[tries - 1]) <= PAUSES[tries - 1] * 0.2


def test_after_ten_tries_in_three_days_nothing_is_tried_any_more() -> None:
    assert timedelta(days=3) <= sum(PAUSES, timedelta()) <= timedelta(days=4)
    assert pause_after(len(PAUSES) + 1, 0.5) is None


def test_a_receiver_is_waited_for_as_long_as_it_asks_up_to_a_day() -> None:
    assert pause_after(1, 0.5, asked_seconds=600) == timedelta(minutes=10)
    assert pause_after(1, 0.5, asked_seconds=1e9) == timedelta(days=1)
    assert pause_after(1, 0.5, asked_seconds=-5) == PAUSES[0]


@pytest.mark.parametrize(
    ("status", "meant"),
    [
        (200, Answered.TAKEN),
        (204, Answered.TAKEN),
        (302, Answered.REFUSED),
        (410, Answered.GONE),
        (500, Answered.REFUSED),
    ],
)
def test_an_answer_means_what_the_specification_says(status: int, meant: Answered) -> None:
    assert answered(status) is meant


def test_an_endpoint_that_keeps_failing_is_left_alone_for_longer_and_longer() -> None:
    pauses = [left_alone(failures) for failures in range(1, 40)]
    assert pauses[:4] == [timedelta(0)] * 4
    assert pauses == sorted(pauses)
    assert pauses[-1] == timedelta(hours=1)


@pytest.mark.parametrize(
    "url",
    ["ftp://example.com/", "https://", "https://a:b@example.com/", "https://example.com/#x", "https://exa mple.com/"],
)
def test_a_url_to_which_nothing_can_be_sent_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must"):
        webhook_url(url)
