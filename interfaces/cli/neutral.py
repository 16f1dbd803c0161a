"""What users wrote, made harmless to a terminal: no character of theirs moves a cursor, sets a title or turns text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook
from rich.segment import Segment

_HARMFUL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and line feed, what turns the direction of text (Unicode TR 36, 3.2), and halves of
surrogate pairs, which no terminal's encoding can carry."""
_IN_ITS_PLACE: Final = "\N{REPLACEMENT CHARACTER}"


def neutral(text: str) -> str:
    """Return a text with a visible sign in the place of each character that would act on a terminal."""
    return _HARMFUL.sub(_IN_ITS_PLACE, text)


def neutral_json(text: str) -> str:
    """Return JSON of the same value in which such characters are escaped: outside of strings it has none."""
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def neutral_console(*, stderr: bool = False) -> Console:
    """Return a console that prints nothing as a command: neither as markup nor as an escape of the terminal's own."""
    console = Console(stderr=stderr, markup=False, emoji=False)
    console.push_render_hook(_Neutralising())
    return console


class _Neutralising(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Neutralised(renderable) for renderable in renderables]


class _Neutralised:
    """Something to print, in whose text nothing acts; what Rich itself says to the terminal passes."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for text, style, control in console.render(self._renderable, options):
            yield Segment(text if control else neutral(text), style, control)
