"""Reviews, on which a person must decide: `reviews list`, `show`, `approve`, `reject`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import MOST_ROWS, ByOption, JsonOption, TenantOption, UserOption
from interfaces.cli.knowledge import one_memory
from interfaces.cli.output import console, errors, grid, memory_json, print_json, print_result, short
from memory.context import open_memory
from memory.leases import SubjectBusy
from memory.reviews import Approved, NotHidden, NotOpen, NotWanted, asked_in
from memory.reviews import approve as approve_review
from memory.reviews import reject as reject_review
from schema import Asker, Review, ReviewStatus, Subject, utc_iso
from schema.errors import ConcurrentChange
from schema.settings import load_settings
from stores.catalog import Catalog, open_catalog

IdArgument = Annotated[str, typer.Argument(help="A review's id, or the first characters of it.")]
IdsArgument = Annotated[list[str], typer.Argument(help="Ids of reviews, or the first characters of them.")]

app = typer.Typer(
    name="reviews",
    help=(
        "What a person must decide on: candidates before they may become memories (what came of a text with a planted "
        "instruction, and promotions that are not sure enough), and what a wish to forget may have meant."
    ),
    no_args_is_help=True,
)


@app.command("list")
def list_reviews(
    user: UserOption = None,
    tenant: TenantOption = "default",
    status: Annotated[
        ReviewStatus, typer.Option("--status", "-s", help="Which ones to list, by what became of them.")
    ] = ReviewStatus.OPEN,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MOST_ROWS, help="How many to show at most.")] = 100,
    as_json: JsonOption = False,
) -> None:
    """List what waits for a person, oldest first; of all tenants unless a user is named."""
    subject = Subject(tenant_id=tenant, subject_id=user) if user else None
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        reviews = catalog.reviews.page(subject, status=status, limit=limit)
        questions = [asked_in(review, catalog) for review in reviews]
    if as_json:
        print_json([_json(review) for review in reviews])
    elif reviews:
        console.print(_table(reviews, questions))
        if status is ReviewStatus.OPEN:
            console.print("`afterturn reviews show ID`, then `approve` or `reject`")
    else:
        console.print("nothing waits for a review" if status is ReviewStatus.OPEN else f"no review was {status.value}")


@app.command()
def show(review: IdArgument, as_json: JsonOption = False) -> None:
    """Show one: the candidate as it would be stored, or a wish and what it would forget, and why it was held back."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        chosen = _review_like(review, catalog)
        question = asked_in(chosen, catalog)
    print_result(_json(chosen), _details(chosen, question), as_json=as_json)


@app.command()
def approve(
    ids: IdsArgument,
    by: ByOption,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Of what a wish to forget hid, forget these memories alone; the others are told again."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Let them become memories: each goes through the ordinary decision of dedup, as if it had just been said. What a
    wish to forget hid is forgotten, or `--only` some of it; `afterturn reviews show ID` has the ids under "made of".

    One that can no longer be decided is named, and the exit code is 1.
    """
    done: list[Approved] = []
    failed: list[tuple[Review, str]] = []
    with closing(open_memory(load_settings(), makes_catalog=False)) as context:
        chosen = [one_memory(given, context.catalog).id for given in only] if only else None
        for review in [_review_like(given, context.catalog) for given in ids]:
            try:
                done.append(approve_review(review.id, context, by=by, now=datetime.now(UTC), only=chosen))
            except (NotOpen, ConcurrentChange):
                failed.append((review, "it is not open any more"))
            except (NotWanted, NotHidden, SubjectBusy) as error:
                failed.append((review, str(error)))
    if as_json:
        print_json(
            {
                "approved": [
                    {"id": str(approved.review.id), "memory": memory_json(approved.memory) if approved.memory else None}
                    for approved in done
                ],
                "failed": _failures(failed),
            }
        )
    else:
        for approved in done:
            became = f"memory {short(approved.memory.id)}" if approved.memory else "what is known already says it"
            if approved.review.asked_by is Asker.FORGETTING:
                became = "what --only names is forgotten, the rest is told again" if chosen else "it is forgotten"
            console.print(f"approved {short(approved.review.id)}: {became}")
    _end(failed, as_json=as_json)


@app.command()
def reject(ids: IdsArgument, by: ByOption, as_json: JsonOption = False) -> None:
    """Drop them for good; what a wish to forget hid is told again. An audit line without content stays."""
    done: list[Review] = []
    failed: list[tuple[Review, str]] = []
    with closing(open_memory(load_settings(), makes_catalog=False)) as context:
        for review in [_review_like(given, context.catalog) for given in ids]:
            try:
                done.append(reject_review(review.id, context, by=by, now=datetime.now(UTC)))
            except (NotOpen, ConcurrentChange):
                failed.append((review, "it is not open any more"))
    print_result(
        {"rejected": [str(review.id) for review in done], "failed": _failures(failed)},
        f"rejected: {', '.join(short(review.id) for review in done) or 'none'}",
        as_json=as_json,
    )
    _end(failed, as_json=as_json)


def _review_like(start: str, catalog: Catalog) -> Review:
    try:
        ids = catalog.reviews.ids_like(start)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if len(ids) > 1:
        raise typer.BadParameter(f"{start!r} begins several ids: give more of it ({', '.join(map(str, ids[:5]))} ...)")
    review = catalog.reviews.get(ids[0]) if ids else None
    if review is None:
        raise typer.BadParameter(f"there is no review {start!r}; `afterturn reviews list` has the ids")
    return review


def _json(review: Review) -> dict[str, Any]:
    return review.model_dump(mode="json")


def _failures(failed: Sequence[tuple[Review, str]]) -> list[dict[str, str]]:
    return [{"id": str(review.id), "because": why} for review, why in failed]


def _end(failed: Sequence[tuple[Review, str]], *, as_json: bool) -> None:
    for review, why in failed:
        if not as_json:
            errors.print(Text(f"{short(review.id)}: {why}", style="red"), soft_wrap=True)
    if failed:
        raise typer.Exit(1)


def _table(reviews: Sequence[Review], asked: Sequence[str]) -> Table:
    table = Table(expand=True)
    table.add_column("id", no_wrap=True, style="cyan")
    table.add_column("since", no_wrap=True)
    table.add_column("whose", no_wrap=True)
    table.add_column("why")
    table.add_column("would say", ratio=1)
    for review, question in zip(reviews, asked, strict=True):
        would_say = _wish(review, question) if review.asked_by is Asker.FORGETTING and question else question
        would_say = would_say or f"{review.status.value} by {review.decided_by}"
        since, why = utc_iso(review.opened_at)[:10], review.reason.replace("_", " ")
        table.add_row(short(review.id), since, Text(review.subject_id), why, Text(would_say))
    return table


def _wish(review: Review, hidden: str) -> str:
    """Return what a wish to forget said, and a line for each memory that it may have meant."""
    said = [f'"{review.wish}"'] if review.wish else []
    return "\n".join((*said, *(f"forget: {line}" for line in hidden.splitlines())))


def _details(review: Review, question: str) -> Panel:
    rows = {
        "id": str(review.id),
        "whose": f"{review.subject_id} (tenant {review.tenant_id})",
        "why": f"{review.reason}, asked by {review.asked_by.value}",
        "since": utc_iso(review.opened_at),
        "status": review.status.value,
        "decided": f"{utc_iso(review.decided_at)} by {review.decided_by}" if review.decided_at else "",
        "rules": review.policy_version,
        "made of": ", ".join(map(short, review.links)),
    }
    is_wish = review.asked_by is Asker.FORGETTING and bool(question)
    if is_wish:
        rows |= {"asked": review.wish or "", "in turn": review.wished_in or "", "would forget": question}
    if candidate := review.candidate:
        rows |= {
            "type": f"{candidate.type.value}, {candidate.kind.value}, {candidate.category}",
            "turn": candidate.turn_id,
            "when": utc_iso(candidate.occurred_at),
            "confidence": f"{candidate.confidence:.2f}",
            "tags": ", ".join(candidate.tags),
            "entities": ", ".join(f"{entity.text} ({entity.type})" for entity in candidate.entities),
            "facts": "; ".join(f"{fact.entity} {fact.verb} {fact.object}" for fact in candidate.facts),
        }
    title = "a wish to forget, in doubt" if is_wish else question or f"{review.status.value}: what it said is gone"
    return Panel(grid(rows), title=Text(title, style="bold"), title_align="left")
