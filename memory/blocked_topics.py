"""Which topics that a subject has blocked a text is about, though it has none of their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from policies.language.heads import EMBEDDER
from policies.language.life_topic_head import life_topic_chances
from policies.topics import life_topics_blocked
from stores.embedding.base import Embedder

_LIKELY: Final = 0.25
"""How likely a text is of an everyday topic, from which on it is not kept where that is blocked: one too many is better
than one too few."""


def likely_about(text: str, topics: Sequence[str], embedder: Embedder, name: str = "") -> tuple[str, ...]:
    """Return the blocked topics that a text is likely about; `name` is what the user is called.

    Only where a topic is an everyday one as a whole ("my job"), and the embedder is the one that the head has learned
    from; there it is asked.

    Raises:
        EmbedderUnavailable: the embedder cannot be asked now.
    """
    meant = {topic: named for topic in topics if (named := life_topics_blocked(topic))}
    if not meant or embedder.name != EMBEDDER:
        return ()
    chances = life_topic_chances(text, embedder.embed([text])[0], name)
    return tuple(topic for topic, named in meant.items() if max(chances[one] for one in named) >= _LIKELY)
