"""Summaries that tell several things: cut into pieces, and what is left of them told again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

_FOLLOWS: Final = re.compile(
    r"(?:so|hence|therefore|thus|which|who|whose|whom|where|when|because|although|though|no|not|never|without|with|"
    r"including|especially|mostly|mainly|only|just)\b",
    re.IGNORECASE,
)
"""Words that begin what follows from the piece before, or belongs to it: "so spreadsheets are fine", "no sugar"."""
_DENIES: Final = re.compile(r"(?:No|Not|Never|Without)\b")
"""Words of those that may as well begin a sentence: "No shrimp for me though"."""
_OF_WHO_WAS_NAMED: Final = re.compile(r"\b(?:he|she)\b", re.IGNORECASE)
"""A word in a fragment for somebody whom only what stands before it names: "vet says she has to lose a kilo"."""
_LEANS: Final = re.compile(r"(?:they|their|they're|he|she|his|her|it|its|it's)\b", re.IGNORECASE)
"""A sentence that means nothing without the one before it: "It was awful"."""
_PIECES: Final = re.compile(
    r"(?<=[.!?])(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bSt\.) +(?=(?-i:[A-Z]))|; +"
    r"|,?(?<!\bme)(?<!\bthem) +(?:and|but|while) +(?=(?:they|their|they're|he|she|his|her|it|it's|its|the|my|i|"
    r"i'm|i've|we|we're|our)\b)|, +(?=(?:they|their|my|i|i'm|we|our)\b)",
    re.IGNORECASE,
)
"""Where a summary that tells several things may be cut: between clauses with a subject of their own,
as in "Maya swims and her son dives"."""
_OF_SOMEBODY: Final = (
    r"[A-Z][\w-]+(?: [A-Z][\w-]+)?"
    r"(?:['’]s (?:an?|the|not|in|at|on|[a-z]+(?:ing|ed|en|one))|"
    r" (?:is|was|has|had|will|would|can|does|did|[a-z]{2,}(?:[a-rt-z]s|ed)))\b"
)
"""The beginning of a clause about somebody who is named: "Hamza's started guitar"."""
_NAMED_BEFORE: Final = re.compile(
    r"(?i:he|she|it|his|her|its|(?:that|this|those|these)(?= (?:is|was|are|were|has|had)\b|['’]s\b))\b"
    r"|(?i:i|we|you|they)(?:['’][a-z]+)? +(?:(?!tell|told|ask|warn|remind)[a-z'’]+ +){0,2}?"
    r"(?:him|it|them|her(?= *(?:\Z|[^\w\s]|(?:for|to|in|on|since)\b)))\b"
)
"""A clause of which only another one names whom or what it tells of: "We'd had him for fourteen years"."""
_OTHERS: Final = re.compile(r"they\b", re.IGNORECASE)
"""Others whom somebody named before: in a quotation "they" are not the speaker."""
_OF_WHOM: Final = re.compile(r"\b(?:they|their|theirs|them|themself|themselves)\b", re.IGNORECASE)
"""Words by which a summary speaks of the user, who says none of them of themself: "them"."""
_SUBJECT: Final = re.compile(
    r"(?:and |but |also )?(?:i|my|we|our|you|your|he|she|his|her|they|their|it|its|the|there|this|that)\b",
    re.IGNORECASE,
)
"""The beginning of a clause that has a subject: "my rent's 1350"."""
_FEWEST_LEFT, _FEWEST_BARE = 2, 3
"""Content words and numbers of a fragment that is left of a memory, with a subject of its own and without one."""
_OWN_CLAUSE: Final = re.compile(r"(?:and |but |also |so )?(?:i|i['’]\w+|my|we|we['’]\w+|our)\b", re.IGNORECASE)
"""The beginning of a clause that somebody tells of themself: "I'm lactose intolerant"."""
_DOES: Final = re.compile(
    r"(?:(?:also|now|still|never|always) )?(?:(?!need\b)[a-z]{2,}(?:[a-rt-z]s|ed|ing|n't)|am|is|was|has|had|have|got|"
    r"want|love|hate|can|will|went|made|took|bought|sold|left|began|found|keep|kept)\b"
)
"""The beginning of a piece that tells what somebody does or is: "sells soaps on Etsy"."""
_NO_SUBJECT: Final = re.compile(
    r"(?:[a-z]{2,}ing|am|is|was|has|had|have|got|went|made|took|bought|sold|left|began|found|keeps?|kept)\b"
)
"""The beginning of a piece of which only another one says who does it: "staying with them"."""
_READ_AS_MEANT, _READ_AS_NOT = 0.5, 0.05
"""How likely a piece is read as meant by a wish beside which another one is surely not."""
_JOINED: Final = re.compile(r"(?:(?:and|but|so|or|then)\s+)+", re.IGNORECASE)
"""Words that join a piece to the one before it: "and so "."""
_NUMBER: Final = re.compile(r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|several|both)\b")
"""Words that count several things: "two kids"."""
_OWNED: Final = re.compile(
    rf"(?:their|my|our) (?P<thing>(?:{_NUMBER.pattern} (?:[a-z]+ )?[a-z]+|[a-z]+)"
    r"(?:,? (?:called |named )?[A-Z][\w'’-]+)*(?: (?:in|from) [A-Z][\w'’-]+)*)"
)
"""A piece without a verb, of something that somebody has: "their dog Rex", "my two kids"."""
_QUOTATION: Final = re.compile(r'(?P<who>[^:"]{1,80}): "(?P<words>[^"]*)"\.?')
"""A summary in the user's own words: `Maya: "Off to the dentist."`."""
_COMMAS: Final = re.compile(r"[,;] +| +[–—-] +")
"""Where a clause may be cut into what it tells one after the other: "weighs 71 kg, height 158 cm"."""
_JOINTS: Final = re.compile(r"(?<=\w{3}[.!?]) +|[,;] +| +[–—-] +|,? +(?:and|but|plus) +", re.IGNORECASE)
"""Where a quotation may be: "allergic to nuts and allergic to cats"."""
_FEWEST_WORDS: Final = 2
"""Words of a fragment."""
_NAME_OR_MEASURE: Final = re.compile(
    r"(?:[A-Z][\w'’.-]*|[\d.,:%€$£/-]+(?:st|nd|rd|th|k|m|cm|km|kg|g|lbs?|[ap]m)?|"
    r"(?:mg|mcg|ml|g|kg|km|cm|lbs?|oz)|(?:mile|pound|euro|dollar|second|minute|hour|day|week|month|year)s?|"
    r"a|an|the|of|in|on|at|and|or|for|from|to|since|until|about|around|only|just)",
)
"""A word of a name, a number, a measure or a date, and what joins those: "Dr Kolb", "8 weeks", "on Thursdays"."""


def pieces_of(summary: str, name: str = "") -> tuple[str, ...]:
    """Return the clauses and fragments that a summary tells one after the other; the whole where it tells one thing. A
    clause may begin with `name`, what the user is called. The pieces of a quotation are quotations."""
    if quoted := _QUOTATION.fullmatch(summary):
        return tuple(f'{quoted["who"]}: "{piece}"' for piece in _fragments(quoted["words"], _JOINTS)) or (summary,)
    if '"' in summary:
        return (summary,)
    before_name = rf"{re.escape(name)}\b|{_OF_SOMEBODY}" if name else _OF_SOMEBODY
    clauses = re.split(rf",? +(?:and|but|while) +(?={before_name})", summary)
    pieces = [piece.strip(" ,;") for part in clauses for piece in _PIECES.split(part) if piece.strip(" ,;.")]
    if not all(len(piece.split()) > 1 for piece in pieces):
        pieces = [summary]
    return tuple(fragment for piece in pieces for fragment in _fragments(piece, _COMMAS))


def _fragments(text: str, joints: re.Pattern[str]) -> list[str]:
    """Return a text cut at its joints, but where a single word stands between them ("Deepa, 27, a doctor"), and where
    only names and measures follow, which mean nothing alone: "I see a therapist, Dr Kolb"."""
    joined = [match.span() for match in joints.finditer(text)]
    starts, ends = [0, *(end for _, end in joined)], [*(start for start, _ in joined), len(text)]
    fragments: list[tuple[int, int]] = []
    for start, end in zip(starts, ends, strict=True):
        words = text[start:end].split()
        is_behind_comma = text[:start].endswith(", ")
        is_more_of_it = is_behind_comma and all(_NAME_OR_MEASURE.fullmatch(word.strip(" .,!?;:()")) for word in words)
        if fragments and (len(words) < _FEWEST_WORDS or is_more_of_it):
            fragments[-1] = fragments[-1][0], end
        else:
            fragments.append((start, end))
    return [text[start:end] for start, end in fragments]


def _is_fragment(piece: str) -> bool:
    """Return whether a piece is no clause that could stand alone, or the speaker's own words."""
    return not piece[:1].isupper() or _QUOTATION.fullmatch(piece) is not None


def tells_alone(piece: str, size: int, *, some_stays: bool) -> bool:
    """Return whether a piece that is left of a memory tells something, by how many words and numbers it has (`size`).
    One without a subject of its own may be more of what is forgotten, "second engineer", unless the wish says that some
    of it is to stay (`some_stays`)."""
    quotation = _QUOTATION.fullmatch(piece)
    has_subject = _SUBJECT.match(quotation["words"] if quotation else piece) is not None
    return not _is_fragment(piece) or size >= (_FEWEST_LEFT if some_stays or has_subject else _FEWEST_BARE)


def names_nobody(piece: str, name: str) -> bool:
    """Return whether a piece tells of somebody or something that it does not name, so that it means nothing without
    another one; `name` is what the user is called, which needs no naming."""
    quotation = _QUOTATION.fullmatch(piece)
    text = quotation["words"] if quotation else piece
    text = f"I{text[len(name) :]}" if name and text.startswith(f"{name} ") else text
    return bool(_NAMED_BEFORE.match(text) or (quotation and _OTHERS.match(text)))


def left_after(pieces: Sequence[str], gone: Sequence[bool], name: str) -> str | None:
    """Return what a summary tells without the pieces that are gone, and without what leans on those: None where nothing
    is left, or only half a thought."""
    left: list[str] = []
    leans_on_gone = False
    for piece, is_gone in zip(pieces, gone, strict=True):
        leans_on_gone = is_gone or (leans_on_gone and (leans(piece, name) or _is_more_of_it(piece)))
        if not leans_on_gone:
            left.append(piece)
    if len(left) == len(pieces) or all(names_nobody(piece, name) for piece in left):
        return None
    return told_together(left, name) or None


def _is_more_of_it(piece: str) -> bool:
    """Return whether a piece has neither a subject nor a verb and is nobody's own: "two a day", "up to 420k"."""
    quotation = _QUOTATION.fullmatch(piece)
    words = _JOINED.sub("", quotation["words"] if quotation else piece, count=1)
    tells = _SUBJECT.match(words) or _DOES.match(words) or _OWNED.match(words)
    is_bare = not tells and len(words.split()) < _FEWEST_BARE and not _DOES.search(words.partition(" ")[2])
    return is_bare or (_is_fragment(piece) and not words[:1].isupper() and not tells)


def _article(thing: str) -> str:
    """Return the article of a thing that somebody has; none before a number or several things."""
    noun = [word for word in thing.split() if word[0].islower()][-1]
    if _NUMBER.match(thing) or (noun.endswith("s") and not noun.endswith("ss")):
        return ""
    return "an " if thing[0].lower() in "aeiou" else "a "


def leans(piece: str, name: str) -> bool:
    """Return whether a piece means nothing without what stands before it: "2 kg", "had her vaccinated", "vet says she
    must"; `name` is what the user is called."""
    quotation = _QUOTATION.fullmatch(piece)
    words = quotation["words"] if quotation else piece
    is_bit = _is_fragment(piece) and _SUBJECT.match(words) is None and len(words.split()) < _FEWEST_BARE
    is_bit = is_bit or (words[:1].islower() and _OF_WHO_WAS_NAMED.search(words) is not None)
    follows = _FOLLOWS.match(words) is not None and _DENIES.match(words) is None
    return is_bit or follows or names_nobody(piece, name)


def told_together(pieces: Sequence[str], name: str) -> str:
    """Return pieces of a summary told together: clauses as sentences, fragments and quotations as what was said."""
    who = name or "The user"
    sentences: list[str] = []
    quoted: list[str] = []
    for piece in (piece.rstrip(".!") for piece in pieces):
        if quotation := _QUOTATION.fullmatch(piece):
            quoted.append(quotation["words"])
        elif owned := _OWNED.fullmatch(piece):
            sentences.append(f"{who} has {_article(owned['thing'])}{owned['thing']}.")
        elif _LEANS.match(piece):
            sentences.append(f"{who} said that {piece[0].lower()}{piece[1:]}.")
        elif piece[0].islower() and (_OF_WHOM.search(piece) or (name and name in piece)):
            # What is told of the user is none of their words; what they are asked or given is no claim of theirs.
            claim = _JOINED.sub("", piece, count=1)
            if claim.partition(" ")[2].split(" ")[:1] != [name] and not _NO_SUBJECT.match(claim):
                sentences.append(f"{who} said that {claim}.")
        elif not piece[0].isupper():
            quoted.append(piece)
        else:
            sentences.append(f"{piece}.")
    if quoted:
        words = " ".join(piece if piece[-1] in ".!?" else f"{piece}," for piece in quoted).removesuffix(",")
        sentences.append(f'{who}: "{words if words[-1] in ".!?" else f"{words}."}"')
    return " ".join(sentences)


def left_standing(summary: str, read: Mapping[str, float], name: str) -> str | None:
    """Return what of a summary surely stays where it is meant in doubt: its clauses that are read as not meant, by how
    likely each of its pieces is (`read`), beside one that is read as meant. None where that is nothing, or half a
    thought."""
    pieces = pieces_of(summary, name)
    chances = [read.get(piece, 1.0) for piece in pieces]
    if max(chances) < _READ_AS_MEANT:
        return None
    left: list[str] = []
    goes = False
    for piece, chance in zip(pieces, chances, strict=True):
        quotation = _QUOTATION.fullmatch(piece)
        words = quotation["words"] if quotation else piece
        opens = quotation is not None and words[:1].isupper()  # A sentence of a quotation: "Allergic to nuts."
        begins = opens or _OWN_CLAUSE.match(words) is not None or (bool(name) and words.startswith(f"{name} "))
        # What goes on behind a clause goes where that does.
        goes = (goes and not begins) or chance >= _READ_AS_NOT or not (begins or left)
        if not goes:
            left.append(piece)
    return told_together(left, name) or None
