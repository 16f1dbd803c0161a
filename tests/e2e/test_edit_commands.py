"""Commands that change one memory."""

from __future__ import annotations

import getpass
import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from interfaces.local.broker import embedded_broker
from schema import Review, Status, Subject
from schema.settings import Settings
from stores.catalog import Changes, open_catalog
from tests.contract.catalogs import a_memory
from tests.e2e.command import Home


def test_what_is_done_to_a_memory_acts_at_once_and_says_who(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    memory = a_memory("edits", Subject(tenant_id="acme", subject_id="edda"))
    with closing(open_catalog(Settings(data_dir=home.data))) as catalog:
        catalog.commit(Changes(subject=memory.subject, at=memory.created_at, created=(memory,)))
    id_ = str(memory.id)

    def done(verb: str, *more: str) -> dict[str, Any]:
        said = home.say(verb, id_, *more, "--json")
        assert said.returncode == 0, said.stderr
        changed: dict[str, Any] = json.loads(said.stdout)
        return changed

    with embedded_broker(home.environment()["AFTERTURN_BROKER_URL"], home.folder / "broker"):
        edited = done("edit", "--summary", "The user lives in Porto.")
        assert [fact["object"] for fact in edited["facts"]] == ["Porto"]
        assert done("pin")["pinned"]
        assert not done("unpin")["pinned"]
        assert done("archive")["status"] == "archived"
        assert done("restore")["status"] == "active"
        assert done("suppress")["suppressed"]
        assert "active, suppressed" in home.say("show", id_).stdout
        refused = home.say("edit", id_, "--category", "Nonsense")
        assert (refused.returncode, "Personal" in refused.stderr) == (2, True)
        assert not done("unsuppress")["suppressed"]
    audit = json.loads(home.say("show", id_, "--json").stdout)["audit"]
    assert {line["by"] for line in audit} == {getpass.getuser()}
    assert len(audit) == 7


def test_of_what_a_wish_hid_those_alone_go_that_are_named(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    whose = Subject(tenant_id="acme", subject_id="edda")
    hidden = {"status": Status.ARCHIVED}
    meant, other = (a_memory(turn_id, whose).model_copy(update=hidden) for turn_id in ("meant", "other"))
    now = datetime.now(UTC)
    review = Review.of_forgetting(whose, (meant.id, other.id), "wish", policy_version="p", opened_at=now)
    with closing(open_catalog(Settings(data_dir=home.data))) as catalog:
        catalog.commit(Changes(subject=whose, at=now, created=(meant, other), reviews=(review,)))
    with embedded_broker(home.environment()["AFTERTURN_BROKER_URL"], home.folder / "broker"):
        assert "1 waits for a person" in home.say("status").stdout
        said = home.say("reviews", "approve", str(review.id), "--only", str(meant.id))
        assert (said.returncode, "is told again" in said.stdout) == (0, True), said.stderr
        assert "waits for a person" not in home.say("status").stdout
    with closing(open_catalog(Settings(data_dir=home.data))) as catalog:
        assert [memory.id for memory in catalog.list_memories(whose)] == [other.id]
