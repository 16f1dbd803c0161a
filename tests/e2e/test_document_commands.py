"""`afterturn documents`: put, listed, shown and deleted; nothing is printed that nobody has masked yet."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from interfaces.local.broker import embedded_broker
from memory.context import open_memory
from memory.documents.indexing import make_searchable
from schema import Subject
from schema.settings import Settings
from tests.e2e.command import Home

MILL = "The old mill stood at the river. My key is sk-live-4eC39HqLyjWDarjtT1zdp7dc, my father said."


def test_a_file_is_put_listed_shown_and_deleted(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    file = tmp_path / "mill.txt"
    file.write_text(MILL)
    broker = home.environment()["AFTERTURN_BROKER_URL"]
    with embedded_broker(broker, tmp_path / "broker"):
        [put] = home.json(
            "documents",
            "put",
            "archive",
            str(file),
            "--title",
            "What my father told of the mill and the flood, 4111 1111 1111 1111",
        )
        assert (put["outcome"], put["state"], put["document_id"]) == ("accepted", "waiting", "mill")
        for command in (("list", "archive"), ("show", "archive", "mill")):
            said = home.say("documents", *command).stdout
            assert "being read" in said
            assert "the mill" in said
            assert ("river" in said, "4111" in said) == (False, False)
        assert home.json("documents", "show", "archive", "mill")["chunks"] == []
        with closing(open_memory(Settings(data_dir=home.data, broker_url=broker))) as context:
            whose = Subject(tenant_id="default", subject_id="archive")
            make_searchable(whose, "mill", context, lambda: datetime.now(UTC))
        assert [one["state"] for one in home.json("documents", "list", "archive")] == ["searchable"]
        shown = home.say("documents", "show", "archive", "mill").stdout
        assert ("stood at the river" in shown, "4eC39HqLyjWDarjtT1zdp7dc" in shown) == (True, False)
        [chunk] = home.json("documents", "show", "archive", "mill")["chunks"]
        assert (chunk["number"], chunk["start"]) == (0, 0)
        assert [one["outcome"] for one in home.json("documents", "put", "archive", str(file))] == ["accepted"]
        assert "shown once" not in home.say("documents", "show", "archive", "mill").stdout
        kept = home.say("documents", "delete", "archive", "mill", answer="n\n")
        assert (kept.returncode, "Delete this for good?" in kept.stderr) == (1, True)
        assert home.json("documents", "delete", "archive", "mill") == {"document_id": "mill", "chunks_deleted": 1}
        assert home.json("documents", "list", "archive") == []
        gone = home.say("documents", "show", "archive", "mill")
        assert (gone.returncode, "there is no such document" in gone.stderr) == (2, True)


def test_examples_are_loaded_from_a_file_and_found(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    file = tmp_path / "examples.jsonl"
    file.write_text('{"id": "left", "input": "How much is left of my budget?", "actions": ["Budget: sum", "Answer"]}')
    unset = home.say("examples", "load", str(file))
    assert (unset.returncode, "AFTERTURN_EXAMPLES is not set" in unset.stderr) == (2, True)
    broker = home.environment()["AFTERTURN_BROKER_URL"]
    with embedded_broker(broker, tmp_path / "broker"):
        loaded = home.say("examples", "load", str(file), AFTERTURN_EXAMPLES="examples")
        assert loaded.stdout == "examples: 1 accepted\n"
        with closing(open_memory(Settings(data_dir=home.data, broker_url=broker))) as context:
            make_searchable(
                Subject(tenant_id="default", subject_id="examples"), "left", context, lambda: datetime.now(UTC)
            )
        found = home.say("examples", "search", "What can I still spend?", AFTERTURN_EXAMPLES="examples").stdout
        assert ("How much is left of my budget?" in found, "2. Answer" in found) == (True, True)
