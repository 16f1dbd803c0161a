"""Facts as a picture: who stands where, and which lines join them. Pure; the template writes it down as SVG."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recall.registry import Span, Stated
from stores.graph.base import folded_name

_COLUMN: Final = 250
"""Pixels from one column of names to the next."""
_ROW: Final = 44
_NAME_WIDTH: Final = 170
"""Pixels in which a name and a verb fit."""
_NAME_CHARS: Final = 24
_CHAR: Final = 8
"""Pixels that a letter takes, about."""
_BACK: Final = 7
_COLUMNS: Final = 3
_BAR_ROW: Final = 48
_LEAST_BAR: Final = 1.0
"""Percent of the whole width that the shortest bar takes, so that it is seen."""


@dataclass(frozen=True)
class Node:
    """A name at a place: the left end of its line, in pixels."""

    name: str
    shown: str
    verbs: str
    x: int
    y: int
    is_user: bool


@dataclass(frozen=True)
class Drawing:
    """Names and the paths that join them."""

    width: int
    height: int
    nodes: Sequence[Node]
    paths: Sequence[str]


@dataclass(frozen=True)
class Bar:
    """A fact's value for a while, as a bar: `x` and `width` in percent of the whole width, `y` in pixels."""

    x: float
    y: int
    width: float
    span: Span


def draw(stated: Sequence[Stated], centre: str, name_shown: Callable[[str], str]) -> Drawing:
    """Return facts as columns of names: at the left those of whom something is said and who are named by nobody else,
    `centre` first; to the right of each what is said of it. Every name stands once, as it is shown to whoever looks;
    what is farther than three columns away stands in the third."""
    names: dict[str, str] = {}
    objects_of: dict[str, dict[str, None]] = defaultdict(dict)
    verbs: dict[str, dict[str, None]] = defaultdict(dict)
    for statement in stated:
        who, thing = folded_name(statement.fact.entity), folded_name(statement.fact.object)
        names.setdefault(who, statement.fact.entity)
        names.setdefault(thing, statement.fact.object)
        if who != thing:
            objects_of[who][thing] = None
            verbs[thing][statement.fact.verb] = None
    column = _columns(names, objects_of, folded_name(centre))
    rows: dict[int, int] = defaultdict(int)
    nodes: dict[str, Node] = {}
    for name in sorted(column, key=lambda key: column[key]):
        depth = column[name]
        shown = name_shown(names[name])
        nodes[name] = Node(
            names[name],
            shown if len(shown) <= _NAME_CHARS else shown[: _NAME_CHARS - 1] + "…",
            ", ".join(verbs[name]) if depth else "",
            depth * _COLUMN + 8,
            rows[depth] * _ROW + 30,
            name == "user",
        )
        rows[depth] += 1
    paths = [_path(nodes[who], nodes[thing]) for who, things in objects_of.items() for thing in things]
    width = (max(column.values(), default=0) * _COLUMN) + _NAME_WIDTH + 24
    return Drawing(width, max(rows.values(), default=1) * _ROW + 16, list(nodes.values()), paths)


def draw_bars(spans: Sequence[Span], now: datetime) -> Sequence[Bar]:
    """Return what a fact was, one bar below the other, on one scale of time from the first word to now."""
    first = min((span.since for span in spans), default=now)
    whole = max((now - first).total_seconds(), 1.0)

    def at(moment: datetime) -> float:
        return round(100 * min(1.0, max(0.0, (moment - first).total_seconds() / whole)), 2)

    return [
        Bar(
            min(at(span.since), 100 - _LEAST_BAR),
            row * _BAR_ROW,
            max(_LEAST_BAR, round(at(span.until or now) - at(span.since), 2)),
            span,
        )
        for row, span in enumerate(spans)
    ]


def _columns(names: dict[str, str], objects_of: dict[str, dict[str, None]], centre: str) -> dict[str, int]:
    """Return in which column each name stands, in the order in which they are met."""
    objects = {thing for things in objects_of.values() for thing in things}
    roots = [name for name in (centre, *names) if name in names and (name == centre or name not in objects)]
    column: dict[str, int] = {}
    # Names that only tell of each other in a ring have no beginning: whoever comes first is it.
    for root in (*roots, *names):
        if root in column:
            continue
        column[root] = 0
        edge = [root]
        while edge:
            following = [thing for who in edge for thing in objects_of.get(who, ()) if thing not in column]
            for thing in following:
                column[thing] = min(
                    _COLUMNS - 1, min(column[who] for who in edge if thing in objects_of.get(who, ())) + 1
                )
            edge = list(dict.fromkeys(following))
    return column


def _path(who: Node, target: Node) -> str:
    """Return the line from a name to what is said of it; one that leads back runs a little lower than the one there."""
    is_forth = target.x > who.x
    left, right, lower = (who, target, 0) if is_forth else (target, who, _BACK)
    # Straight as far as the longest name of the column reaches, so that it runs through none.
    beside, end = left.x + _NAME_WIDTH, right.x - 6
    middle, first, last = (beside + end) / 2, left.y + lower, right.y + lower
    return f"M {_end_of(left)} {first} H {beside} C {middle} {first}, {middle} {last}, {end} {last}"


def _end_of(node: Node) -> int:
    """Return about where a name ends."""
    return node.x + min(_NAME_WIDTH, _CHAR * len(node.shown) + 12)
