"""Stories and textbooks: `documents put`, `list`, `show`, `delete`, `backfill`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.progress import Progress
from rich.table import Column, Table
from rich.text import Text

from interfaces.cli.arguments import JsonOption, TenantOption, identifier
from interfaces.cli.output import console, errors, print_json, print_result
from memory.context import open_memory
from memory.documents.delete import delete_document
from memory.documents.put import Accepted
from memory.documents.rights import NO_SUCH_DOCUMENT
from producers.document_files import UnreadableFile, read_bytes, read_file
from producers.documents import notify_workers, put_document
from schema import Document, DocumentState, KeptDocument, Subject, Visibility, utc_iso
from schema.errors import NotFound
from schema.settings import load_settings
from schema.wrong_fields import wrong_fields
from stores.catalog import open_catalog
from stores.open import Stores
from stores.queue import create_celery

SubjectArgument = Annotated[
    str, typer.Argument(help="Whose document it is: a user, or a story archive.", callback=identifier)
]
AnybodysArgument = Annotated[
    str | None, typer.Argument(help="Whose documents; all, unless it is given.", callback=identifier)
]
IdArgument = Annotated[str, typer.Argument(help="The document's id.")]
_LOOK_EVERY_SECONDS = 0.5
_DONE = (DocumentState.SEARCHABLE, DocumentState.QUARANTINED, DocumentState.REFUSED, DocumentState.FAILED)

app = typer.Typer(
    name="documents",
    help="Longer texts beside memories: stories and textbooks, cut into chunks and found by whom they are for.",
    no_args_is_help=True,
)


@app.command()
def put(
    subject: SubjectArgument,
    files: Annotated[
        list[Path], typer.Argument(help="Files: text, Markdown, PDF, HTML or DOCX; - reads text from standard input.")
    ],
    tenant: TenantOption = "default",
    document_id: Annotated[
        str | None, typer.Option("--id", help="Its id; the file's name without its ending, unless it is given.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Its title; what the file says of itself, unless it is given.")
    ] = None,
    visibility: Annotated[
        Visibility, typer.Option(help="Who may see it: public, private or personal.")
    ] = Visibility.PRIVATE,
    author: Annotated[
        str | None, typer.Option(help="Whose text it is; the subject, unless it is given.", callback=identifier)
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it is searchable.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Put documents, for a worker to make them searchable. The same again is no work."""
    if document_id is not None and len(files) > 1:
        raise typer.BadParameter("with several files each is called like its file", param_hint="--id")
    whose = Subject(tenant_id=tenant, subject_id=subject)
    settings = load_settings()
    done: list[tuple[Path, Accepted]] = []
    with closing(open_memory(settings)) as context, _progress() as progress:
        task = progress.add_task("documents", total=len(files))
        for file in files:
            document = _document(file, whose, document_id, title, visibility, author)
            done.append((file, put_document(None, document, context, context.celery, now=datetime.now(UTC))))
            progress.advance(task)
        if wait:
            ids = [accepted.document.document_id for _, accepted in done]
            _wait(whose, ids, context, progress)
        heads = context.catalog.documents.heads(whose, [accepted.document.document_id for _, accepted in done])
    if as_json:
        print_json(
            [{"outcome": accepted.outcome} | _shown(heads[accepted.document.document_id]) for _, accepted in done]
        )
        return
    for _, accepted in done:
        head = heads[accepted.document.document_id]
        console.print(Text(f"{head.document_id}: {accepted.outcome}, {_summary_of(head)}"))


@app.command("list")
def list_(
    subject: AnybodysArgument = None,
    tenant: TenantOption = "default",
    author: Annotated[
        str | None,
        typer.Option(help="Only those of this author, in any subject of the tenant.", callback=identifier),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List documents with where they stand."""
    whose = Subject(tenant_id=tenant, subject_id=subject) if subject else None
    by = Subject(tenant_id=tenant, subject_id=author) if author else None
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        documents = list(catalog.documents.every(whose, author=by))
    if as_json:
        print_json([_shown(document) for document in documents])
        return
    table = Table("subject", "id", "title", "for", "author", "chunks", Column("state", no_wrap=True), "changed")
    for document in documents:
        table.add_row(*(Text(cell) for cell in (
            document.subject_id, document.document_id, document.title or "", document.visibility,
            document.author_id or "", str(document.chunk_count), _state(document), utc_iso(document.updated_at)[:10],
        )))  # fmt: skip
    console.print(table)


@app.command()
def show(
    subject: SubjectArgument, document_id: IdArgument, tenant: TenantOption = "default", as_json: JsonOption = False
) -> None:
    """Show a document with its chunks."""
    whose = Subject(tenant_id=tenant, subject_id=subject)
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        document = catalog.documents.get(whose, document_id)
        if document is None:
            raise NotFound(NO_SUCH_DOCUMENT)
        chunks = catalog.documents.chunks_of(whose, document_id)
    if as_json:
        shown_chunks = [
            chunk.model_dump(mode="json", include={"id", "number", "start", "end", "page", "tokens", "content"})
            for chunk in chunks
        ]
        print_json(_shown(document) | {"chunks": shown_chunks})
        return
    console.print(Text(f"{document.title or document.document_id}: {_summary_of(document)}", style="bold"))
    console.print(Text(f"for {document.visibility}, by {document.author_id}, version {document.version}"))
    if document.state is DocumentState.WAITING:
        shown = "these are the chunks of the version before" if chunks else "its chunks are shown once a worker is done"
        console.print(Text(f"it is being read: {shown}", style="yellow"))
    for chunk in chunks:
        page = f", page {chunk.page}" if chunk.page else ""
        console.print(Text(f"-- {chunk.number + 1}: {chunk.tokens} tokens{page}", style="dim"))
        console.print(Text(chunk.content))


@app.command()
def delete(
    subject: SubjectArgument,
    document_id: IdArgument,
    tenant: TenantOption = "default",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a document with its chunks and vectors. A line without content stays in the audit."""
    whose = Subject(tenant_id=tenant, subject_id=subject)
    with closing(open_memory(load_settings(), makes_catalog=False)) as context:
        document = context.catalog.documents.heads(whose, [document_id]).get(document_id)
        if document is None:
            raise NotFound(NO_SUCH_DOCUMENT)
        if not (yes or as_json):
            errors.print(Text(f"{document.title or document_id}, {_counted(document.chunk_count)}"))
            typer.confirm("Delete this for good?", abort=True, err=True)
        gone = delete_document(document, context, by="operator", reason="deleted by command", now=datetime.now(UTC))
    print_result(
        {"document_id": document_id, "chunks_deleted": gone},
        Text(f"{document_id} is deleted with {_counted(gone)}"),
        as_json=as_json,
    )


@app.command()
def backfill(
    subject: AnybodysArgument = None,
    tenant: TenantOption = "default",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until all are searchable.")] = False,
) -> None:
    """Have workers make searchable what is not: what they have given up, and what another embedder made. Broken off, it
    goes on with what is left."""
    whose = Subject(tenant_id=tenant, subject_id=subject) if subject else None
    settings = load_settings()
    with closing(open_memory(settings, makes_catalog=False)) as context, _progress() as progress:
        model = context.embedder.name
        waiting = [document for document in context.catalog.documents.every(whose) if _wants_work(document, model)]
        task = progress.add_task("asked for", total=len(waiting))
        celery = create_celery(settings)
        for document in waiting:
            anew = document.state is DocumentState.SEARCHABLE
            if context.catalog.documents.ask_again(document.subject, document.document_id, anew=anew):
                notify_workers(document, celery)
            progress.advance(task)
        if wait:
            for whose_ in dict.fromkeys(document.subject for document in waiting):
                _wait(
                    whose_,
                    [document.document_id for document in waiting if document.subject == whose_],
                    context,
                    progress,
                )
    console.print(Text(f"asked for {len(waiting)} documents"))


def _wants_work(document: KeptDocument, model: str) -> bool:
    if document.state in {DocumentState.QUARANTINED, DocumentState.REFUSED}:
        return False
    return document.state is not DocumentState.SEARCHABLE or document.embedding_model != model


def _document(
    file: Path, whose: Subject, document_id: str | None, title: str | None, visibility: Visibility, author: str | None
) -> Document:
    if str(file) == "-":
        text, name = read_bytes(sys.stdin.buffer.read(), ".txt", "standard input"), document_id
        if name is None:
            raise typer.BadParameter("what comes from standard input needs an id", param_hint="--id")
    else:
        text, name = read_file(file), document_id or file.stem
    try:
        return Document(
            document_id=name,
            **whose.model_dump(),
            title=title or text.title,
            content=text.content,
            media_type=text.media_type,
            visibility=visibility,
            author_id=author,
            source_ref=None if str(file) == "-" else file.name,
            pages=text.pages,
        )
    except ValidationError as error:
        raise UnreadableFile(f"{file}: {wrong_fields(error)}") from error


def _wait(whose: Subject, ids: Sequence[str], stores: Stores, progress: Progress) -> None:
    task = progress.add_task("searchable", total=len(ids))
    while True:
        heads = stores.catalog.documents.heads(whose, ids)
        ready = sum(head.state in _DONE for head in heads.values()) + len(set(ids) - heads.keys())
        progress.update(task, completed=ready)
        if ready == len(ids):
            return
        time.sleep(_LOOK_EVERY_SECONDS)


def _progress() -> Progress:
    return Progress(console=console, transient=True)


def _summary_of(document: KeptDocument) -> str:
    why = f" ({document.failure})" if document.failure else ""
    return f"{_state(document)}{why}, {_counted(document.chunk_count)}"


def _counted(chunks: int) -> str:
    return "1 chunk" if chunks == 1 else f"{chunks} chunks"


def _state(document: KeptDocument) -> str:
    return "being read" if document.state is DocumentState.WAITING else document.state.value


def _shown(document: KeptDocument) -> dict[str, Any]:
    fields = {
        "tenant_id", "subject_id", "document_id", "title", "visibility", "author_id", "source_ref", "version",
        "chunk_count", "embedding_model", "failure", "created_at", "updated_at", "indexed_at",
    }  # fmt: skip
    return document.model_dump(mode="json", include=fields) | {"state": document.state}
