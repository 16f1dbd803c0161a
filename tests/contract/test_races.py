"""Two who write the same rows at once, on every catalog: only Postgres lets them, SQLite's writers take turns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from memory.webhooks import NewSecret, add_endpoint, rotate_secret
from schema import Preference, PreferenceName
from schema.errors import ConcurrentChange
from schema.item import Put
from stores.catalog import Catalog, Changes
from tests.turns import subject

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
_WRITERS = 4


def test_two_who_rotate_at_once_take_no_secret_from_each_other(catalog: Catalog) -> None:
    first = add_endpoint("acme", "https://example.org/hook", catalog, by="test", now=NOW, networks=())

    def rotate(_: int) -> list[NewSecret]:
        return [rotate_secret(first.endpoint, timedelta(hours=1), catalog, now=NOW) for _ in range(10)]

    with ThreadPoolExecutor(_WRITERS) as pool:
        made = {new.secret for some in pool.map(rotate, range(_WRITERS)) for new in some}
    assert {one.secret for one in catalog.webhooks.secrets(first.endpoint.id)} == made | {first.secret}


def test_batches_of_the_same_items_in_any_order_do_not_wait_for_each_other(catalog: Catalog) -> None:
    puts = [Put(("notes", "food"), f"{number}", {"n": number}) for number in range(60)]
    catalog.items.write(subject("anna"), puts, {}, NOW)

    def write(writer: int) -> None:
        for _ in range(10):
            catalog.items.write(subject("anna"), puts if writer % 2 else puts[::-1], {}, NOW)

    with ThreadPoolExecutor(_WRITERS) as pool:
        assert list(pool.map(write, range(_WRITERS))) == [None] * _WRITERS


def test_of_those_who_change_at_once_what_all_have_read_one_does(catalog: Catalog) -> None:
    zones = ["Europe/Lisbon", "Europe/Berlin", "Europe/Warsaw", "Asia/Shanghai"]
    for whose in map(subject, ("carla", "dora", "emil")):
        read = catalog.preferences.of(whose)
        changes = [
            Changes(
                subject=whose,
                at=NOW,
                preferred=(Preference(name=PreferenceName.TIME_ZONE, value=zone),),
                preferences_read=read,
            )
            for zone in zones
        ]
        with ThreadPoolExecutor(_WRITERS) as pool:
            failures = [written.exception() for written in [pool.submit(catalog.commit, one) for one in changes]]
        done = [zone for zone, failure in zip(zones, failures, strict=True) if failure is None]
        assert done == [catalog.preferences.of(whose).time_zone]
        assert {type(failure) for failure in failures if failure} == {ConcurrentChange}
