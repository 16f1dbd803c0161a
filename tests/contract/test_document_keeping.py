"""Documents under legal hold, of an author who is erased, and carried to another catalog."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.documents.delete import delete_document, deletion
from memory.documents.put import PutOutcome
from memory.erasure.authored import AUTHORED
from memory.erasure.subjects import erase_subject
from memory.export import export
from memory.export_lines import NotALine
from memory.imports import import_lines
from memory.legal_holds import set_legal_hold
from memory.publish import publish
from recall.excerpts import find_excerpts
from schema import DocumentState, KeptDocument, PreferenceName, Seen, Subject, Visibility
from schema.errors import ConcurrentChange, UnderLegalHold
from stores.catalog import Changes
from tests.contract.pipeline import Worker, on_every_store
from tests.contract.test_documents import BOAT, MILL, NOW, archive, carry, near, put, story, want
from tests.turns import subject


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_every_store(metafunc)


def hold(worker: Worker, whose: Subject, *, holds: bool = True) -> list[KeptDocument]:
    changed = set_legal_hold(
        whose, (), worker.context, document_ids=["story-1"], why="case 17", by="dora", now=NOW, holds=holds
    )
    return changed.documents


class TestLegalHold:
    def test_what_is_held_can_neither_go_nor_say_something_else_until_the_hold_is_lifted(
        self, worker: Worker, anna: str
    ) -> None:
        whose = archive(anna)
        put(worker, story(whose))
        carry(worker, whose)
        [held] = hold(worker, whose)
        assert hold(worker, whose) == [], "it was already"
        for attempt in (
            lambda: delete_document(held, worker.context, by="ana", reason="asked", now=NOW),
            lambda: erase_subject(whose, worker.context, by="operator", now=NOW),
            lambda: put(worker, story(whose, BOAT)),
        ):
            with pytest.raises(UnderLegalHold, match=r"1 documents .*story-1.*holds lift --user SUBJECT --document"):
                attempt()
        assert near(worker, whose, "mill") == [MILL.strip()]
        assert put(worker, story(whose, visibility=Visibility.PUBLIC)).outcome is PutOutcome.RELABELLED
        kept = carry(worker, whose)
        assert kept is not None
        assert (kept.legal_hold, kept.state) == (True, DocumentState.SEARCHABLE)
        hold(worker, whose, holds=False)
        delete_document(kept, worker.context, by="ana", reason="asked", now=NOW)
        # All at one moment: in which order a database tells its rows is its own affair.
        assert sorted(worker.audited(whose)) == ["document_deleted", "document_indexed", "held", "lifted"]

    def test_a_hold_between_reading_and_deleting_counts(self, worker: Worker, anna: str) -> None:
        whose = archive(anna)
        put(worker, story(whose))
        before = carry(worker, whose)
        assert before is not None
        write, line, event = deletion(before, "asked", worker.context, by="ana", now=NOW)
        hold(worker, whose)
        changes = Changes(subject=whose, at=NOW, documents=(write,), audit=(line,), events=(event,))
        with pytest.raises(ConcurrentChange):
            publish(changes, {}, worker.context)
        assert near(worker, whose, "mill") == [MILL.strip()]

    def test_a_topic_that_is_blocked_later_drops_nothing_that_is_held(self, worker: Worker, anna: str) -> None:
        whose = archive(anna)
        put(worker, story(whose, BOAT))
        carry(worker, whose)
        hold(worker, whose)
        want(worker, whose, PreferenceName.BLOCKED_TOPIC, "boats")
        worker.context.catalog.documents.ask_again(whose, "story-1", anew=True)
        kept = carry(worker, whose)
        assert kept is not None
        assert (kept.state, kept.content) == (DocumentState.SEARCHABLE, BOAT)
        assert find_excerpts(None, [whose], "Who built the boat Clementine?", worker.context) == []


class TestAuthors:
    def test_an_erasure_names_what_they_wrote_elsewhere_and_takes_what_was_theirs_alone_if_asked(
        self, worker: Worker, anna: str
    ) -> None:
        whose, author = archive(anna), Subject(tenant_id="acme", subject_id=anna)
        for visibility in (Visibility.PUBLIC, Visibility.PERSONAL):
            given = story(whose, visibility=visibility)
            put(worker, given.model_copy(update={"document_id": visibility.value, "author_id": anna}))
            carry(worker, whose, visibility.value)
        proof = erase_subject(author, worker.context, by="operator", now=NOW)
        [note] = [note for note in proof.notes if "other archives" in note]
        assert f"{whose.subject_id}/personal (personal), {whose.subject_id}/public (public)" in note
        assert len(near(worker, whose, "mill")) == 2
        proof = erase_subject(author, worker.context, by="operator", now=NOW, authored=True)
        assert (proof.removed[AUTHORED], proof.left[AUTHORED]) == (1, 0)
        assert [one.document_id for one in worker.context.catalog.documents.every(whose)] == ["public"]
        assert len(near(worker, whose, "mill")) == 1


class TestExport:
    def test_documents_are_exported_masked_and_imported_to_be_read_anew(self, worker: Worker, anna: str) -> None:
        whose, there = archive(anna), archive(f"{anna}-there")
        put(worker, story(whose, title="The mill", pages=(0,)))
        carry(worker, whose)
        waiting = story(whose, BOAT + "The key is AKIAIOSFODNN7EXAMPLE.", visibility=Visibility.PERSONAL)
        put(worker, waiting.model_copy(update={"document_id": "waiting"}))
        hold(worker, whose)
        lines = list(export(worker.context, subject=whose))
        assert "AKIAIOSFODNN7EXAMPLE" not in "".join(lines)
        seen = (Seen((Visibility.PUBLIC, Visibility.PRIVATE)),)
        assert len(list(export(worker.context, subject=whose, seen=seen))) == len(lines) - 1
        moved = [line.replace(whose.subject_id, there.subject_id) for line in lines]
        for expected in ((2, 0), (0, 2)):
            result = import_lines(moved, worker.context, by="operator", now=NOW)
            assert (result.documents, result.known_documents) == expected
        kept = carry(worker, there)
        assert kept is not None
        assert (kept.title, kept.content, kept.pages, kept.author_id) == ("The mill", MILL, (0,), "ana")
        assert (kept.legal_hold, kept.state) == (True, DocumentState.SEARCHABLE)
        with pytest.raises(NotALine, match="line 1 is no document"):
            import_lines(['{"document": {"content": "my secret"}}'], worker.context, by="operator", now=NOW)

    def test_one_that_may_not_be_kept_is_counted_and_what_is_behind_it_is_kept(self, worker: Worker, anna: str) -> None:
        whose, refusing, there = archive(anna), archive(f"{anna}-refusing"), archive(f"{anna}-there")
        put(worker, story(whose))
        carry(worker, whose)
        want(worker, refusing, PreferenceName.CONSENT, "withdrawn")
        lines = list(export(worker.context, subject=whose))
        moved = [line.replace(whose.subject_id, to.subject_id) for to in (refusing, there) for line in lines]
        result = import_lines(moved, worker.context, by="operator", now=NOW)
        assert (result.documents, result.refused_documents) == (1, 1)

    def test_what_came_before_a_line_that_is_none_is_written(self, worker: Worker, anna: str) -> None:
        worker.hear(anna, "I live in Lisbon.")
        lines = list(export(worker.context, subject=subject(anna)))
        erase_subject(subject(anna), worker.context, by="operator", now=NOW)
        with pytest.raises(NotALine, match="line 3"):
            import_lines([*lines, "not json"], worker.context, by="operator", now=datetime.now(UTC))
        assert len(worker.known(subject(anna))) == 1
