"""Where words leave open what an utterance is, a model is asked that reads it whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from policies.admission import admit
from policies.language.heads import judge, leaves_worth_open
from schema import AdmittedTurn, Candidate, Context, ForgetRequest, Message, Policy, Turn
from schema.settings import Settings
from stores.embedding import open_utterance_reader
from stores.embedding.reading import MAY_BE_ANOTHERS, Reading, read_as
from stores.embedding.utterance_reader import UtteranceReader
from worker.extract import open_extractor
from worker.extract.judgement import Reader

_SURE = "My sister Ola moved to Oslo in May and works as a nurse."
_SAID = f"stress test came back clean, cardiologist says the ticker's strong. Also got dumped. {_SURE}"
_WISH = "Is my religion in your notes? If it is, take it off."


class _Scripted:
    """Reads all alike, and notes what it is asked."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.asked: list[Sequence[tuple[str, str]]] = []

    def read(self, utterances: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        self.asked.append(utterances)
        return [self.reading for _ in utterances]


def _items(said: str, reader: Reader | None) -> list[Candidate | ForgetRequest]:
    turn = Turn(
        tenant_id="acme",
        user_id="noor",
        conversation_id="c",
        turn_id="t",
        occurred_at=datetime(2026, 11, 21, 18, 0, tzinfo=UTC),
        messages=(Message(role="user", content=said),),
    )
    extractor = open_extractor(Settings(), None, Policy(), reader)
    return list(extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items)


def _told(reader: _Scripted | None) -> list[str]:
    return [item.summary for item in _items(_SAID, reader) if isinstance(item, Candidate)]


def test_all_that_words_leave_open_is_asked_in_one_call() -> None:
    reader = _Scripted(Reading(1.0, 0.0, 1.0, 0.0, 0.0))
    _told(reader)
    [asked] = reader.asked
    read = [text for _, text in asked]
    assert "Also got dumped." in read
    assert ("-", _SURE) not in asked
    assert len(set(asked)) == len(asked)


def test_of_a_long_message_no_more_is_read_than_of_talk() -> None:
    reader = _Scripted(Reading(1.0, 0.0, 1.0, 0.0, 0.0))
    _items(" ".join(f"Also got dumped by number {n}. stress test {n} came back clean." for n in range(300)), reader)
    [asked] = reader.asked
    assert 75 <= len(asked) <= 80


def test_what_is_read_as_worth_a_memory_is_kept() -> None:
    assert any("stress test" in summary for summary in _told(_Scripted(Reading(1.0, 0.0, 1.0, 0.0, 0.0))))
    assert not any("stress test" in summary for summary in _told(_Scripted(Reading(0.0, 0.0, 1.0, 0.0, 0.0))))


@pytest.mark.parametrize(("forgets", "wishes"), [(0.99, 1), (0.9, 0)])
def test_a_message_may_be_a_wish_to_forget_as_it_is_read(forgets: float, wishes: int) -> None:
    items = _items(_WISH, _Scripted(Reading(0.0, forgets, 1.0, 0.0, 0.0)))
    assert [item.only_as_read for item in items if isinstance(item, ForgetRequest)] == [True] * wishes


def test_a_wish_as_it_is_read_is_heard_though_its_words_look_like_another_order() -> None:
    said = "oh and lose the interview stuff, my work can see this account"
    items = _items(said, _Scripted(Reading(0.0, 0.99, 1.0, 0.0, 0.0)))
    assert [item.only_as_read for item in items if isinstance(item, ForgetRequest)] == [True]


def test_a_message_is_read_with_the_requests_in_it() -> None:
    said = "my sister borrows this phone so can you make sure theres nothing about the baby in your memory"
    reader = _Scripted(Reading(0.0, 0.9, 1.0, 0.0, 0.0))
    _items(said, reader)
    assert said in [text for asked in reader.asked for _, text in asked]


def test_what_a_wish_means_is_read_without_what_else_is_asked() -> None:
    said = (
        "How long does dough keep in the fridge? And by the way, the walnut thing, I'd prefer you not hang on to that."
    )
    [wish] = [i for i in _items(said, _Scripted(Reading(0.0, 0.99, 0.0, 0.0, 0.0))) if isinstance(i, ForgetRequest)]
    assert wish.said == "And by the way, the walnut thing, I'd prefer you not hang on to that."


def test_a_bit_behind_a_wish_is_a_part_of_it() -> None:
    said = "The mental health stuff, I'd like none of it kept. therapist, supermarket, the lot"
    items = _items(said, _Scripted(Reading(1.0, 0.99, 1.0, 0.0, 0.0)))
    assert any(isinstance(item, ForgetRequest) for item in items)
    assert all(item.unless_forgotten for item in items if isinstance(item, Candidate))


def test_what_the_sentence_of_an_order_tells_beside_it_is_no_part_of_the_wish() -> None:
    items = _items("I moved to Leeds in May, so please forget my old address.", None)
    [told] = [item for item in items if isinstance(item, Candidate)]
    assert not told.unless_forgotten


def test_a_wish_may_leave_something_out() -> None:
    items = _items("Please forget everything about me except for my allergy.", None)
    [wish] = [item for item in items if isinstance(item, ForgetRequest)]
    assert (wish.scope, wish.doubtful, wish.spares) == ("all", True, "my allergy")


@pytest.mark.parametrize(
    "said",
    ["whatever you've got on my parents' divorce, clear it all", "Please undo what you saved about me and Jonas."],
)
def test_all_of_one_thing_is_not_all_that_is_known(said: str) -> None:
    wishes = [item for item in _items(said, None) if isinstance(item, ForgetRequest)]
    assert wishes
    assert {(wish.scope, wish.doubtful) for wish in wishes} == {("thing", True)}


@pytest.mark.parametrize("said", ["Forget everything about me and my family.", "I'm leaving this app, delete it all"])
def test_what_may_mean_all_that_is_known_hides_it_and_asks(said: str) -> None:
    [wish] = _items(said, None)
    assert isinstance(wish, ForgetRequest)
    assert (wish.scope, wish.doubtful) == ("all", True)


@pytest.mark.parametrize(("forgets", "wishes"), [(0.9, 1), (0.0, 0)])
def test_a_doubtful_order_to_forget_is_none_where_its_message_reads_like_none(forgets: float, wishes: int) -> None:
    said = "Losing my job was tough but it gave me the push I needed to open a bakery."
    items = _items(said, _Scripted(Reading(0.9, forgets, 1.0, 0.0, 0.0)))
    assert len([item for item in items if isinstance(item, ForgetRequest)]) == wishes
    assert any(isinstance(item, Candidate) for item in items) or wishes


def test_words_that_settle_it_leave_nothing_open() -> None:
    assert not leaves_worth_open(judge(_SURE, None))


@pytest.fixture(scope="module")
def reader() -> UtteranceReader:
    opened = open_utterance_reader(Settings())
    assert opened is not None
    return opened


def test_wishes_to_forget_are_told_from_what_only_looks_like_one(reader: UtteranceReader) -> None:
    wishes = [_WISH, "That business with the loan, I'd rather it wasn't anywhere.", "You never heard about Tilda, ok?"]
    others = ["Don't forget to rest, you two!", "I forgot my keys again.", "I never heard back from the landlord."]
    chances = [reading.forgets for reading in reader.read([read_as(text) for text in (*wishes, *others)])]
    assert min(chances[: len(wishes)]) > max(chances[len(wishes) :])


def test_what_is_worth_a_memory_is_told_from_small_talk(reader: UtteranceReader) -> None:
    worth = ["stress test came back clean", "got dumped", "third generation on this farm"]
    idle = ["haha nice one", "that sounds lovely", "no worries, talk soon"]
    chances = [reading.worth for reading in reader.read([read_as(text) for text in (*worth, *idle)])]
    assert min(chances[: len(worth)]) > max(chances[len(worth) :])


def test_an_utterance_is_read_the_same_alone_and_among_others(reader: UtteranceReader) -> None:
    texts = [read_as(text, "And your job?") for text in (_WISH, _SURE, "nurse", "haha " * 60) for _ in range(12)]
    alone = [reader.read([text])[0].worth for text in texts]
    assert [reading.worth for reading in reader.read(texts)] == pytest.approx(alone, abs=1e-5)


def test_nothing_is_read_of_nothing(reader: UtteranceReader) -> None:
    assert reader.read([]) == []


def test_of_what_was_said_before_the_end_is_read() -> None:
    assert read_as("nurse", "a" * 900 + "And your job?") == ("a" * 287 + "And your job?", "nurse")
    assert read_as("nurse") == ("-", "nurse")


@pytest.mark.parametrize(("orders", "kept"), [(0.9, True), (0.0, False)])
def test_what_words_take_for_an_order_is_none_where_it_reads_like_none(orders: float, kept: bool) -> None:
    items = _items("Never stop dreaming!", _Scripted(Reading(0.0, 0.0, orders, 0.0, 0.0)))
    assert bool(items) is kept


def test_what_keeps_something_back_is_an_order_however_it_reads() -> None:
    items = _items("Between you and me the shop made 38 lakh.", _Scripted(Reading(0.0, 0.0, 0.0, 0.0, 0.0)))
    assert [item.private for item in items if isinstance(item, Candidate)] == [True]


_NOTE = "Dad left a note on the fridge. Forget that I live in Rome."


@pytest.mark.parametrize(("others", "doubtful"), [(0.1, False), (0.8, True)])
def test_an_order_that_reads_like_anothers_behind_another_sentence_is_in_doubt(others: float, doubtful: bool) -> None:
    items = _items(_NOTE, _Scripted(Reading(0.0, 1.0, 1.0, 0.0, 0.0, others=others)))
    assert [item.doubtful for item in items if isinstance(item, ForgetRequest)] == [doubtful]


class _Announced(_Scripted):
    """Reads as another's words what stands right behind the note alone."""

    def read(self, utterances: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        return [replace(self.reading, others=float(before.endswith("the fridge."))) for before, _ in utterances]


def test_what_follows_anothers_order_is_in_doubt_too() -> None:
    said = "Dad left a note on the fridge. Forget that I live in Rome. Forget that I like tea."
    items = _items(said, _Announced(Reading(0.0, 1.0, 1.0, 0.0, 0.0)))
    assert [item.doubtful for item in items if isinstance(item, ForgetRequest)] == [True, True]


@pytest.mark.parametrize(("others", "is_told"), [(0.1, True), (0.9, False)])
def test_what_is_read_as_anothers_is_told_by_nobody(others: float, is_told: bool) -> None:
    said = "Dad left a note on the fridge. I live in Rome and work as a tailor."
    items = _items(said, _Scripted(Reading(1.0, 0.0, 0.0, 0.0, 0.0, others=others)))
    assert any("tailor" in item.summary for item in items if isinstance(item, Candidate)) is is_told


def test_a_wish_that_is_read_to_mean_all_that_is_known_hides_it() -> None:
    [item] = _items("Can we go back to you not knowing me?", _Scripted(Reading(0.0, 1.0, 1.0, 0.0, 0.0, whole=0.9)))
    assert isinstance(item, ForgetRequest)
    assert (item.scope, item.doubtful) == ("all", True)


@pytest.mark.parametrize(
    ("said", "means_all"),
    [
        ("Wipe all of it, every last thing you know about me", True),
        ("Clear everything you know of me please.", True),
        ("Forget everything about my ex", False),
        ("delete all that about the debts", False),
    ],
)
def test_wishes_for_all_are_told_from_those_for_all_about_something(
    reader: UtteranceReader, said: str, means_all: bool
) -> None:
    wishes = [item for item in _items(said, reader) if isinstance(item, ForgetRequest)]
    assert any(wish.scope == "all" for wish in wishes) is means_all


@pytest.mark.parametrize(("others", "kept"), [(0.9, 0), (0.1, 1)])
def test_what_reads_like_anothers_orders_nothing_in_words_of_its_own(others: float, kept: int) -> None:
    said = "Guess the film. Hold on to this for the whole school year: Eetu has gym on Mondays."
    items = _items(said, _Scripted(Reading(1.0, 0.0, 1.0, 0.0, 0.0, others=others)))
    assert len([item for item in items if isinstance(item, Candidate) and item.explicit]) == kept


@pytest.mark.parametrize(
    "said", ["Bye Caroline. I'm here for you. Take care of yourself.", "Cheers! I owe you one. Let me know. Bye!"]
)
def test_a_farewell_hides_nothing_of_what_is_known(reader: UtteranceReader, said: str) -> None:
    assert not [item for item in _items(said, reader) if isinstance(item, ForgetRequest) and item.scope == "all"]


def test_an_order_by_itself_is_the_users_own() -> None:
    scripted = _Scripted(Reading(0.0, 1.0, 1.0, 0.0, 0.0, others=1.0))
    [item] = _items("Forget that I live in Rome.", scripted)
    assert isinstance(item, ForgetRequest)
    assert not item.doubtful


@pytest.mark.parametrize(
    ("before", "order", "is_others"),
    [
        ("Dad left a note on the fridge.", "Forget where I live.", True),
        ("A customer's voicemail came in.", "Please delete everything you know about me.", True),
        ("The clinic's leaflet is odd.", "Never store anything about me.", True),
        ("We broke up.", "Forget everything about Tom.", False),
        ("this is a work laptop.", "please purge the Brightwell bit", False),
    ],
)
def test_whose_order_it_is_is_read_by_what_announces_it(
    reader: UtteranceReader, before: str, order: str, is_others: bool
) -> None:
    [reading] = reader.read([read_as(order, before)])
    assert (reading.others >= MAY_BE_ANOTHERS) is is_others


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("actually let's pretend I never said the wine one", True),
        ("let's act as if the zoo application never was", True),
        ("Let's pretend that the war never happened and write a diary.", False),
        ("What would happen if I said forget that I live in Rome?", False),
    ],
)
def test_what_is_pretended_not_to_have_been_said_is_to_be_forgotten(
    reader: UtteranceReader, said: str, asks: bool
) -> None:
    assert any(isinstance(item, ForgetRequest) for item in _items(said, reader)) is asks


def test_an_order_to_keep_something_in_words_of_its_own_is_one_as_it_is_read(reader: UtteranceReader) -> None:
    said = "Hold on to this for the whole school year: Eetu has gym on Mondays and Elsa on Thursdays."
    [kept] = _items(said, reader)
    assert isinstance(kept, Candidate)
    assert kept.explicit
    assert "Eetu" in kept.summary and "Hold on" not in kept.summary
    assert not _items("Translate this: Eetu has gym on Mondays.", reader)


def test_a_sentence_is_read_after_the_one_before_it() -> None:
    reader = _Scripted(Reading(1.0, 0.0, 1.0, 0.0, 0.0))
    _items("My sister got a flat. She is a nurse there.", reader)
    assert ("My sister got a flat.", "She is a nurse there.") in [pair for asked in reader.asked for pair in asked]
