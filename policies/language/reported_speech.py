"""Where a message has words that are not its speaker's own statement: a text to be worked on, a draft, what is made up,
and what another says (data/reported_speech.toml has the forms).

Sentences are read by what introduces them. A text that is given stands to the end of the message, of its quotation
marks where it has some, or to where the speaker plainly speaks for themself again; what another says stands to the end
of its sentence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

Place: TypeAlias = tuple[int, int]
"""Where words begin and end, in characters."""

_READ_CHARS: Final = 16_000
_HEAD_CHARS: Final = 240
_MOST_SENTENCES: Final = 200
_MOST_CLAUSES: Final = 6
_SENTENCE: Final = re.compile(r"[^\n]+?(?:[.!?…]{1,4}[\"'”»)\]]{0,2}(?=\s|\Z)|(?=\n|\Z))")
"""A sentence of a line, with its end: "He left."."""
_COLON: Final = re.compile(r"[:：](?=\s|[^\W\d]|[\"“„«'‘]|\Z)|\s[–—-](?=\s)")
"""The mark between who speaks and what they say: "Anna: hello"."""
_COMMA: Final = re.compile(r",\s")
"""The same, as a comma: "she said, hello"."""
_CLAUSE: Final = re.compile(r"(?:[,;]|\s[–—-]|\s(?:and|but|so|then))\s+", re.IGNORECASE)
"""Where a clause of a sentence begins: "I quit and she said"."""
_OPENS: Final = re.compile(r"[\s:：–—-]*")
"""Marks before the words that are quoted: ": "."""
_QUOTATION: Final = re.compile(
    r"\"[^\"]{1,4000}\"|“[^”]{1,4000}”|„[^“”]{1,4000}[“”]|«[^»]{1,4000}»|(?<!\w)['‘]\S.{1,400}?(?<=\S)['’](?!\w)"
)
"""Words in quotation marks: "she said “I live in Rome”"."""
_REMARK: Final = re.compile(r"\s{0,3}\([^)\n]{1,200}\)")
"""A remark in brackets on the text that stands before it: " (from my novel)"."""
_LABEL: Final = re.compile(
    r"\s{0,4}(?:\[[^\]\n]{1,30}\]\s?)?(?P<who>[^\W\d_][\w'. -]{0,24}?)(?: ?\([^)\n]{1,20}\))?[:>](?:\s|\Z)"
)
"""Who speaks, at the head of a line of a chat: "[10:02] Anna: ", "Anna (work): ", "Anna> "."""
_LINE_LABEL: Final = re.compile(rf"^{_LABEL.pattern}", re.MULTILINE)
"""The same on any line: "hi\nAnna: "."""
_BLANK_LINE: Final = re.compile(r"\n[ \t]{0,40}\n")
"""A line without words: "a\n\nb"."""
_ENDS: Final = frozenset(".!?…")
_SELF: Final = frozenset({"me", "i", "myself"})
_WORD: Final = re.compile(r"\w")
"""A letter or a digit: "a"."""


@lru_cache(maxsize=1)
def table() -> Mapping[str, Any]:
    """Return the table as it is written."""
    return tomllib.loads((files("policies.language") / "data" / "reported_speech.toml").read_text("utf-8"))


@lru_cache(maxsize=1)
def _words() -> Mapping[str, str]:
    return {name: "|".join(words) for name, words in table()["words"].items()}


@lru_cache(maxsize=32)
def _row(part: str, name: str, key: str = "forms") -> re.Pattern[str]:
    row = table()[part] if not name else table()[part][name]
    return re.compile("|".join(f"(?:{_written(form)})" for form in row[key]), re.IGNORECASE)


def _written(form: str) -> str:
    """Return a form with the lists that it names put in."""
    while (filled := re.sub(r"\{([a-z_]+)\}", lambda match: _words()[match[1]], form)) != form:
        form = filled
    return form


def given_places(text: str) -> tuple[Place, ...]:
    """Return where texts stand that are given to be worked on, drafted or made up, in order."""
    return _given(text[:_READ_CHARS].replace("’", "'"))


@lru_cache(maxsize=64)
def _given(text: str) -> tuple[Place, ...]:
    """Return the same of a bounded text; kept, as a message is read several times on its way."""
    places = []
    until = 0
    asked = _asked_for_at(text)
    for sentence in _sentences(text, 0):
        if sentence.start() < until:
            continue
        begin = _given_from(sentence, text)
        if begin is not None:
            end = _given_to(text, begin)
        elif (letter_end := _letter_to(sentence, text)) is not None:
            begin, end = sentence.start(), letter_end
        elif sentence.end() < asked and _row("given", "asked_after", "opens").match(sentence.group().lstrip()):
            begin, end = sentence.end(), asked
        else:
            continue
        if _WORD.search(text, begin, end):
            places.append((begin, end))
        until = end
    return tuple(places)


def reported_places(text: str) -> Iterator[Place]:
    """Yield where a message repeats what another says, in order: to the end of a sentence, or a line of a chat."""
    text = text[:_READ_CHARS].replace("’", "'")
    is_chat, speaker, lasts = _is_chat(text), None, False
    until = 0
    for sentence in _sentences(text, 0):
        spoken, start = sentence.group(), sentence.start()
        if start < until:
            continue
        if spoken.rstrip().endswith(":") and re.search(rf"\b(?:{_words()['talk']})\b", spoken, re.IGNORECASE):
            is_chat, speaker = True, None
            continue
        if is_chat and text[start - 1 : start] in ("", "\n"):
            if label := _LABEL.match(text, start):
                speaker, lasts = label["who"].lower(), not _WORD.search(spoken, label.end() - start)
            elif not lasts:
                speaker = None
        if speaker is not None:
            if speaker not in _SELF:
                yield start, sentence.end()
            continue
        begin = _reported_from(spoken)
        if begin is not None:
            end = sentence.end()
            if not _WORD.search(spoken, begin):
                end = until = _block_end(text, end)
            yield start + begin, end
        elif (begin := _doubtful_from(spoken)) is not None:
            ends_line = not _WORD.search(spoken, begin)
            until = _block_end(text, start + begin) if ends_line else _line_end(text, start + begin)
            yield start + begin, until
        elif before := _row("mouth", "before").search(spoken):
            yield start, start + before.start()


def drafted_places(text: str) -> Iterator[Place]:
    """Yield where a message says what a text in the user's own name is to say, in order."""
    text = text[:_READ_CHARS].replace("’", "'")
    for sentence in _sentences(text, 0):
        colon = _COLON.search(sentence.group()[:_HEAD_CHARS])
        if colon and _drafts(sentence.group()[: colon.start()]):
            yield sentence.start() + colon.end(), sentence.end()


def announces_words(head: str) -> bool:
    """Return whether what stands before a colon or a comma says that words follow, and no news: it names a text or an
    act of saying, or leaves open of what it speaks ("a French version of")."""
    return _row("announced", "words").search(head) is not None


def _drafts(head: str) -> bool:
    """Return whether what stands before a colon asks for a text in the user's own name."""
    form, of_others = _row("draft", "after_colon"), _row("draft", "after_colon", "others")
    return any(form.match(head, begin) for begin in _clauses(head)) and not of_others.search(head)


def _is_chat(text: str) -> bool:
    """Return whether lines of a text have speakers: one of them speaks twice, or the user ("Me:") beside another."""
    speakers = [label["who"].lower() for label in _LINE_LABEL.finditer(text)]
    return len(speakers) > 1 and (len(set(speakers)) < len(speakers) or not _SELF.isdisjoint(speakers))


def is_attributed(sentence: str) -> bool:
    """Return whether a sentence that orders something ends by saying that another gave the order."""
    return any(_row(part, "before").search(sentence) for part in ("mouth", "order"))


def asks_for_writing(sentence: str) -> bool:
    """Return whether a sentence asks for a text to be written or worked on: whose words follow is not sure then."""
    return gives_text(sentence) or _opens(sentence, "draft")


def gives_text(sentence: str) -> bool:
    """Return whether a sentence asks for a text to be worked on or made up, which is nobody's own telling."""
    return _opens(sentence, "given")


def _opens(sentence: str, part: str) -> bool:
    form = _row(part, "after_colon")
    return any(form.match(sentence, begin) for begin in _clauses(sentence[:_HEAD_CHARS]))


def speaks_again(sentence: str) -> bool:
    """Return whether a sentence says that its speaker speaks for themself again."""
    return _row("again", "").match(sentence.lstrip()) is not None


def _sentences(text: str, start: int) -> Iterator[re.Match[str]]:
    for number, sentence in enumerate(_SENTENCE.finditer(text, start)):
        if number == _MOST_SENTENCES:
            return
        yield sentence


def _clauses(head: str) -> Sequence[int]:
    """Return where the clauses of a sentence begin."""
    first = len(head) - len(head.lstrip())
    return [first, *(match.end() for match in _CLAUSE.finditer(head))][:_MOST_CLAUSES]


def _given_from(sentence: re.Match[str], text: str) -> int | None:
    """Return where the text begins that a sentence of a message introduces, None if it introduces none."""
    spoken, start = sentence.group(), sentence.start()
    head = spoken[:_HEAD_CHARS]
    begins = _clauses(head)
    colons = list(_COLON.finditer(head))[:3]
    for row in ("after_colon", "elsewhere") if colons else ():
        form = _row("given", row)
        for colon in colons:
            if any(form.match(head, begin, colon.start()) for begin in begins if begin < colon.start()):
                return start + colon.end()
    for begin in begins[:2]:
        for row in ("after_frame", "elsewhere_frame"):
            if frame := _row("given", row).match(head, begin):
                return start + frame.end()
    if _QUOTATION.search(spoken) is None and (
        any(_row("given", row).match(head, begin) for row in ("after_sentence", "elsewhere_after") for begin in begins)
        or _row("given", "announced").match(head, begins[0])
        or (_greets_at(text, sentence.end()) and _row("given", "before_greeting").match(head, begins[0]))
    ):
        return sentence.end()
    return None


def _greets_at(text: str, at: int) -> bool:
    """Return whether the words that follow a place greet somebody."""
    word = _WORD.search(text, at)
    return word is not None and _row("given", "before_greeting", "greets").match(text, word.start()) is not None


def _letter_to(first: re.Match[str], text: str) -> int | None:
    """Return where the letter ends that begins with a sentence, None where it begins none."""
    opening = first.group().lstrip()
    is_letter = _row("given", "letter").match(opening) is not None
    if not is_letter and _row("given", "letter", "perhaps").match(opening) is None:
        return None
    asks = (_row("given", "asked_after"), _row("given", "letter", "asks"))
    for sentence in _sentences(text, first.end()):
        spoken = sentence.group().lstrip()
        if speaks_again(spoken) or any(form.match(spoken) for form in asks):
            return sentence.start()
    return len(text) if is_letter or text[: first.start()].strip() else None


def _asked_for_at(text: str) -> int:
    """Return where a sentence begins that asks for work on what stands before it, 0 where none does."""
    form = _row("given", "asked_after")
    return next((s.start() for s in _sentences(text, 0) if form.match(s.group().lstrip())), 0)


def _given_to(text: str, begin: int) -> int:
    """Return where a text ends that is given from `begin` on."""
    opening = _OPENS.match(text, begin)
    quotation = _QUOTATION.match(text, opening.end() if opening else begin)
    if quotation is not None:
        remark = _REMARK.match(text, quotation.end())
        return remark.end() if remark else quotation.end()
    # What a sentence announces may be missing: "Lyrics for my band. Anyway, I moved."
    first = 0 if text[begin - 1 : begin] in _ENDS else 1
    for number, sentence in enumerate(_sentences(text, begin)):
        if number >= first and speaks_again(sentence.group()):
            return sentence.start()
    return len(text)


def _reported_from(spoken: str) -> int | None:
    """Return where another's words begin in a sentence."""
    for mark in list(_COLON.finditer(spoken))[:3]:
        head = spoken[max(0, mark.start() - _HEAD_CHARS) : mark.start()]
        if _drafts(head):
            continue
        if _row("mouth", "after_colon").match(head) and not _row("mouth", "after_colon", "own").search(head):
            return mark.end()
    for mark in list(_COMMA.finditer(spoken))[:3]:
        head = spoken[: mark.start()]
        if _row("mouth", "after_comma").fullmatch(head) and not _row("mouth", "after_colon", "own").search(head):
            return mark.end()
    if elsewhere := _row("mouth", "elsewhere_frame").match(spoken[:_HEAD_CHARS]):
        return elsewhere.end()
    frame = _row("mouth", "after_frame").match(spoken[:_HEAD_CHARS])
    return frame.end() if frame and not _row("mouth", "after_frame", "own").search(frame.group()) else None


def _doubtful_from(spoken: str) -> int | None:
    """Return where words in the first person begin that may be anybody's: behind a colon, and a head that tells of
    nobody."""
    mark = _COLON.search(spoken[:_HEAD_CHARS])
    if mark is None or mark.group() not in ":：" or not _row("mouth", "in_doubt").match(spoken, mark.end()):
        return None
    head = spoken[: mark.start()]
    return None if _drafts(head) or _row("mouth", "in_doubt", "own").search(head) else mark.end()


def _line_end(text: str, at: int) -> int:
    """Return where the next line with words ends."""
    word = _WORD.search(text, at)
    end = text.find("\n", word.start()) if word else -1
    return len(text) if end < 0 else end


def _block_end(text: str, at: int) -> int:
    """Return where lines end that stand together, the next ones with words: at an empty line, or where their writer
    speaks for themself again."""
    word = _WORD.search(text, at)
    blank = _BLANK_LINE.search(text, word.start()) if word else None
    end = blank.start() if blank else len(text)
    for number, sentence in enumerate(_sentences(text, at)):
        if sentence.start() >= end:
            break
        if number and speaks_again(sentence.group()):
            return sentence.start()
    return end
