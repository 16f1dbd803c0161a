"""Which memories a person means who asks for something to be forgotten."""

from __future__ import annotations

import re
from typing import Final

from policies.language import wording
from schema import Candidate, Memory, MemoryType, Policy

_WHOSE: Final = re.compile(r"^(?:the user|[^\W\d_][\w-]{0,60})(?:['’]s)?\s+", re.IGNORECASE)
_SHARED: Final = 0.5
"""Share of the request's content words that a memory near it must have."""


def is_meant(what: str, memory: Memory | Candidate, similarity: float | None, policy: Policy) -> bool:
    """Whether a memory is what a request to forget speaks of.

    `what` is the request's object in the third person ("Maya's divorce"), `similarity` its cosine to the memory's
    summary where that is known. A memory is meant when it has every content word of the request, or is as near as
    the same fact, or is about the same thing and has half of the words. Whose it is does not count as a word: all
    of a subject's memories are about the subject.
    """
    semantic = memory.type is not MemoryType.EPISODIC
    same = policy.semantic_auto_update if semantic else policy.episodic_auto_update
    near = policy.semantic_check_low if semantic else policy.episodic_check_low
    asked = wording.read(_WHOSE.sub("", what, count=1)).words
    shared = len(asked & wording.read(memory.summary).words) / len(asked) if asked else 0.0
    if shared == 1.0:
        return True
    return similarity is not None and (similarity >= same or (similarity >= near and shared >= _SHARED))
