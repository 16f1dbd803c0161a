"""A parsed sentence as plain values: what every rule about language reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its Penn tag, its dependency, and the place of its head in the sentence."""

    text: str
    space: bool
    tag: str
    dep: str
    head: int

    @property
    def lower(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Name:
    """A name with its spaCy label; `start` and `end` count tokens."""

    text: str
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed sentence."""

    tokens: tuple[Token, ...]
    names: tuple[Name, ...] = ()

    def children(self, index: int) -> list[int]:
        return [i for i, token in enumerate(self.tokens) if token.head == index and i != index]

    def subtree(self, index: int) -> list[int]:
        """Return the places of a word and of all that hangs on it, in order."""
        wanted = {index}
        grown = True
        while grown:
            grown = False
            for i, token in enumerate(self.tokens):
                if i not in wanted and token.head in wanted:
                    wanted.add(i)
                    grown = True
        return sorted(wanted)

    def slice(self, begin: int, end: int) -> Parsed:
        """Return the words from `begin` to before `end` as a sentence: what hung on a word outside hangs on none."""

        def moved(index: int, token: Token) -> Token:
            inside = begin <= token.head < end
            head = token.head - begin if inside else index - begin
            return Token(token.text, token.space, token.tag, token.dep if inside else "ROOT", head)

        names = (n for n in self.names if begin <= n.start and n.end <= end)
        return Parsed(
            tuple(moved(i, self.tokens[i]) for i in range(begin, end)),
            tuple(Name(n.text, n.label, n.start - begin, n.end - begin) for n in names),
        )

    def rewritten(
        self, words: Mapping[int, Token], dropped: Mapping[int, int] = MappingProxyType({}), names: Sequence[Name] = ()
    ) -> Parsed:
        """Return the sentence with other words at some places, and without those that are `dropped`, each of which
        stands with the one that it is given with; `names` are of the new words, by their old places."""
        kept = [index for index in range(len(self.tokens)) if index not in dropped]
        new_index = {index: at for at, index in enumerate(kept)}

        def placed(index: int) -> int:
            return new_index[dropped.get(index, index)]

        kept_names = [name for name in self.names if not any(i in words for i in range(name.start, name.end))]
        return Parsed(
            tuple(replace(words.get(i, self.tokens[i]), head=placed(self.tokens[i].head)) for i in kept),
            tuple(Name(n.text, n.label, placed(n.start), placed(n.end - 1) + 1) for n in (*kept_names, *names)),
        )

    def is_past(self) -> bool:
        """Return whether the main verb is in the past or the perfect tense; what has been and what one has got still
        are."""
        root = next((i for i, token in enumerate(self.tokens) if token.dep == "ROOT"), None)
        if root is None:
            return False
        helpers = [self.tokens[child].lower for child in self.children(root) if self.tokens[child].dep == "aux"]
        if self.tokens[root].tag == "VBD" or "did" in helpers:
            return True
        return (
            self.tokens[root].tag == "VBN"
            and self.tokens[root].lower not in ("been", "got")
            and bool({"have", "has", "'ve", "had"} & set(helpers))
        )

    def text_of(self, places: Sequence[int]) -> str:
        """Return the words at these places as text."""
        return "".join(self.tokens[i].text + (" " if self.tokens[i].space else "") for i in places).strip()
