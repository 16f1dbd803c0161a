"""Backups of a catalog in SQLite and in Postgres, and of what waits in a broker, restored to where nothing is."""

from __future__ import annotations

import base64
import errno
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from memory.backup import ERASURES, MANIFEST, MESSAGES, TURNS, described, make_backup
from memory.context import MemoryContext, open_memory
from memory.documents.delete import delete_document
from memory.documents.put import put_document
from memory.erasure.subjects import erase_subject
from memory.items import write_items
from memory.publish import publish
from memory.restore import (
    Restored,
    read_erasures,
    read_manifest,
    require_empty_target,
    restore_catalog,
    restore_rest,
)
from schema import Document, Subject
from schema.backup import Manifest, WaitingMessage, WaitingTurn
from schema.errors import BackupRefused, BrokerOutage
from schema.item import Put
from schema.settings import Settings
from stores.broker_backup import count_waiting_messages
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from stores.dead_letters import read_dead_letters
from stores.index.base import Where
from stores.queue import (
    BEAT_LOCK,
    DEAD_LETTER,
    DEAD_LETTER_QUEUE,
    create_celery,
    open_mailbox,
    send_dead_letter,
    send_turn,
)
from stores.redis import open_redis
from tests.conftest import free_port
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, a_memory, a_turn, changes
from tests.erasing import erase_memory
from tests.postgres import PostgresServer, programs


@dataclass(frozen=True)
class Places:
    """Where a fleet is, and where its backup is restored to: each with a catalog, an index and a broker of its own."""

    here: Settings
    there: Settings


@pytest.fixture(params=["sqlite", "postgres"])
def places(
    request: pytest.FixtureRequest, broker_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Places]:
    with ExitStack() as databases:

        def place(name: str, number: int) -> Settings:
            given: dict[str, Any] = {"broker_url": f"{broker_url[:-1]}{number}", "data_dir": tmp_path / name}
            if request.param == "postgres":
                server: PostgresServer = request.getfixturevalue("postgres")
                url = server.database()
                databases.callback(server.drop, url)
                given |= {"catalog_url": url, "index": "pgvector"}
            settings = Settings(**given)
            with closing(open_redis(settings)) as redis:
                redis.flushdb()
            return settings

        if request.param == "postgres":
            monkeypatch.setenv("PATH", f"{programs()}{os.pathsep}{os.environ['PATH']}")
        here = place("here", 2)
        engine = create_catalog_engine(here.effective_catalog_url)
        migrate(engine)
        engine.dispose()
        yield Places(here, place("there", 3))


@pytest.fixture
def here(places: Places) -> Iterator[MemoryContext]:
    with closing(open_memory(places.here)) as context:
        yield context


def back_up(context: MemoryContext, folder: Path, *spooled: WaitingTurn) -> Manifest:
    engine = create_catalog_engine(context.settings.effective_catalog_url)
    manifest = make_backup(
        folder,
        settings=context.settings,
        engine=engine,
        redis=context.redis,
        mailbox=context.mailbox,
        embedder=context.embedder.name,
        spooled=spooled,
    )
    engine.dispose()
    return manifest


def put_back(folder: Path, settings: Settings) -> None:
    """Restore the catalog, as the command does, after it refused what is there."""
    manifest = read_manifest(folder)
    engine = create_catalog_engine(settings.effective_catalog_url, makes_file=False)
    try:
        with closing(open_redis(settings)) as redis:
            require_empty_target(manifest, settings, engine, redis)
        restore_catalog(folder, manifest, engine)
        migrate(engine)
    finally:
        engine.dispose()


def restore(folder: Path, context: MemoryContext, erasures: Path | None = None) -> Restored:
    since = read_erasures(erasures) if erasures else []
    return restore_rest(folder, read_manifest(folder), context, by="test", erasures=since)


def told(context: MemoryContext, subject: Subject) -> list[str]:
    """The summaries that the index finds and the catalog has."""
    [vector] = context.embedder.embed(["Where does Anna live?"])
    found = [hit.memory_id for hit in context.index.query(vector, Where(subject), 10)]
    return [memory.summary for memory in context.catalog.memories(subject, found).values()]


def test_what_is_known_and_what_waits_is_there_again(here: MemoryContext, places: Places, tmp_path: Path) -> None:
    publish(changes("t1"), {}, here)
    here.mailbox.append(a_turn("waits"), 0.0)
    here.mailbox.append(a_turn("waits too"), 0.0)
    send_turn(here.celery, a_turn("in the queue", BERT))
    send_dead_letter(here.celery, reason="it was none", turn_id="dead", body={"turn_id": "dead"})
    manifest = back_up(here, tmp_path / "backup")
    assert (manifest.turns, manifest.messages) == (2, 2)
    put_back(tmp_path / "backup", places.there)
    with closing(open_memory(places.there)) as there:
        restored = restore(tmp_path / "backup", there)
        assert told(there, ANNA) == [a_memory().summary]
        assert there.catalog.processed(ANNA, ["t1"]).keys() == {"t1"}
        assert [parked.turn_id for parked in there.mailbox.in_order(ANNA)] == ["waits", "waits too"]
        assert [letter.turn_id for letter in read_dead_letters(there.redis)] == ["dead"]
        # The third message wakes a worker for the mailbox.
        assert count_waiting_messages(there.redis) == 3
        assert not there.catalog.reindex_jobs.under_way(), "no move is left open that somebody must end"
    assert restored == Restored(restored.memories, turns=2, messages=2, left_out=0, erased=0, held=0)
    assert restored.memories == (0 if places.there.index == "pgvector" else 1)


def test_what_was_erased_since_is_erased_again(here: MemoryContext, places: Places, tmp_path: Path) -> None:
    for subject, turn_id in ((ANNA, "t1"), (ANNA, "t2"), (BERT, "t3"), (NAMESAKE, "t4")):
        publish(changes(turn_id, subject, fence=None), {}, here)
    here.mailbox.append(a_turn("waits", BERT), 0.0)
    send_turn(here.celery, a_turn("in the queue", BERT))
    for turn in (a_turn("dead", BERT), a_turn("dead")):
        send_dead_letter(here.celery, reason="failed", turn_id=turn.turn_id, body=turn.model_dump(mode="json"))
    documents = [
        Document(document_id=id_, **ANNA.model_dump(), content="The mill stood at the river.", author_id="ana")
        for id_ in ("goes", "stays")
    ]
    for document in documents:
        put_document(None, document, here, now=datetime.now(UTC))
    spooled = a_turn("spooled", BERT)
    back_up(
        here,
        tmp_path / "earlier",
        WaitingTurn(**BERT.model_dump(), turn_id="spooled", body=spooled.canonical_json()),
    )
    now = datetime.now(UTC)
    [goes] = here.catalog.documents.heads(ANNA, ["goes"]).values()
    delete_document(goes, here, by="test", reason="test", now=now)
    erase_memory(ANNA, a_memory("t1").id, here, by="test", now=now)
    erase_subject(BERT, here, by="test", now=now)
    back_up(here, tmp_path / "later")
    put_back(tmp_path / "earlier", places.there)
    with closing(open_memory(places.there)) as there:
        restored = restore(tmp_path / "earlier", there, tmp_path / "later" / ERASURES)
        known = {subject: there.catalog.list_memories(subject) for subject in (ANNA, BERT, NAMESAKE)}
        assert {subject: [memory.id for memory in memories] for subject, memories in known.items()} == {
            ANNA: [a_memory("t2").id],
            BERT: [],
            NAMESAKE: [a_memory("t4", NAMESAKE).id],
        }
        assert told(there, BERT) == []
        assert there.catalog.documents.heads(ANNA, ["goes", "stays"]).keys() == {"stays"}
        # It waited when the user was erased.
        assert there.mailbox.in_order(BERT) == []
        assert count_waiting_messages(there.redis) == 1
        assert [letter.turn["user_id"] for letter in read_dead_letters(there.redis)] == [ANNA.subject_id]
    # A document, a memory, a user, and by itself their turn of which the mailbox knew nothing.
    assert (restored.erased, restored.left_out) == (4, 4)


def test_items_that_were_deleted_since_are_deleted_again_and_those_put_since_stay(
    here: MemoryContext, places: Places, tmp_path: Path
) -> None:
    def keep(key: str, value: dict[str, Any] | None, context: MemoryContext = here) -> None:
        write_items(None, ANNA, [Put(("notes",), key, value)], context, now=datetime.now(UTC))

    def kept(context: MemoryContext) -> dict[str, Any]:
        items = context.catalog.items.under(ANNA, (), datetime.now(UTC))
        return {found.item.key: found.item.value for found in items}

    for key in ("goes", "stays", "again"):
        keep(key, {"said": "before"})
    back_up(here, tmp_path / "earlier")
    for key in ("goes", "again", "was never there"):
        keep(key, None)
    keep("again", {"said": "after"})
    back_up(here, tmp_path / "later")
    lines = (tmp_path / "later" / ERASURES).read_text().splitlines()
    assert len(lines) == 2, "what was there and went"
    assert not [line for line in lines if "goes" in line or "notes" in line]
    put_back(tmp_path / "earlier", places.there)
    with closing(open_memory(places.there)) as there:
        restored = restore(tmp_path / "earlier", there, tmp_path / "later" / ERASURES)
        # What "again" said before was deleted as well, and what it said after is in the later backup alone.
        assert kept(there) == {"stays": {"said": "before"}}
        back_up(there, tmp_path / "of the restored")
    assert restored.erased == 2
    assert len((tmp_path / "of the restored" / ERASURES).read_text().splitlines()) == 2


def test_nothing_is_restored_over_what_is_there(here: MemoryContext, places: Places, tmp_path: Path) -> None:
    back_up(here, tmp_path / "backup")
    with pytest.raises(BackupRefused, match="there is a catalog"):
        put_back(tmp_path / "backup", places.here)
    with closing(open_redis(places.there)) as redis:
        mailbox = open_mailbox(places.there, redis, create_celery(places.there))
        mailbox.append(a_turn("new"), 0.0)
        with pytest.raises(BackupRefused, match="1 turns and 0 messages wait"):
            put_back(tmp_path / "backup", places.there)
    with pytest.raises(BackupRefused, match="not empty"):
        back_up(here, tmp_path / "backup")


def test_a_refused_restore_makes_nothing_that_a_later_one_finds(
    here: MemoryContext, places: Places, tmp_path: Path
) -> None:
    back_up(here, tmp_path / "backup")
    nobody = places.there.model_copy(update={"broker_url": f"redis://127.0.0.1:{free_port()}/0"})
    with pytest.raises(BrokerOutage):
        put_back(tmp_path / "backup", nobody)
    assert not places.there.data_dir.exists()
    put_back(tmp_path / "backup", places.there)


def test_a_damaged_or_unfinished_backup_is_refused_and_nobody_else_reads_one(
    here: MemoryContext, tmp_path: Path
) -> None:
    folder = tmp_path / "backup"
    here.mailbox.append(a_turn("waits"), 0.0)
    back_up(here, folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    [line] = (folder / TURNS).read_text().splitlines()
    (folder / TURNS).write_text(json.dumps(json.loads(line) | {"turn_id": "another"}) + "\n")
    with pytest.raises(BackupRefused, match="not what the backup wrote"):
        read_manifest(folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(BackupRefused, match="not finished"):
        read_manifest(folder)


def test_a_backup_that_the_disk_has_no_room_for_says_so(
    here: MemoryContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_engine: Engine, _folder: Path) -> Path:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("memory.backup.copy_catalog", full)
    with pytest.raises(BackupRefused, match=rf"{tmp_path / 'backup'} could not be finished: No space left.*delete the"):
        back_up(here, tmp_path / "backup")


def rewritten(folder: Path, **fields: Any) -> None:
    """Have the manifest say something else."""
    said = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(said | fields))


def with_lines(folder: Path, name: str, *lines: bytes) -> None:
    """Write other lines into a file, and have the manifest know them: whoever changes the one can change the other."""
    (folder / name).write_bytes(b"".join(line + b"\n" for line in lines))
    files = json.loads((folder / MANIFEST).read_text())["files"]
    rewritten(folder, files=[described(folder / file["name"]).model_dump() for file in files])


def test_files_are_checked_whatever_the_manifest_leaves_out_or_adds(here: MemoryContext, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    files = [file.model_dump() for file in back_up(here, folder).files]
    outside = tmp_path / "outside"
    outside.write_text("")
    for listed in (
        files[:1],
        [],
        [*files, files[0]],
        [{**files[0], "name": "x" * 5000}, *files[1:]],
        [*files, described(outside).model_dump() | {"name": "../outside"}],
    ):
        rewritten(folder, files=listed)
        with pytest.raises(BackupRefused, match="lists other files than a backup has") as refused:
            read_manifest(folder)
        assert len(str(refused.value)) < 1000
    rewritten(folder, files=files)
    (folder / TURNS).unlink()
    (folder / TURNS).mkdir()
    with pytest.raises(BackupRefused, match="not what the backup wrote"):
        read_manifest(folder)


def test_the_order_in_which_files_are_listed_means_nothing(here: MemoryContext, places: Places, tmp_path: Path) -> None:
    publish(changes("t1"), {}, here)
    folder = tmp_path / "backup"
    rewritten(folder, files=[file.model_dump() for file in reversed(back_up(here, folder).files)])
    put_back(folder, places.there)
    with closing(open_memory(places.there)) as there:
        restore(folder, there)
        assert told(there, ANNA) == [a_memory().summary]


def letter_line(at: str) -> bytes:
    """The line of a dead letter, as it lies in the queue."""
    letter = {"turn_id": "t", "reason": "failed", "at": at, "turn": {}}
    body = base64.b64encode(json.dumps([[letter], {}, {}]).encode()).decode()
    message = json.dumps({"body": body, "headers": {"id": "1", "task": DEAD_LETTER}, "properties": {}})
    return WaitingMessage(queue=DEAD_LETTER_QUEUE, message=message).model_dump_json().encode()


def test_a_dead_letter_can_be_restored(here: MemoryContext, tmp_path: Path) -> None:
    back_up(here, tmp_path / "backup")
    with_lines(tmp_path / "backup", MESSAGES, letter_line("2026-11-02T08:00:00+00:00"))
    read_manifest(tmp_path / "backup")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        pytest.param(TURNS, b"\xff", id="no text"),
        pytest.param(TURNS, b"{}", id="no turn"),
        pytest.param(
            TURNS,
            WaitingTurn(**BERT.model_dump(), turn_id="t", body=a_turn("t").canonical_json()).model_dump_json().encode(),
            id="a turn of another user",
        ),
        pytest.param(
            TURNS,
            WaitingTurn(**ANNA.model_dump(), turn_id="u", body=a_turn("t").canonical_json()).model_dump_json().encode(),
            id="a turn of another id",
        ),
        pytest.param(MESSAGES, b'{"queue": "unacked", "message": "x"}', id="no queue of ours"),
        pytest.param(
            ERASURES,
            b'{"tenant_id": "acme", "subject_id": "anna", "scope": "subject", "at": "2026-11-02T08:00:00"}',
            id="a moment without a zone",
        ),
    ],
)
def test_a_line_that_cannot_be_restored_is_named_before_anything_is(
    here: MemoryContext, tmp_path: Path, name: str, line: bytes
) -> None:
    folder = tmp_path / "backup"
    back_up(here, folder)
    with_lines(folder, name, line)
    with pytest.raises(BackupRefused, match=rf"{name}, line 1: "):
        read_manifest(folder)


def test_a_manifest_of_a_moment_without_a_zone_is_refused(here: MemoryContext, tmp_path: Path) -> None:
    back_up(here, tmp_path / "backup")
    rewritten(tmp_path / "backup", began_at="2026-11-02T08:00:00")
    with pytest.raises(BackupRefused, match="began_at"):
        read_manifest(tmp_path / "backup")


def test_nothing_is_restored_to_the_broker_of_a_fleet_that_works(
    here: MemoryContext, places: Places, tmp_path: Path
) -> None:
    back_up(here, tmp_path / "backup")
    with closing(open_redis(places.there)) as redis:
        redis.set(BEAT_LOCK, "a beat", ex=60)
        with pytest.raises(BackupRefused, match=r"a fleet works on the broker at redis://.*: beat\."):
            put_back(tmp_path / "backup", places.there)
        redis.delete(BEAT_LOCK)
    put_back(tmp_path / "backup", places.there)
