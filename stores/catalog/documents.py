"""Documents and their chunks: how they are read, claimed and written."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, delete, func, insert, or_, select, tuple_, update

import stores.catalog.document_tables as document_tables
import stores.catalog.tables as tables
from schema import Chunk, KeptDocument, Labels, Subject, Visibility
from schema.errors import ConcurrentChange
from stores.catalog.changes import Changes, DocumentWrite
from stores.catalog.rows import subject_of
from stores.catalog.statements import ids_of_bound_subject, insert_new, of_bound_subject, of_subject, subject_parameters
from stores.catalog.store import Store
from stores.catalog.summaries import Summaries, Summary

_DOCUMENTS, _CHUNKS, _SUBJECTS = document_tables.documents, document_tables.chunks, tables.subjects
_SAME = and_(*(_DOCUMENTS.c[name] == _CHUNKS.c[name] for name in ("tenant_id", "subject_id", "document_id")))
_WHOLE_CHUNKS = select(_CHUNKS, _DOCUMENTS.c.visibility, _DOCUMENTS.c.author_id, _DOCUMENTS.c.created_at).select_from(
    _CHUNKS.join(_DOCUMENTS, _SAME)
)
_HEADS = [column for column in _DOCUMENTS.c if column.name not in {"content", "taken_at"}]
_REVISION = select(_SUBJECTS.c.revision, _SUBJECTS.c.chunks_removed).where(of_bound_subject(_SUBJECTS))
_SAID = (
    select(_CHUNKS.c.id, _CHUNKS.c.content, _CHUNKS.c.document_id, _DOCUMENTS.c.created_at)
    .select_from(_CHUNKS.join(_DOCUMENTS, _SAME))
    .where(of_bound_subject(_CHUNKS))
)
_SAID_SINCE = _SAID.where(_CHUNKS.c.revision > bindparam("since"))
_LIVING = select(_CHUNKS.c.id).where(of_bound_subject(_CHUNKS))
_LABELS = select(_DOCUMENTS.c.document_id, _DOCUMENTS.c.visibility, _DOCUMENTS.c.author_id).where(
    of_bound_subject(_DOCUMENTS)
)
_LABELLED = ("visibility", "author_id", "source_ref", "occurred_at")
_CHUNKS_AMONG = _WHOLE_CHUNKS.where(ids_of_bound_subject(_CHUNKS))
_PLACES = select(_CHUNKS.c.id, _CHUNKS.c.document_id, _CHUNKS.c.number).where(ids_of_bound_subject(_CHUNKS))
_A_PAGE = 100
_COLUMNS = frozenset(column.name for column in _DOCUMENTS.c)
_CHUNK_COLUMNS = frozenset(column.name for column in _CHUNKS.c)


@dataclass(frozen=True)
class DocumentCounts:
    """Numbers of documents, of searchable versions and of chunks."""

    documents: int
    waiting: int
    chunks: int


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """Place of a chunk in its document, counted from 0."""

    document_id: str
    number: int


class DocumentStore(Store):
    """Documents. Safe to call from many threads and processes."""

    def get(self, subject: Subject, document_id: str) -> KeptDocument | None:
        """Return a document whole, if the subject has one of this id."""
        row = self._row(select(_DOCUMENTS).where(_is(subject, document_id)))
        return None if row is None else _document(row)

    def heads(self, subject: Subject, ids: Iterable[str]) -> dict[str, KeptDocument]:
        """Return the subject's documents under these ids, without their content; others are left out."""
        query = select(*_HEADS).where(of_subject(_DOCUMENTS, subject), _DOCUMENTS.c.document_id.in_(list(ids)))
        return {row.document_id: _head(row) for row in self._rows(query)}

    def every(
        self, subject: Subject | None = None, *, author: Subject | None = None, after: str = ""
    ) -> Iterator[KeptDocument]:
        """Yield the documents of one subject or of all, or of one author in any, without content, in the order of their
        ids, read a page at a time; those of one subject from behind the id `after` on."""
        keys = (_DOCUMENTS.c.tenant_id, _DOCUMENTS.c.subject_id, _DOCUMENTS.c.document_id)
        query = select(*_HEADS).order_by(*keys).limit(_A_PAGE)
        if subject is not None:
            query = query.where(of_subject(_DOCUMENTS, subject))
        if author is not None:
            query = query.where(_DOCUMENTS.c.tenant_id == author.tenant_id, _DOCUMENTS.c.author_id == author.subject_id)
        page = self._rows(query.where(_DOCUMENTS.c.document_id > after) if after else query)
        while page:
            yield from map(_head, page)
            last = page[-1]
            page = self._rows(query.where(tuple_(*keys) > (last.tenant_id, last.subject_id, last.document_id)))

    def waiting(self, before: datetime, limit: int) -> list[tuple[Subject, str]]:
        """Return documents of which a version is to be made searchable since before a moment, and that nobody has
        taken since then, oldest first."""
        query = (
            select(_DOCUMENTS.c.tenant_id, _DOCUMENTS.c.subject_id, _DOCUMENTS.c.document_id)
            .where(
                _DOCUMENTS.c.indexed_version < _DOCUMENTS.c.version,
                ~_DOCUMENTS.c.quarantined,
                _DOCUMENTS.c.failure.is_(None),
                func.coalesce(_DOCUMENTS.c.taken_at, _DOCUMENTS.c.updated_at) < before,
            )
            .order_by(_DOCUMENTS.c.updated_at)
            .limit(limit)
        )
        return [(subject_of(row), row.document_id) for row in self._rows(query)]

    def take(self, subject: Subject, document_id: str, now: datetime, free_before: datetime) -> KeptDocument | None:
        """Take a document that is to be made searchable, unless another has taken it since `free_before`; it counts as
        a try. None where there is nothing to do, or another does it."""
        claim = (
            update(_DOCUMENTS)
            .where(
                _is(subject, document_id),
                _DOCUMENTS.c.indexed_version < _DOCUMENTS.c.version,
                ~_DOCUMENTS.c.quarantined,
                # A notification may come twice, and of what was refused nothing is left to read.
                _DOCUMENTS.c.failure.is_(None),
                or_(_DOCUMENTS.c.taken_at.is_(None), _DOCUMENTS.c.taken_at < free_before),
            )
            .values(taken_at=now, tries=_DOCUMENTS.c.tries + 1)
            .returning(*_DOCUMENTS.c)
        )
        row = self._writers.write(lambda connection: connection.execute(claim).one_or_none())
        return None if row is None else _document(row)

    def keep(self, document: KeptDocument, now: datetime) -> bool:
        """Say that who has taken a document is still at it. False where it is at another version by now, or gone."""
        kept = (
            update(_DOCUMENTS)
            .where(_is(document.subject, document.document_id), _at_version(document))
            .values(taken_at=now)
        )
        return self._run(kept) == 1

    def give_back(self, document: KeptDocument, *, tries: int, failure: str | None) -> None:
        """Let another take a document at once; with a `failure` nobody, until somebody asks for it."""
        back = (
            update(_DOCUMENTS)
            .where(_is(document.subject, document.document_id), _at_version(document))
            .values(taken_at=None if failure else _DOCUMENTS.c.taken_at, tries=tries, failure=failure)
        )
        self._run(back)

    def ask_again(self, subject: Subject, document_id: str, *, anew: bool) -> bool:
        """Let workers try a document again that they have given up; with `anew` one that is searchable, too: its
        chunks are made and embedded once more. False where there is nothing to do."""
        wanted = _DOCUMENTS.c.version >= 1 if anew else _DOCUMENTS.c.indexed_version < _DOCUMENTS.c.version
        again = (
            update(_DOCUMENTS)
            .where(_is(subject, document_id), wanted, ~_DOCUMENTS.c.quarantined)
            .values(tries=0, failure=None, taken_at=None)
        )
        if anew:
            again = again.values(version=_DOCUMENTS.c.version + 1, indexed_digest="")
        return self._run(again) == 1

    def under_legal_hold(self, subject: Subject | None = None, *, limit: int | None = None) -> list[KeptDocument]:
        """Return the documents under legal hold of one subject or of all, without content, in the order of their
        ids."""
        query = select(*_HEADS).where(_DOCUMENTS.c.legal_hold).limit(limit)
        if subject is not None:
            query = query.where(of_subject(_DOCUMENTS, subject))
        query = query.order_by(_DOCUMENTS.c.tenant_id, _DOCUMENTS.c.subject_id, _DOCUMENTS.c.document_id)
        return [_head(row) for row in self._rows(query)]

    def chunks_of(self, subject: Subject, document_id: str) -> list[Chunk]:
        """Return a document's chunks in their order."""
        query = _WHOLE_CHUNKS.where(of_subject(_CHUNKS, subject), _CHUNKS.c.document_id == document_id)
        return [_chunk(row) for row in self._rows(query.order_by(_CHUNKS.c.number))]

    def chunks(self, subject: Subject, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Chunk]:
        """Return the subject's chunks under these ids; others are left out."""
        wanted = list(ids)
        if not wanted:
            return {}
        rows = self._rows(_CHUNKS_AMONG, subject_parameters(subject) | {"ids": wanted})
        return {row.id: _chunk(row) for row in rows}

    def places(self, subject: Subject, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, ChunkPlace]:
        """Return where the subject's chunks under these ids stand; others are left out. A tenth of what `chunks`
        costs."""
        wanted = list(ids)
        if not wanted:
            return {}
        rows = self._rows(_PLACES, subject_parameters(subject) | {"ids": wanted})
        return {row.id: ChunkPlace(row.document_id, row.number) for row in rows}

    def words(self, subject: Subject, since: int | None = None) -> Summaries:
        """Return what the subject's chunks say, and who may see their documents; of the chunks only what was written
        since a revision, if one is given."""
        with self._engine.connect() as connection:
            return _read_words(connection, subject, since)

    def counts(self) -> DocumentCounts:
        """Return how many there are."""
        waiting = func.count().filter(_DOCUMENTS.c.indexed_version < _DOCUMENTS.c.version)
        with self._engine.connect() as connection:
            documents, behind = connection.execute(select(func.count(), waiting).select_from(_DOCUMENTS)).one()
            chunks = connection.execute(select(func.count()).select_from(_CHUNKS)).scalar_one()
        return DocumentCounts(documents, behind, chunks)


def write_documents(connection: Connection, changes: Changes, revision: int) -> None:
    """Write documents and replace their chunks.

    Raises:
        ConcurrentChange: one is no longer as it was read.
    """
    for write in changes.documents:
        if write.read is None:
            row = connection.execute(insert_new(connection.dialect.name, _DOCUMENTS), _row(write.document))
            if row.rowcount != 1:
                raise ConcurrentChange
        else:
            _change(connection, write, write.read)
        if write.chunks is not None or write.gone:
            _replace_chunks(connection, write, revision)
    if any(write.gone for write in changes.documents):
        connection.execute(
            update(_SUBJECTS).where(of_subject(_SUBJECTS, changes.subject)).values(chunks_removed=revision)
        )


def _change(connection: Connection, write: DocumentWrite, read: KeptDocument) -> None:
    mine = and_(
        _is(read.subject, read.document_id),
        _at_version(read),
        _DOCUMENTS.c.indexed_version == read.indexed_version,
        _DOCUMENTS.c.legal_hold == read.legal_hold,
        # Who may see what waits for a person is changed without a new version.
        *(_DOCUMENTS.c[name].is_not_distinct_from(getattr(read, name)) for name in _LABELLED),
    )
    if write.is_deleted:
        # Its chunks first: SQLite looks for them row by row otherwise.
        connection.execute(
            delete(_CHUNKS).where(of_subject(_CHUNKS, read.subject), _CHUNKS.c.document_id == read.document_id)
        )
        done = connection.execute(delete(_DOCUMENTS).where(mine))
    else:
        done = connection.execute(update(_DOCUMENTS).where(mine).values(_row(write.document)))
    if done.rowcount != 1:
        raise ConcurrentChange


def _replace_chunks(connection: Connection, write: DocumentWrite, revision: int) -> None:
    connection.execute(
        delete(_CHUNKS).where(
            of_subject(_CHUNKS, write.document.subject), _CHUNKS.c.document_id == write.document.document_id
        )
    )
    if write.chunks:
        rows = [chunk.model_dump(include=set(_CHUNK_COLUMNS)) | {"revision": revision} for chunk in write.chunks]
        connection.execute(insert(_CHUNKS), rows)


def _read_words(connection: Connection, subject: Subject, since: int | None) -> Summaries:
    row = connection.execute(_REVISION, subject_parameters(subject)).one_or_none()
    if row is None:
        return Summaries(0, (), whole=True)
    if row.revision == since:
        return Summaries(row.revision, (), whole=False)
    # A chunk that went leaves no row to tell of it; to read the words of those that stay takes a hundred times as long
    # as to read their ids.
    is_whole = since is None or since > row.revision
    something_went = not is_whole and since is not None and since < row.chunks_removed
    chunks = connection.execute(
        *(
            (_SAID, subject_parameters(subject))
            if is_whole
            else (_SAID_SINCE, subject_parameters(subject) | {"since": since})
        )
    )
    summaries = tuple(
        Summary(chunk.id, chunk.content, None, chunk.created_at, live=True, group=chunk.document_id) for chunk in chunks
    )
    return Summaries(
        row.revision,
        summaries,
        whole=is_whole,
        living=frozenset(connection.execute(_LIVING, subject_parameters(subject)).scalars())
        if something_went
        else None,
        documents={
            document.document_id: Labels(Visibility(document.visibility), document.author_id)
            for document in connection.execute(_LABELS, subject_parameters(subject))
        },
    )


def read_held(connection: Connection, subject: Subject) -> list[str]:
    """Return the ids of a subject's documents under legal hold."""
    held = select(_DOCUMENTS.c.document_id).where(of_subject(_DOCUMENTS, subject), _DOCUMENTS.c.legal_hold)
    return list(connection.execute(held).scalars())


def _is(subject: Subject, document_id: str) -> Any:
    return and_(of_subject(_DOCUMENTS, subject), _DOCUMENTS.c.document_id == document_id)


def _at_version(document: KeptDocument) -> Any:
    return and_(_DOCUMENTS.c.incarnation == document.incarnation, _DOCUMENTS.c.version == document.version)


def _row(document: KeptDocument) -> dict[str, Any]:
    row = document.model_dump(include=set(_COLUMNS))
    author_id = document.author_id or document.subject_id
    return row | {"author_id": author_id, "pages": list(document.pages), "taken_at": None}


def _document(row: Row[Any]) -> KeptDocument:
    return KeptDocument.model_validate(dict(row._mapping))


def _head(row: Row[Any]) -> KeptDocument:
    # What is not read is not there to be validated; nobody who asks for heads looks at it.
    return KeptDocument.model_construct(**_typed(dict(row._mapping)), content="")


def _typed(columns: dict[str, Any]) -> dict[str, Any]:
    whole = KeptDocument.model_validate(columns | {"content": "-"})
    return {name: getattr(whole, name) for name in columns}


def _chunk(row: Row[Any]) -> Chunk:
    return Chunk.model_validate({name: value for name, value in row._mapping.items() if name != "revision"})
