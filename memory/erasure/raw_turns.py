"""Raw turns of which one memory is erased and another is not: they stay for the other's sake, with its words only."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from policies.raw_turns import without_erased
from schema import Memory, Subject, Turn
from stores.catalog import Catalog


def reduced_turns(
    subject: Subject, deleted: Sequence[Memory], catalog: Catalog, made: Sequence[Memory] = ()
) -> list[Turn]:
    """Return the raw turns that some of the deleted memories came of, and others too, without what only those tell;
    `made` are of the others, and not in the catalog yet. Those of a memory under legal hold stay as they were said."""
    turn_ids = sorted({turn_id for memory in deleted for turn_id in memory.source_turn_ids})
    gone = {memory.id for memory in deleted}
    others = catalog.memories(subject, [id_ for id_ in catalog.erasures.made_of(subject, turn_ids) if id_ not in gone])
    reduced = []
    for turn in catalog.sources(subject, turn_ids):
        staying = [memory for memory in (*others.values(), *made) if turn.turn_id in memory.source_turn_ids]
        summaries = [memory.summary for memory in staying]
        erased = [memory.summary for memory in deleted if turn.turn_id in memory.source_turn_ids]
        if summaries and not any(memory.legal_hold for memory in staying):
            reduced.append(reduced_turn(turn, erased, summaries))
    return reduced


def reduced_turn(turn: Turn, gone: Collection[str], summaries: Collection[str]) -> Turn:
    """Return a raw turn without what only the summaries that are `gone` tell, and not those that are `kept`."""
    messages = tuple(
        message.model_copy(update={"content": without_erased(message.content, gone, summaries)})
        for message in turn.messages
    )
    attachments = tuple(
        attachment.model_copy(update={"title": without_erased(attachment.title, gone, summaries)})
        if attachment.title
        else attachment
        for attachment in turn.attachments
    )
    metadata = {
        name: without_erased(value, gone, summaries) if isinstance(value, str) else value
        for name, value in turn.metadata.items()
    }
    return turn.model_copy(update={"messages": messages, "attachments": attachments, "metadata": metadata})
