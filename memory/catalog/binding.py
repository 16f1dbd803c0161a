"""Conditions whose values are given when a statement runs, so that it is built once: to build one costs more than to
run it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, Table, bindparam

from memory.schema import Subject


def mine(table: Table) -> Any:
    """That a row is the subject's whom `whose` names."""
    return (table.c.tenant_id == bindparam("tenant")) & (table.c.subject_id == bindparam("subject"))


def whose(subject: Subject) -> dict[str, Any]:
    """The parameters that `mine` leaves open."""
    return {"tenant": subject.tenant_id, "subject": subject.subject_id}


def any_of(name: str) -> BindParameter[Any]:
    """For `column.in_`: a parameter that is given a list."""
    return bindparam(name, expanding=True)
