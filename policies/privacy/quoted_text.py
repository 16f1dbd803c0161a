"""The parts of a message that its writer has pasted or made up: mails, letters, articles, quotations, drafts, texts to
work on.

It says nothing of the writer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from policies.language.reported_speech import given_places

_LONG_QUOTE: Final = 160
_LONG_REST: Final = 80

_HEADER: Final = re.compile(
    r"^[ \t>*]{0,4}(?:From|To|Cc|Bcc|Subject|Date|Sent|Reply-To)\*{0,2}:[^\n]{1,300}$", re.MULTILINE | re.IGNORECASE
)
"""A line of an email's head: "Subject: your invoice"."""
_FORWARDED: Final = re.compile(
    r"^[ \t>]{0,4}(?:-{2,20} ?(?:original|forwarded) message ?-{0,20}|begin forwarded message:?|"
    r"on [^\n]{6,100} wrote:)[ \t]{0,4}$",
    re.MULTILINE | re.IGNORECASE,
)
"""Where a forwarded message begins: "---- Forwarded message ----", "On Monday Anna wrote:"."""
_NOUN: Final = (
    r"(?:e-?mails?|messages?|articles?|letters?|texts?|reviews?|transcripts?|pages?|documents?|posts?|paragraphs?|"
    r"passages?|stor(?:y|ies)|essays?|poems?|lyrics|news|reports?|contracts?|pdf|file|chat|thread|conversation|"
    r"description|excerpt|sentences?|statement|website|blog|abstract)\b"
)
_ANNOUNCED: Final = re.compile(
    r"\b(?:here(?:'s| is| are)|this is|these are|below|following|got|received|found|sent me|says?|said|wrote)\b"
    rf"[^\n]{{0,80}}?\b(?:this|{_NOUN})[^\n:]{{0,60}}:[ \t]*\n\s*",
    re.IGNORECASE,
)
"""Words that announce a text of somebody's: "here is the email I got:\\n"."""
_TASK: Final = re.compile(
    r"\b(?:summari[sz]e|summary|translate|proofread|rewrite|rephrase|paraphrase|edit|correct|analy[sz]e|classify|"
    r"extract|reply to|respond to|shorten|improve)\b"
    rf"[^\n]{{0,80}}?\b(?:this|it|following|{_NOUN})[^\n]{{0,60}}\n\s*",
    re.IGNORECASE,
)
"""Tasks to do with the text that follows: "summarize this email\\n"."""
_GREETING: Final = re.compile(
    r"^[ \t]{0,4}(?:dear|hi|hello|hey|good (?:morning|afternoon)|to whom)\b[^\n.!?]{0,60},?[ \t]{0,4}\n",
    re.MULTILINE | re.IGNORECASE,
)
"""How a letter begins: "Dear Anna,\\n"."""
_SIGNED: Final = re.compile(
    r"^[ \t]{0,4}(?:(?:with )?(?:best|kind|warm|many)?\s?(?:regards|wishes)|sincerely|yours|cheers|thank you|best|"
    r"greetings)\b[^\n]{0,40},?[ \t]{0,4}\n[ \t]{0,4}[^\W\d_][^\n]{0,60}",
    re.MULTILINE | re.IGNORECASE,
)
"""How a letter ends: "Best regards,\\nAnna"."""
_QUOTED: Final = re.compile(rf'"""[^"]{{20,}}"""|“[^“”]{{{_LONG_QUOTE},}}”|"[^"\n]{{{_LONG_QUOTE},}}"')
"""A long text in quotation marks: `“When I was six we moved to a farm by the sea, and every morning before school my
sister and I went down to the boats to ask what they had caught in the night, and who was ill”`."""


def pasted_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where pasted passages begin and end; they may overlap. Linear in the length of the text."""
    if (start := _mail_start(text)) is not None:
        yield start, len(text)
    if "\n" in text:
        for pattern in (_ANNOUNCED, _TASK):
            shown = pattern.search(text)
            if shown and len(text) - shown.end() >= _LONG_REST:
                yield shown.end(), len(text)
        greeting = _GREETING.search(text)
        if greeting and (signed := _SIGNED.search(text, greeting.end())):
            yield greeting.start(), signed.end()
    for quoted in _QUOTED.finditer(text):
        yield quoted.span()
    yield from given_places(text)


def _mail_start(text: str) -> int | None:
    """Return where a mail begins: at two lines of a header that stand together, or at the mark of a forwarded one."""
    forwarded = _FORWARDED.search(text)
    starts = [forwarded.start()] if forwarded else []
    before: re.Match[str] | None = None
    for header in _HEADER.finditer(text):
        if before is not None and header.start() - before.end() <= 2:
            starts.append(before.start())
            break
        before = header
    return min(starts, default=None)


def own_words(text: str) -> str:
    """Return the text with pasted passages blanked out, every character else in its place."""
    pieces, at = [], 0
    for start, end in sorted(pasted_spans(text)):
        if end <= at:
            continue
        begin = max(start, at)
        pieces += [text[at:begin], "".join("\n" if char == "\n" else " " for char in text[begin:end])]
        at = end
    return "".join(pieces) + text[at:] if pieces else text
