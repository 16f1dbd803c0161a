"""The way back in for dead letters, once what killed them is mended."""

from __future__ import annotations

from redis import Redis

from producers.client import parse_turn
from stores.plugin import needs_extra

with needs_extra("fleet", "producers.replay"):
    from celery import Celery

    from stores.catalog import Catalog
    from stores.dead_letters import DeadLetter, remove_dead_letter
    from stores.mailbox import Mailbox
    from stores.queue import send_turn


def replay(
    letter: DeadLetter, *, catalog: Catalog, mailbox: Mailbox, redis: Redis, celery: Celery, look_after: float
) -> None:
    """Enqueue a dead letter's turn again and take the letter out of the queue.

    The letter leaves last: whatever fails before, nothing of the turn is lost.

    Raises:
        InvalidTurn: it is no turn of this version; it has to be sent anew, corrected.
        ConflictingTurn: another turn has its id by now.
    """
    turn = parse_turn(letter.turn if isinstance(letter.turn, dict) else {})
    catalog.revive(turn.subject, turn.turn_id)
    mailbox.reopen(turn)
    if mailbox.append(turn, look_after).notify:
        send_turn(celery, turn)
    remove_dead_letter(redis, letter)
