"""Turns of our own making, for measuring speed: never for measuring judgement."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from schema import Message, Turn

_CITIES = ["Lisbon", "Berlin", "Oslo", "Madrid", "Vienna", "Prague", "Athens", "Dublin", "Boston", "Kyoto"]
_FIRMS = ["Acme", "Globex", "Initech", "Umbra Labs", "Northwind", "Hooli", "Stark Foods", "Bluebird"]
_THINGS = ["black coffee", "jazz", "long walks", "board games", "spicy food", "old films", "gardening", "chess"]
_KEPT = [
    "I live in {city} and I love it here.",
    "I started a new job at {firm} last week.",
    "I really like {thing}, but I hate crowds.",
    "We are planning a trip to {city} next month.",
    "My budget for the holiday is {number} euros.",
    "My sister lives in {city} with two cats.",
    "I have a dentist appointment on Friday at {hour}.",
    "Remember that I prefer {thing} in the evening.",
]
_SKIPPED = [
    "Good morning!",
    "ok thanks!",
    "What is the capital of Australia?",
    "Can you explain how photosynthesis works?",
    "Write a haiku about autumn.",
    "That sounds great, go on.",
    "How many ounces are in a pound?",
    "def add(a, b):\n    return a + b",
]


def make_turns(count: int, users: int, *, kept: float = 0.5, seed: int = 7) -> list[Turn]:
    """Return `count` turns of `users` users in the order of their moments; about the share `kept` says something to
    keep."""
    chance = random.Random(seed)
    start = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
    turns = []
    for number in range(count):
        said = chance.choice(_KEPT if chance.random() < kept else _SKIPPED).format(
            city=chance.choice(_CITIES),
            firm=chance.choice(_FIRMS),
            thing=chance.choice(_THINGS),
            number=chance.randrange(500, 9000, 50),
            hour=chance.randrange(9, 18),
        )
        user = f"user{chance.randrange(users):05d}"
        turns.append(
            Turn(
                turn_id=f"bench-{seed}-{number}",
                tenant_id="bench",
                user_id=user,
                conversation_id=f"{user}-c",
                messages=(
                    Message(role="user", name=user.title(), content=said),
                    Message(role="assistant", content="Noted. Anything else?"),
                ),
                occurred_at=start + timedelta(minutes=number),
            )
        )
    return turns
