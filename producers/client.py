"""The way in for a chat backend: `enqueue(turn)` after the response has gone out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import ValidationError

from memory.mailbox import Appended
from memory.queue import create_celery, open_mailbox, send_turn
from memory.redis import open_redis
from memory.schema import Turn
from memory.settings import Settings, load_settings


class InvalidTurn(ValueError):
    """The turn cannot be taken. The message says which field is wrong and how."""


class Producer:
    """Enqueues turns. Make one per process and share it between threads."""

    def __init__(self, settings: Settings) -> None:
        self._app = create_celery(settings)
        self._mailbox = open_mailbox(settings, open_redis(settings), self._app)
        self._look_after = settings.sweep_seconds

    def enqueue(self, turn: Turn | Mapping[str, Any]) -> Appended:
        """Hand over one turn: parked in its subject's mailbox first, then announced by a message.

        Once it is parked it will be processed, even if the message is lost. Enqueuing the same turn again changes
        nothing and says so: `pending` while it waits, `done` after it was processed.

        Raises:
            InvalidTurn: a field is missing, unknown or wrong, or the text is too long.
            ConflictingTurn: another turn was enqueued under the same turn_id.
            redis.exceptions.ConnectionError: the broker does not answer.
        """
        accepted = parse_turn(turn)
        receipt = self._mailbox.append(accepted, self._look_after)
        if receipt.ring:
            send_turn(self._app, accepted)
        return receipt.appended


def parse_turn(turn: Turn | Mapping[str, Any]) -> Turn:
    """The turn, checked.

    Raises:
        InvalidTurn: it breaks the contract; the message names every wrong field.
    """
    if isinstance(turn, Turn):
        return turn
    try:
        return Turn.model_validate(turn)
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, problem['loc'])) or 'turn'}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors(include_input=False, include_url=False)
        )
        raise InvalidTurn("; ".join(problems)) from None


@cache
def _default_producer() -> Producer:
    return Producer(load_settings())


def enqueue(turn: Turn | Mapping[str, Any]) -> Appended:
    """`Producer.enqueue` with the settings of the environment."""
    return _default_producer().enqueue(turn)
