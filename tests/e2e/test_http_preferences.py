"""The service: what a user wants of their memory, changed only by who has read what they want now."""

from __future__ import annotations

import httpx
import pytest

from schema import Capability
from tests.e2e.service import Served


@pytest.fixture
def path(user: str) -> str:
    return f"/api/v1/subjects/{user}"


def test_a_change_with_if_match_undoes_no_newer_one(me: httpx.Client, path: str) -> None:
    read = me.get(f"{path}/preferences")
    etag = read.headers["ETag"]
    assert f'"{read.json()["etag"]}"' == etag
    granted = me.patch(
        f"{path}/preferences", json={"consent": "granted", "time_zone": "Europe/Lisbon"}, headers={"If-Match": etag}
    )
    assert (granted.status_code, granted.json()["consent"], granted.json()["time_zone"]) == (
        200,
        "granted",
        "Europe/Lisbon",
    )
    late = me.patch(f"{path}/preferences", json={"consent": "withdrawn"}, headers={"If-Match": etag})
    assert (late.status_code, late.headers["content-type"]) == (412, "application/problem+json")
    assert me.get(f"{path}/preferences").headers["ETag"] == granted.headers["ETag"]
    for any_of_them in ({}, {"If-Match": "*"}, {"If-Match": f'"a,b" , W/"c",, {granted.headers["ETag"]}'}):
        answer = me.patch(f"{path}/preferences", json={"consent": "granted"}, headers=any_of_them)
        assert (answer.status_code, answer.headers["ETag"]) == (200, granted.headers["ETag"])


def test_topics_and_pauses_are_changed_only_by_who_has_read_what_is_wanted_now(me: httpx.Client, path: str) -> None:
    for below in ("topics/my divorce", "paused-conversations/c1"):
        read = {"If-Match": me.get(f"{path}/preferences").headers["ETag"]}
        put = me.put(f"{path}/{below}", headers=read)
        assert (put.status_code, put.headers["ETag"]) == (200, f'"{put.json()["etag"]}"')
        for method in ("PUT", "DELETE"):
            assert me.request(method, f"{path}/{below}", headers=read).status_code == 412
        gone = me.delete(f"{path}/{below}", headers={"If-Match": put.headers["ETag"]})
        assert (gone.status_code, gone.headers["ETag"]) == (200, f'"{gone.json()["etag"]}"')


def test_whatever_changes_what_is_wanted_tells_its_new_etag(me: httpx.Client, path: str) -> None:
    etags = [me.get(f"{path}/preferences").json()["etag"]]
    for method, below in (
        ("PUT", "topics/my divorce"),
        ("PUT", "paused-conversations/c1"),
        ("DELETE", "topics/my divorce"),
        ("DELETE", "paused-conversations/c1"),
    ):
        changed = me.request(method, f"{path}/{below}")
        etags.append(changed.json()["etag"])
        assert me.get(f"{path}/preferences").headers["ETag"] == changed.headers["ETag"] == f'"{etags[-1]}"'
    assert len(set(etags)) == len(etags) - 1, "in the end nothing is wanted, as in the beginning"


@pytest.mark.parametrize(
    ("method", "below", "body"),
    [
        ("PATCH", "preferences", {"consent": "withdrawn"}),
        ("PUT", "topics/chess", None),
        ("DELETE", "topics/chess", None),
        ("PUT", "paused-conversations/c1", None),
        ("DELETE", "paused-conversations/c1", None),
    ],
)
def test_an_agent_says_nothing_of_what_its_user_wants(
    service: Served, user: str, method: str, below: str, body: dict[str, str] | None
) -> None:
    path = f"/api/v1/subjects/{user}"
    key = service.key(Capability.READ, Capability.WRITE, Capability.DELETE, user=user, agent="coach")
    with service.client(key) as coach:
        before = coach.get(f"{path}/preferences").json()
        refused = coach.request(method, f"{path}/{below}", json=body)
        assert (refused.status_code, "agent" in refused.json()["detail"]) == (403, True)
        assert coach.get(f"{path}/preferences").json() == before
