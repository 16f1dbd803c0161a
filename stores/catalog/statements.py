"""Pieces of statements that many tables share.

Where the values of a condition are given when a statement runs (`of_bound_subject`), it is built once: to build one
costs more than to run it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, Table, and_, bindparam
from sqlalchemy.dialects import postgresql, sqlite

from schema import Subject


def of_subject(table: Table, subject: Subject) -> Any:
    """Return that a row is the subject's."""
    return and_(table.c.tenant_id == subject.tenant_id, table.c.subject_id == subject.subject_id)


def of_bound_subject(table: Table) -> Any:
    """Return that a row is the subject's whom `subject_parameters` names."""
    return (table.c.tenant_id == bindparam("tenant")) & (table.c.subject_id == bindparam("subject"))


def ids_of_bound_subject(table: Table) -> Any:
    """Return that a row is one of the `ids`, and the subject's whom `subject_parameters` names: found by its id.

    SQLite does not know how many rows a subject has, and would look for a few ids among all of them (measured: 50 of
    10,000 took 9 ms, and 0.4 by their ids). It does not look through an expression.
    """
    return (
        table.c.id.in_(any_of("ids"))
        & (table.c.tenant_id.concat("") == bindparam("tenant"))
        & (table.c.subject_id.concat("") == bindparam("subject"))
    )


def subject_parameters(subject: Subject) -> dict[str, Any]:
    """Return the parameters that `of_bound_subject` leaves open."""
    return {"tenant": subject.tenant_id, "subject": subject.subject_id}


def any_of(name: str) -> BindParameter[Any]:
    """Return, for `column.in_`, a parameter that is given a list."""
    return bindparam(name, expanding=True)


def upsert(dialect: str, table: Table) -> Any:
    """Return the dialect's INSERT that knows ON CONFLICT, which SQLAlchemy does not have in common."""
    return (sqlite if dialect == "sqlite" else postgresql).insert(table)


def insert_new(dialect: str, table: Table) -> Any:
    """Return an INSERT that leaves a row that is there as it is: its `rowcount` says whether it was new."""
    return upsert(dialect, table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
