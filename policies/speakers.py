"""Speakers of a turn: whose the user's messages are, where they carry several names."""

from __future__ import annotations

from schema import Turn


def of_one_user(turn: Turn) -> Turn:
    """Return a turn in which only one speaks as the user: whom their messages name by the user's id, or else first.

    What somebody of another name says is the other side's, as in a conversation with a person: it is understood, tells
    nothing of the user, and orders nothing. A message without a name is the user's.
    """
    own = turn.user_name()
    if all(message.role != "user" or message.name in (None, own) for message in turn.messages):
        return turn
    messages = tuple(
        message.model_copy(update={"role": "assistant"})
        if message.role == "user" and message.name not in (None, own)
        else message
        for message in turn.messages
    )
    return turn.model_copy(update={"messages": messages})
