"""What people say of themselves in `benchmarks.truth`, and what a perfect reader writes down of it.

Needs nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

Wordings = tuple[tuple[str, str], ...]
"""Pairs of what a person says and what is written down of it."""


@dataclass(frozen=True)
class Slot:
    """One thing that a person may tell of themself. With no `change`, several values stand side by side."""

    name: str
    values: tuple[str, ...]
    first: Wordings
    again: Wordings
    change: Wordings = ()


_CITIES = ("Lisbon", "Oslo", "Vienna", "Dublin", "Kyoto", "Boston", "Prague", "Athens", "Toronto", "Helsinki")
_MONTHS = ("2 March", "9 March", "16 April", "23 May", "6 June", "14 July")

SLOTS: Final[tuple[Slot, ...]] = (
    Slot(
        "home_city",
        _CITIES,
        first=(
            ("I live in {v}.", "The user lives in {v}."),
            ("We're based in {v}, the two of us.", "The user is based in {v}."),
            ("My home is in {v}.", "The user's home is in {v}."),
        ),
        again=(
            ("I've been living in {v} for a while, as I said.", "The user has been living in {v}."),
            ("We still live in {v}.", "The user still lives in {v}."),
        ),
        change=(
            ("We moved to {v} last month.", "The user moved to {v}."),
            ("I've left {old} for good, I live in {v} now.", "The user left {old} and now lives in {v}."),
            ("I no longer live in {old}, my new home is {v}.", "The user's new home is {v}."),
        ),
    ),
    Slot(
        "employer",
        ("Initech", "Globex", "Hooli", "Northwind", "Acme", "Bluebird Foods", "Stark Labs"),
        first=(("I work at {v}.", "The user works at {v}."), ("I'm employed by {v}.", "The user is employed by {v}.")),
        again=(("My employer, {v}, is growing fast.", "The user's employer is {v}."),),
        change=(
            ("I quit {old} and joined {v}.", "The user quit {old} and joined {v}."),
            ("I started a new job at {v}.", "The user started a new job at {v}."),
            ("{v} hired me, I start on Monday!", "The user was hired by {v}."),
        ),
    ),
    Slot(
        "job_title",
        ("nurse", "data analyst", "teacher", "product manager", "carpenter", "pharmacist"),
        first=(
            ("I work as a {v}.", "The user works as a {v}."),
            ("I'm a {v} by profession.", "The user is a {v} by profession."),
        ),
        again=(("My job as a {v} keeps me busy.", "The user's job is {v}."),),
        change=(
            ("I changed careers, I'm a {v} now.", "The user changed careers and is a {v} now."),
            ("I was a {old} until May, now I work as a {v}.", "The user now works as a {v}."),
        ),
    ),
    Slot(
        "partner",
        ("Nadia", "Tomas", "Priya", "Jonas", "Elena", "Kofi", "Mei"),
        first=(
            ("My partner is called {v}.", "The user's partner is called {v}."),
            ("I'm married to {v}.", "The user is married to {v}."),
        ),
        again=(("{v} and I have been together for years.", "The user is together with {v}."),),
        change=(
            ("I broke up with {old}, I'm with {v} now.", "The user broke up with {old} and is with {v} now."),
            ("My new partner is {v}.", "The user's new partner is {v}."),
        ),
    ),
    Slot(
        "diet",
        ("vegan", "vegetarian", "pescatarian"),
        first=(("I'm {v}.", "The user is {v}."), ("I eat a {v} diet.", "The user follows a {v} diet.")),
        again=(("I've been {v} for years, remember.", "The user has been {v} for years."),),
        change=(
            ("I've gone {v}.", "The user has gone {v}."),
            ("I'm no longer {old}, I'm {v} now.", "The user is no longer {old} but {v}."),
        ),
    ),
    Slot(
        "car",
        ("Volvo", "Tesla", "Honda Civic", "Ford Focus", "Skoda Octavia", "Mazda"),
        first=(("I drive a {v}.", "The user drives a {v}."), ("My car is a {v}.", "The user's car is a {v}.")),
        again=(("I took my {v} to the garage.", "The user owns a {v}."),),
        change=(
            ("I sold the {old} and bought a {v}.", "The user sold the {old} and bought a {v}."),
            ("I drive a {v} instead of the {old} now.", "The user drives a {v} instead of the {old} now."),
        ),
    ),
    Slot(
        "phone",
        ("Pixel 9", "iPhone 15", "Galaxy S24", "Fairphone 5", "Nokia G42"),
        first=(("I use a {v}.", "The user uses a {v}."), ("My phone is a {v}.", "The user's phone is a {v}.")),
        again=(("My {v} is a fine phone.", "The user has a {v} as a phone."),),
        change=(
            ("I replaced my {old} with a {v}.", "The user replaced the {old} with a {v}."),
            ("I switched from the {old} to a {v}.", "The user switched from the {old} to a {v}."),
            ("My new phone is a {v}.", "The user's new phone is a {v}."),
        ),
    ),
    Slot(
        "age",
        tuple(map(str, range(24, 60))),
        first=(("I'm {v} years old.", "The user is {v} years old."), ("My age is {v}.", "The user's age is {v}.")),
        again=(("At {v} I feel fine.", "The user is {v}."),),
        change=(
            ("I turned {v} yesterday!", "The user turned {v}."),
            ("I'm {v} now.", "The user is now {v} years old."),
        ),
    ),
    Slot(
        "favourite_colour",
        ("green", "blue", "orange", "purple", "yellow"),
        first=(
            ("My favourite colour is {v}.", "The user's favourite colour is {v}."),
            ("I like {v} best of all colours.", "The user likes {v} best of all colours."),
        ),
        again=(("As my favorite color is {v}, the room shall be {v}.", "The user's favorite color is {v}."),),
        change=(
            ("My favourite colour is {v} now.", "The user's favourite colour is now {v}."),
            ("{v} is my new favourite colour.", "{v} is the user's new favourite colour."),
        ),
    ),
    Slot(
        "school",
        ("Leeds University", "Ghent University", "Lund University", "Porto University"),
        first=(
            ("I study at {v}.", "The user studies at {v}."),
            ("I'm a student at {v}.", "The user is a student at {v}."),
        ),
        again=(("My classes at {v} start at nine.", "The user attends {v}."),),
        change=(
            ("I transferred to {v}.", "The user transferred to {v}."),
            ("I've left {old}, I study at {v} now.", "The user left {old} and studies at {v} now."),
        ),
    ),
    Slot(
        "rent",
        ("700", "850", "990", "1,200", "1,450"),
        first=(
            ("My rent is {v} euros.", "The user's rent is {v} euros."),
            ("I pay {v} euros of rent a month.", "The user pays {v} euros of rent a month."),
        ),
        again=(("My flat costs me {v} euros of rent.", "The user's flat costs {v} euros of rent."),),
        change=(
            ("My rent went up to {v} euros.", "The user's rent went up to {v} euros."),
            ("From now on my rent is {v} euros.", "The user's rent is {v} euros from now on."),
        ),
    ),
    Slot(
        "dentist",
        _MONTHS,
        first=(
            ("My dentist appointment is on {v}.", "The user's dentist appointment is on {v}."),
            ("I have to see the dentist on {v}.", "The user has to see the dentist on {v}."),
        ),
        again=(("Remind me of the dentist on {v}.", "The user has a dentist appointment on {v}."),),
        change=(
            ("My dentist moved my appointment to {v}.", "The user's dentist appointment was moved to {v}."),
            ("My dentist appointment is on {v} now.", "The user's dentist appointment is now on {v}."),
        ),
    ),
    Slot(
        "thesis",
        _MONTHS,
        first=(
            ("The deadline of my thesis is {v}.", "The deadline of the user's thesis is {v}."),
            ("My thesis is due on {v}.", "The user's thesis is due on {v}."),
        ),
        again=(("I must hand in my thesis on {v}.", "The user must hand in their thesis on {v}."),),
        change=(
            ("The deadline of my thesis was extended to {v}.", "The user's thesis deadline was extended to {v}."),
            ("My thesis is now due on {v}.", "The user's thesis is now due on {v}."),
        ),
    ),
    Slot(
        "bank",
        ("Triodos", "Monzo", "Revolut", "Barclays"),
        first=(("My bank is {v}.", "The user's bank is {v}."), ("I bank with {v}.", "The user banks with {v}.")),
        again=(("I still bank with {v}.", "The user still banks with {v}."),),
        change=(
            ("I switched banks, from {old} to {v}.", "The user switched banks from {old} to {v}."),
            ("My new bank is {v}.", "The user's new bank is {v}."),
        ),
    ),
    Slot(
        "doctor",
        ("Dr. Osei", "Dr. Lindqvist", "Dr. Marino", "Dr. Haddad"),
        first=(("My doctor is {v}.", "The user's doctor is {v}."),),
        again=(("I am a patient of {v}.", "The user is a patient of {v}."),),
        change=(
            ("My new doctor is {v}.", "The user's new doctor is {v}."),
            ("I changed doctors, from {old} to {v}.", "The user changed doctors from {old} to {v}."),
        ),
    ),
    Slot(
        "sister_city",
        _CITIES,
        first=(("My sister lives in {v}.", "The user's sister lives in {v}."),),
        again=(("My sister's home is in {v}.", "The user's sister's home is in {v}."),),
        change=(("My sister moved to {v}.", "The user's sister moved to {v}."),),
    ),
    Slot(
        "hobby",
        ("chess", "gardening", "rock climbing", "pottery", "birdwatching", "salsa dancing", "board games"),
        first=(
            ("I love {v}.", "The user loves {v}."),
            ("One of my hobbies is {v}.", "One of the user's hobbies is {v}."),
        ),
        again=(("I really enjoy {v}, you know.", "The user enjoys {v}."),),
    ),
    Slot(
        "allergy",
        ("peanuts", "shellfish", "penicillin", "cats", "pollen"),
        first=(("I'm allergic to {v}.", "The user is allergic to {v}."),),
        again=(("Remember my allergy to {v}.", "The user has an allergy to {v}."),),
    ),
    Slot(
        "language",
        ("Spanish", "Japanese", "Arabic", "Dutch", "Polish"),
        first=(("I speak {v}.", "The user speaks {v}."),),
        again=(("I speak {v} at home.", "The user speaks {v} at home."),),
    ),
    Slot(
        "visited",
        _CITIES,
        first=(
            ("I have been to {v} once.", "The user has been to {v} once."),
            ("I visited {v} last year.", "The user visited {v}."),
        ),
        again=(("As I said, I have been to {v}.", "The user has been to {v}."),),
    ),
)
CHATTER = (
    "Good morning!",
    "ok thanks!",
    "What is the capital of Peru?",
    "Can you explain how tides work?",
    "lol, nice one",
    "Write a haiku about autumn.",
    "That sounds great, go on.",
    "How many ounces are in a pound?",
)


def filled(wording: tuple[str, str], value: str, old: str) -> tuple[str, str]:
    said, kept = (text.format(v=value, old=old) for text in wording)
    return said[0].upper() + said[1:], kept[0].upper() + kept[1:]


def _every_wording() -> Iterator[tuple[Slot, str, str, str]]:
    """Yield every slot, value, saying and kept sentence that there can be."""
    for slot in SLOTS:
        for value in slot.values:
            for wording in (*slot.first, *slot.again):
                yield slot, value, *filled(wording, value, "")
            for old in slot.values:
                for wording in slot.change:
                    yield slot, value, *filled(wording, value, old)


KEPT_OF: Final[Mapping[str, str]] = {said: kept for _, _, said, kept in _every_wording()}
"""What a perfect reader writes down of a sentence that a person said."""

MEANING: Final[Mapping[str, tuple[str, str]]] = {kept: (slot.name, value) for slot, value, _, kept in _every_wording()}
"""The slot and value of a sentence that a perfect reader wrote."""
