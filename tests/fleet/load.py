"""Turns whose outcome is known: what to send, and what the catalog must hold when all of it was processed."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from schema import MemoryType, Subject, memory_id
from tests.fleet.oracle import SENTENCES

_FIRST = datetime(2026, 11, 2, 8, tzinfo=UTC)
TENANT = "acme"


@dataclass(frozen=True)
class Said:
    """One turn: the `number`th of a user, in which an attribute takes a value."""

    tenant: str
    user: str
    number: int
    attribute: str
    value: str
    padding: str = ""

    @property
    def turn_id(self) -> str:
        return f"{self.user}-{self.number}"

    @property
    def subject(self) -> Subject:
        return Subject(tenant_id=self.tenant, subject_id=self.user)

    @property
    def memory_id(self) -> uuid.UUID:
        return memory_id(self.subject, MemoryType.SEMANTIC, self.turn_id, 0)

    def turn(self) -> dict[str, Any]:
        """The turn as a backend sends it."""
        messages = [{"role": "user", "content": f"fact {self.attribute} {self.value} of {self.user}"}]
        if self.padding:
            messages.append({"role": "assistant", "content": self.padding})
        return {
            "schema_version": 1,
            "turn_id": self.turn_id,
            "tenant_id": self.tenant,
            "user_id": self.user,
            "conversation_id": "c",
            "messages": messages,
            "occurred_at": (_FIRST + timedelta(seconds=self.number)).isoformat(),
        }


def fact(user: str, number: int, tenant: str = TENANT, value: str | None = None, padding: str = "") -> Said:
    """The `number`th turn of a user: each attribute has its turn, and a value that it never had before."""
    attribute = list(SENTENCES)[number % len(SENTENCES)]
    return Said(tenant, user, number, attribute, value or f"v{number:04}", padding)


def talk(users: Sequence[str], turns: int, *, seed: int = 0, tenant: str = TENANT) -> list[Said]:
    """`turns` turns of each user, in order for each and mixed over all."""
    order = [user for user in users for _ in range(turns)]
    random.Random(seed).shuffle(order)
    numbers: dict[str, Iterator[int]] = {user: iter(range(turns)) for user in users}
    return [fact(user, next(numbers[user]), tenant) for user in order]


def names(count: int, prefix: str = "user") -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]
