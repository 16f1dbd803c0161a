"""People whose true facts are known: what each says turn by turn, and what must be known of them at the end.

Every turn is a sentence or two as a person types it. Facts of the first kind have one value at a time, and a third of
all facts changes on the way; facts of the second kind stand side by side. Some facts are said again in other words.

Needs nothing but the standard library, so that it runs in any environment.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.truth_sayings import CHATTER, KEPT_OF, MEANING, SLOTS, filled

_CHANGING = tuple(slot for slot in SLOTS if slot.change)
_STANDING = tuple(slot for slot in SLOTS if not slot.change)


@dataclass(frozen=True)
class Saying:
    """A turn of one person."""

    user: str
    number: int
    text: str


@dataclass
class World:
    """What is said, in order, and what is true at the end.

    `truth` holds for each user the facts as (slot, value); `outdated` those that were true once.
    """

    sayings: list[Saying] = field(default_factory=list)
    truth: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    outdated: dict[str, set[tuple[str, str]]] = field(default_factory=dict)


def make_world(users: int, *, seed: int) -> World:
    """Make people with nine facts each, of which those that can change do so at one in three, and what they say."""
    chance = random.Random(seed)
    world = World()
    waiting = {f"user{number:03d}": _conversation(f"user{number:03d}", world, chance) for number in range(users)}
    numbers = dict.fromkeys(waiting, 0)
    while waiting:
        user = chance.choice(sorted(waiting))
        world.sayings.append(Saying(user, numbers[user], waiting[user].pop(0)))
        numbers[user] += 1
        if not waiting[user]:
            del waiting[user]
    return world


_FACTS_OF_ONE_VALUE, _FACTS_SIDE_BY_SIDE, _CHATTER_A_USER = 6, 3, 3
_CHANGED, _SAID_AGAIN, _JOINED = 1 / 2, 1 / 4, 1 / 6


def _conversation(user: str, world: World, chance: random.Random) -> list[str]:
    """Return all turns of a user, in order; write down what is true in the end."""
    truth: set[tuple[str, str]] = set()
    outdated: set[tuple[str, str]] = set()
    threads: list[list[str]] = [[chance.choice(CHATTER)] for _ in range(_CHATTER_A_USER)]
    for slot in chance.sample(_CHANGING, _FACTS_OF_ONE_VALUE):
        value = chance.choice(slot.values)
        thread = [_said(slot.first, value, "", chance)]
        if chance.random() < _SAID_AGAIN:
            thread.append(_said(slot.again, value, "", chance))
        if chance.random() < _CHANGED:
            outdated.add((slot.name, value))
            old, value = value, chance.choice([other for other in slot.values if other != value])
            thread.append(_said(slot.change, value, old, chance))
            if chance.random() < _SAID_AGAIN:
                thread.append(_said(slot.again, value, "", chance))
        truth.add((slot.name, value))
        threads.append(thread)
    for slot in chance.sample(_STANDING, _FACTS_SIDE_BY_SIDE):
        for value in chance.sample(slot.values, chance.choice((1, 1, 2))):
            truth.add((slot.name, value))
            thread = [_said(slot.first, value, "", chance)]
            if chance.random() < _SAID_AGAIN:
                thread.append(_said(slot.again, value, "", chance))
            threads.append(thread)
    world.truth[user], world.outdated[user] = truth, outdated
    return _joined(_woven(threads, chance), chance)


def _said(wordings: Sequence[tuple[str, str]], value: str, old: str, chance: random.Random) -> str:
    return filled(chance.choice(wordings), value, old)[0]


def _woven(threads: list[list[str]], chance: random.Random) -> list[str]:
    """Return all threads in one, each in its own order."""
    sayings = []
    unfinished = [list(thread) for thread in threads]
    while unfinished:
        thread = chance.choice(unfinished)
        sayings.append(thread.pop(0))
        unfinished = [thread_left for thread_left in unfinished if thread_left]
    return sayings


def _joined(sayings: list[str], chance: random.Random) -> list[str]:
    """Return turns of some neighbouring sentences each."""
    turns: list[str] = []
    for text in sayings:
        if turns and text in KEPT_OF and turns[-1] in KEPT_OF and chance.random() < _JOINED:
            turns[-1] = f"{turns[-1]} {text}"
        else:
            turns.append(text)
    return turns


@dataclass(frozen=True)
class Score:
    """How stored rows stand to the truth. `wrong` are rows of what nobody ever said."""

    facts: int
    rows: int
    stale: int
    duplicates: int
    missing: int
    wrong: int


def score(world: World, rows: Mapping[str, Sequence[str]]) -> Score:
    """Compare the active rows of each user, as sentences, with what is true."""
    stale = duplicates = missing = wrong = 0
    for user, truth in world.truth.items():
        meanings = [MEANING.get(text) for text in rows.get(user, ())]
        held = [meaning for meaning in meanings if meaning in truth]
        duplicates += len(held) - len(set(held))
        missing += len(truth - set(held))
        outdated = [meaning for meaning in meanings if meaning in world.outdated[user] and meaning not in truth]
        stale += len(outdated)
        wrong += len(meanings) - len(held) - len(outdated)
    return Score(
        facts=sum(map(len, world.truth.values())),
        rows=sum(map(len, rows.values())),
        stale=stale,
        duplicates=duplicates,
        missing=missing,
        wrong=wrong,
    )
