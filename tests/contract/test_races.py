"""Two who write the same rows at once, on every catalog: only Postgres lets them, SQLite's writers take turns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from memory.webhooks import NewSecret, add_endpoint, rotate_secret
from schema.item import Put
from stores.catalog import Catalog
from tests.turns import subject

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
_WRITERS = 4


def test_two_who_rotate_at_once_take_no_secret_from_each_other(catalog: Catalog) -> None:
    first = add_endpoint("acme", "https://example.org/hook", catalog, by="test", now=NOW)

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
