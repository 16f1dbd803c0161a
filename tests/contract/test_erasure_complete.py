"""Where an erasure looks: whatever a message looks like, wherever a sender put it, and in what stays for others."""

from __future__ import annotations

import base64
import json
import shutil
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.erasure.proof import BROKER_FILE, STORE_LOGS, files_with
from memory.erasure.subjects import erase_subject, erase_turns, finish_erasures
from memory.legal_holds import set_legal_hold
from schema import Scope
from stores.dead_letters import read_dead_letters
from stores.queue import (
    DEAD_LETTER,
    DEAD_LETTER_QUEUE,
    INGEST_QUEUE,
    INGEST_TURN,
    NIGHTLY_QUEUE,
    PUT_DOCUMENT,
    send_dead_letter,
)
from tests.contract.pipeline import Worker, on_every_store_at_length
from tests.erasing import erase_memory
from tests.turns import a_turn, subject

pytest_generate_tests = on_every_store_at_length
NOW = datetime(2026, 11, 3, tzinfo=UTC)
SECRET = "My grandmother's recipe needs seventeen walnuts"
FORMS = [
    "base64",
    "utf-8",
    "gzip",
    "first protocol",
    "broken",
    "no JSON inside",
    "of another task",
    "nested deeper than is read",
]


def message(turn: dict[str, Any], form: str) -> str:
    """A Celery message with a turn, in one of the forms that a backend may send."""
    body = json.dumps([[turn], {}, {}]).encode()
    headers: dict[str, Any] = {"id": "m1", "task": INGEST_TURN}
    if form == "utf-8":
        return json.dumps({"body": body.decode(), "headers": headers, "properties": {"body_encoding": "utf-8"}})
    if form == "gzip":
        headers["compression"], body = "application/x-gzip", zlib.compress(body)
    if form == "first protocol":
        headers, body = {}, json.dumps({"id": "m1", "task": INGEST_TURN, "args": [turn], "kwargs": {}}).encode()
    if form == "broken":
        return json.dumps({"headers": headers, "turn": turn})
    if form == "of another task":
        headers["task"] = "memory.of_another_time"
    if form == "no JSON inside":
        body = body[:-1]
    if form == "nested deeper than is read":
        body = json.dumps([[turn | {"metadata": "..."}], {}, {}]).replace('"..."', "[" * 5_000 + "]" * 5_000).encode()
    encoded = base64.b64encode(body).decode()
    return json.dumps({"body": encoded, "headers": headers, "properties": {"body_encoding": "base64"}})


@pytest.mark.parametrize("queue", [INGEST_QUEUE, NIGHTLY_QUEUE, DEAD_LETTER_QUEUE])
@pytest.mark.parametrize("form", FORMS)
def test_a_turn_goes_whatever_its_message_looks_like_and_wherever_it_lies(
    alone: Worker, anna: str, form: str, queue: str
) -> None:
    bert = anna.replace("anna", "bert")
    mine, others = (message(a_turn(user, 1, SECRET), form) for user in (anna, bert))
    alone.context.redis.delete(queue)
    alone.context.redis.rpush(queue, mine, others)
    proof = erase_subject(subject(anna), alone.context, by="dora", now=NOW)
    assert proof.is_clean
    assert alone.context.redis.lrange(queue, 0, -1) == [others.encode()]
    alone.context.redis.delete(queue)


def test_a_dead_letter_that_names_no_tenant_goes_with_its_user(alone: Worker, anna: str) -> None:
    turn = {name: value for name, value in a_turn(anna, 1, SECRET).items() if name != "tenant_id"}
    for body in (turn, json.dumps(turn) + "}"):
        send_dead_letter(alone.context.celery, reason="broken", turn_id=None, body=body)
    proof = erase_subject(subject(anna), alone.context, by="dora", now=NOW)
    assert (proof.removed["dead letters"], proof.is_clean) == (2, True)
    assert all(anna not in str(letter.turn) for letter in read_dead_letters(alone.context.redis))


@pytest.mark.parametrize("at", ["yesterday", 5, None, "2026-11-02T08:00:00"])
def test_a_dead_letter_with_a_moment_that_is_none_is_read_and_keeps_nobodys_erasure_from_its_end(
    alone: Worker, anna: str, at: object
) -> None:
    letter = {"reason": "broken", "turn_id": None, "at": at, "turn": a_turn(anna, 1, SECRET)}
    body = base64.b64encode(json.dumps([[letter], {}, {}]).encode()).decode()
    foreign = {"body": body, "headers": {"task": DEAD_LETTER}, "properties": {"body_encoding": "base64"}}
    alone.context.redis.lpush(DEAD_LETTER_QUEUE, json.dumps(foreign))
    assert erase_subject(subject(anna), alone.context, by="dora", now=NOW).is_clean
    assert all(anna not in str(letter.turn) for letter in read_dead_letters(alone.context.redis))


def a_document(user: str) -> dict[str, Any]:
    return {"document_id": "recipes", **subject(user).model_dump(), "content": SECRET}


@pytest.mark.parametrize("queue", [INGEST_QUEUE, DEAD_LETTER_QUEUE])
def test_a_document_that_waits_to_be_kept_goes_with_its_subject_and_with_nobody_who_is_only_named(
    alone: Worker, anna: str, queue: str
) -> None:
    bert, redis = anna.replace("anna", "bert"), alone.context.redis
    redis.delete(queue)
    for document in (a_document(anna), a_document(bert) | {"author_id": anna}):
        if queue == DEAD_LETTER_QUEUE:
            send_dead_letter(alone.context.celery, reason="too long", turn_id=None, body=document)
        else:
            alone.context.celery.send_task(PUT_DOCUMENT, [document], queue=queue)
    waiting = redis.lrange(queue, 0, -1)
    proof = erase_subject(subject(anna), alone.context, by="dora", now=NOW)
    assert proof.is_clean
    assert redis.lrange(queue, 0, -1) == waiting[:1]
    redis.delete(queue)


@pytest.mark.parametrize(
    ("letter", "is_noted"),
    [
        (SECRET, True),
        ({"messages": [{"role": "user", "content": SECRET}]}, True),
        (str({"user_id": "anna", "content": SECRET}), True),
        ({"user_id": None, "content": SECRET}, True),
        ({"user_id": "bert", "content": SECRET}, False),
        ({"args": [a_document("bert")], "kwargs": {}}, False),
        (json.dumps(a_turn("bert", 1, SECRET)) + "}", False),
        (None, False),
    ],
)
def test_a_dead_letter_that_names_nobody_is_told_of_in_the_proof(
    alone: Worker, anna: str, letter: Any, *, is_noted: bool
) -> None:
    alone.context.redis.delete(DEAD_LETTER_QUEUE)
    send_dead_letter(alone.context.celery, reason="broken", turn_id=None, body=letter)
    proof = erase_subject(subject(anna), alone.context, by="dora", now=NOW)
    [sent] = read_dead_letters(alone.context.redis)
    assert ["there are 1" in note for note in proof.notes if "name no user" in note] == [True] * is_noted
    # Whoever erases is shown the notes, and the letter may be of another tenant.
    assert [words for words in (SECRET, sent.id) if words in str(proof)] == []
    alone.context.redis.delete(DEAD_LETTER_QUEUE)


@pytest.mark.parametrize("how", ["command", "spoken", "spoken at once"])
def test_a_raw_turn_keeps_no_word_of_an_erased_memory_though_another_came_of_it(
    worker: Worker, anna: str, how: str
) -> None:
    said = ["I live in Lisbon, and my brother owns a bakery in Porto."]
    spoken = "Forget that I live in Lisbon."
    worker.hear(anna, *said, *([spoken] if how == "spoken at once" else []))
    if how == "spoken":
        worker.hear(anna, spoken, first=1)
    if how == "command":
        [lisbon] = [one for one in worker.known(subject(anna)) if "Lisbon" in one.summary]
        assert erase_memory(subject(anna), lisbon.id, worker.context, by="dora", now=NOW).is_clean
    assert ["Porto" in one.summary for one in worker.known(subject(anna))] == [True]
    [kept] = [row for row in worker.rows("sources", subject(anna)) if row["turn_id"] == f"{anna}-0"]
    assert "bakery in Porto" in str(kept["turn"])
    assert "Lisbon" not in worker.everywhere(subject(anna)) + str(worker.events(subject(anna)))


def test_a_raw_turn_of_a_memory_under_legal_hold_stays_as_it_was_said(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon, and my brother owns a bakery in Porto.")
    lisbon, porto = sorted(worker.known(subject(anna)), key=lambda one: "Porto" in one.summary)
    before = worker.rows("sources", subject(anna))
    set_legal_hold(subject(anna), [porto.id], worker.context, why="case 17", by="dora", now=NOW)
    erase_memory(subject(anna), lisbon.id, worker.context, by="dora", now=NOW)
    assert [one.id for one in worker.known(subject(anna))] == [porto.id]
    assert worker.rows("sources", subject(anna)) == before


def test_what_a_wish_to_forget_left_goes_with_its_conversation(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "I like jazz and opera.", conversation_id="first")
    worker.hear(anna, "Forget that I like opera.", first=1, conversation_id="first")
    left = worker.known(whose)
    assert [one.source_turn_ids for one in left if "jazz" in one.summary] == [()] * len(left)
    proof, _ = erase_turns(whose, Scope.CONVERSATION, "first", worker.context, by="dora", now=NOW)
    assert proof.is_clean
    assert worker.known(whose) == []
    assert "jazz" not in worker.everywhere(whose) + str(worker.events(whose))


@pytest.fixture
def broker_folder(worker: Worker) -> Iterator[Path]:
    """The folder of a broker that writes an append-only file."""
    redis = worker.context.redis
    before = str(redis.config_get("appendonly")["appendonly"])
    redis.config_set("appendonly", "yes")
    _await_no_rewriting(worker)
    yield Path(str(redis.config_get("dir")["dir"]))
    # Whatever rewrites is stopped by this.
    redis.config_set("appendonly", "no")
    redis.config_set("appendonly", before)


def _await_no_rewriting(worker: Worker) -> None:
    deadline = time.monotonic() + 20
    while worker.context.redis.info("persistence")["aof_rewrite_in_progress"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def rewriting_fails(worker: Worker, folder: Path, how: str) -> Iterator[None]:
    """Make rewriting fail, at its end or before it began: folders lie where the broker's next files would."""
    kept = folder / str(worker.context.redis.config_get("appenddirname")["appenddirname"])
    if how == "before it began":
        aside = kept.rename(kept.with_name("aside"))
        kept.touch()
        try:
            yield
        finally:
            kept.unlink()
            aside.rename(kept)
        return
    name = str(worker.context.redis.config_get("appendfilename")["appendfilename"])
    written = max(int(path.name.removeprefix(f"{name}.").split(".")[0]) for path in kept.glob(f"{name}.*.base.*"))
    numbers = range(written + 1, written + 200)
    lying = [kept / f"{name}.{number}.base.{kind}" for number in numbers for kind in ("rdb", "aof")]
    for path in lying:
        (path / "in the way").mkdir(parents=True)
    try:
        yield
    finally:
        for path in lying:
            shutil.rmtree(path)


def test_an_erasure_ends_when_the_broker_has_written_its_file_anew(
    worker: Worker, anna: str, broker_folder: Path
) -> None:
    worker.hear(anna, "I live in Lisbon")
    worker.park(a_turn(anna, 5, SECRET))
    proof = erase_subject(subject(anna), worker.context, by="dora", now=NOW)
    assert (proof.is_clean, proof.unshown) == (True, [])
    assert not any("rewrite" in note for note in proof.notes)
    assert files_with(broker_folder, [SECRET]) == []


@pytest.mark.parametrize("how", ["before it began", "at its end"])
def test_an_erasure_of_which_the_broker_could_not_write_its_file_anew_goes_on_until_it_can(
    worker: Worker, anna: str, broker_folder: Path, how: str
) -> None:
    whose = subject(anna)
    worker.park(a_turn(anna, 5, SECRET))
    with rewriting_fails(worker, broker_folder, how):
        proof = erase_subject(whose, worker.context, by="dora", now=NOW)
        assert files_with(broker_folder, [SECRET]) != []
        assert (proof.is_clean, proof.is_over, proof.unshown) == (False, False, [BROKER_FILE])
        assert not any(proof.left.values()), "nothing was found again"
        assert any("could not" in note and "still holds" in note for note in proof.notes)
        assert whose in dict(worker.context.catalog.tombstones.unfinished(10))
        assert finish_erasures(worker.context, 10, NOW) == 0
    assert finish_erasures(worker.context, 10, NOW) == 1
    assert files_with(broker_folder, [SECRET]) == []


def test_an_erasure_does_not_say_that_nothing_is_left_while_the_broker_still_writes_its_file_anew(
    worker: Worker, anna: str, broker_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis = worker.context.redis
    worker.park(a_turn(anna, 5, SECRET))
    monkeypatch.setattr("memory.erasure.proof._REWRITE_SECONDS", 0.1)
    redis.set("one", "key")
    redis.config_set("rdb-key-save-delay", 10_000_000)
    try:
        proof = erase_subject(subject(anna), worker.context, by="dora", now=NOW)
    finally:
        redis.config_set("rdb-key-save-delay", 0)
    # The broker goes on by itself, and the fleet, which waits no longer, could show no more.
    assert (proof.is_clean, proof.is_over, proof.unshown) == (False, True, [BROKER_FILE])
    assert any("rewrites its append-only file now" in note for note in proof.notes)


def test_a_rewriting_from_before_an_erasure_shows_nothing_and_is_asked_for_again(
    worker: Worker, anna: str, broker_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis = worker.context.redis
    worker.park(a_turn(anna, 5, SECRET))
    monkeypatch.setattr("memory.erasure.proof._REWRITE_SECONDS", 0.1)
    redis.config_set("rdb-key-save-delay", 10_000_000)
    try:
        redis.bgrewriteaof()
        proof = erase_subject(subject(anna), worker.context, by="dora", now=NOW)
    finally:
        redis.config_set("rdb-key-save-delay", 0)
    assert (proof.is_clean, proof.is_over, proof.unshown) == (False, False, [BROKER_FILE])
    assert any("once more" in note for note in proof.notes)
    # This ends the one under way.
    redis.config_set("appendonly", "no")
    redis.config_set("appendonly", "yes")
    _await_no_rewriting(worker)
    monkeypatch.undo()
    assert finish_erasures(worker.context, 10, NOW) == 1
    assert files_with(broker_folder, [SECRET]) == []


@pytest.mark.parametrize("has_file", [True, False])
def test_an_erasure_does_not_say_that_nothing_is_left_in_a_file_that_may_not_be_rewritten(
    worker: Worker, anna: str, broker_folder: Path, has_file: bool
) -> None:
    redis: Any = worker.context.redis
    worker.park(a_turn(anna, 5, SECRET))
    redis.config_set("appendonly", "yes" if has_file else "no")
    redis.execute_command("ACL", "SETUSER", "default", "-bgrewriteaof")
    try:
        proof = erase_subject(subject(anna), worker.context, by="dora", now=NOW)
    finally:
        redis.execute_command("ACL", "SETUSER", "default", "+bgrewriteaof")
    assert (proof.is_clean, proof.is_over) == (not has_file, True)
    assert proof.unshown == [BROKER_FILE] * has_file
    assert any("does not rewrite" in note for note in proof.notes) == has_file


def test_an_erasure_says_that_the_broker_does_not_tell_of_its_file(
    worker: Worker, anna: str, broker_folder: Path
) -> None:
    redis: Any = worker.context.redis
    redis.execute_command("ACL", "SETUSER", "default", "-info")
    try:
        proof = erase_subject(subject(anna), worker.context, by="dora", now=NOW)
    finally:
        redis.execute_command("ACL", "SETUSER", "default", "+info")
    assert (proof.is_clean, proof.is_over, proof.unshown) == (False, True, [BROKER_FILE])
    assert any("does not say whether" in note for note in proof.notes)


def test_a_rewriting_that_fails_is_nothing_to_an_erasure_where_the_broker_has_no_such_file(
    worker: Worker, anna: str, broker_folder: Path
) -> None:
    worker.park(a_turn(anna, 5, SECRET))
    worker.context.redis.config_set("appendonly", "no")
    with rewriting_fails(worker, broker_folder, "before it began"):
        proof = erase_subject(subject(anna), worker.context, by="dora", now=NOW)
    assert (proof.is_clean, proof.unshown) == (True, [])


@contextmanager
def reading(files: list[Path]) -> Iterator[None]:
    """Read SQLite files all the while, as a backup does."""
    readers = [sqlite3.connect(file, isolation_level=None) for file in files]
    for reader in readers:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM sqlite_master").fetchall()
    try:
        yield
    finally:
        for reader in readers:
            reader.close()


@pytest.mark.parametrize("whose_files", ["index/*.sqlite3", "catalog.sqlite3"])
def test_an_erasure_does_not_say_that_nothing_is_left_while_a_reader_keeps_it_in_a_log(
    alone: Worker, anna: str, whose_files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.index.shard._TRACE_SECONDS", 0.05)
    monkeypatch.setattr("stores.catalog.writers._TRACE_MS", 50)
    alone.hear(anna, "I live in Lisbon")
    whose, folder = subject(anna), alone.context.settings.data_dir
    files = list(folder.glob(whose_files))
    assert files
    with reading(files):
        proof = erase_subject(whose, alone.context, by="dora", now=NOW)
        assert (proof.is_clean, proof.is_over, proof.unshown) == (False, False, [STORE_LOGS])
        assert any("still hold" in note for note in proof.notes)
        assert finish_erasures(alone.context, 10, NOW) == 0
    assert finish_erasures(alone.context, 10, NOW) == 1
    in_index = [path.name for path in folder.glob("index*/*") if whose.key.encode() in path.read_bytes()]
    assert in_index == []


def test_an_erasure_says_how_many_facts_left_a_graph_of_its_own(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.hear(anna, "I live in Lisbon", "My brother owns a bakery in Porto")
    counts = iter([{"graph": 32}, {"graph": 0}, {"graph": 0}])
    for module in ("subjects", "proof"):
        monkeypatch.setattr(f"memory.erasure.{module}.graph_facts", lambda *_, **__: next(counts))
    assert erase_subject(subject(anna), worker.context, by="dora", now=NOW).removed["graph"] == 32
