"""An erasure over HTTP takes what the command takes: the service's own spool is a place of its words too."""

from __future__ import annotations

from contextlib import closing

import httpx
import pytest

from producers.spool import Spool
from schema import Turn
from schema.settings import Settings
from tests.e2e.service import Served
from tests.e2e.test_pages import send
from tests.turns import a_turn


def put_aside(settings: Settings, user: str, said: str) -> None:
    """Lay a turn into the spool that the broker will never take."""
    with closing(Spool(settings.effective_spool_dir, max_turns=9, max_bytes=100_000)) as spool:
        spool.put(Turn.model_validate(a_turn(user, 1, said)), 5)
        [lying] = [turn for turn in spool.oldest(9) if said in turn.body]
        with spool.locked() as is_locked:
            assert is_locked
            spool.reject(lying, "another turn of that id")


def put_aside_of(settings: Settings, user: str) -> list[str]:
    with closing(Spool(settings.effective_spool_dir, max_turns=9, max_bytes=100_000)) as spool:
        return [turn.turn_id for turn, _ in spool.rejected(9) if f'"{user}"' in turn.body]


@pytest.mark.parametrize("face", ["api", "page"])
def test_a_turn_that_was_put_aside_in_the_spool_of_the_service_goes_with_its_user(
    service: Served, user: str, face: str
) -> None:
    other = f"{user}-other"
    put_aside(service.settings, user, f"{user} keeps seventeen walnuts")
    put_aside(service.settings, other, f"{other} keeps eighteen walnuts")
    assert put_aside_of(service.settings, user) == [f"{user}-1"]

    with service.client(service.key()) as backend:
        if face == "api":
            proof = backend.delete(f"/api/v1/subjects/{user}", params={"user_id": user}).json()
            assert (proof["removed"]["spool of this machine"], proof["clean"]) == (1, True)
            assert any("spools of other machines" in note for note in proof["notes"])
        else:
            link = backend.post(f"/api/v1/subjects/{user}/page-link").json()["url"]
            with httpx.Client(base_url=service.url, follow_redirects=True, timeout=30.0) as person:
                person.get(link)
                shown = send(person, "/me/forget", confirm="forget everything").text
            assert "Everything was forgotten" in shown
            assert "spool of this machine" in shown

    assert put_aside_of(service.settings, user) == []
    assert put_aside_of(service.settings, other) == [f"{other}-1"]
