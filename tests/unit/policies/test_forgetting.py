"""What a wish to forget takes, and what it leaves."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.forgetting import Known, Meant, left_of, meant_by
from policies.pieces import pieces_of, told_together
from policies.wish_words import bare, life_topics_meant, names_nothing
from schema import Entity, Fact, ForgetRequest
from tests.unit.policies.builders import POLICY, memory

NEXT_DAY: Final = datetime(2026, 11, 3, 9, tzinfo=UTC)


def wish(what: str, **more: object) -> ForgetRequest:
    return ForgetRequest.model_validate({"turn_id": "t", "ordinal": 0, "what": what, **more})


def known(summary: str, similarity: float = 0.2, **shares: float) -> Known:
    return Known(memory(summary=summary), similarity, shares)


def test_a_wish_takes_what_has_all_of_its_words_and_leaves_the_rest() -> None:
    meant = meant_by(wish("my knee"), [known("Maya hurt a knee skiing."), known("Maya plays chess.")], POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == ((0,), ())


def test_what_is_told_of_somebody_else_is_never_meant() -> None:
    facts = [known("Maya likes coffee.", 0.8), known("Maya's boss likes coffee.", 0.99)]
    assert meant_by(wish("I like coffee"), facts, POLICY, "Maya").surely == (0,)


def test_a_wish_about_somebody_takes_only_what_tells_of_them() -> None:
    facts = [known("Maya likes coffee.", 0.9), known("Maya's boss likes coffee.", 0.5)]
    assert meant_by(wish("my boss"), facts, POLICY, "Maya").surely == (1,)


def test_an_attribute_that_the_wish_names_is_found_in_other_words() -> None:
    facts = [known("Maya earns 52k.", 0.3, income=0.8), known("Maya has two cats.", 0.3, pet=0.9)]
    assert meant_by(wish("my salary"), facts, POLICY, "Maya").surely == (0,)


def test_of_two_facts_of_one_attribute_the_nearest_is_meant_where_neither_has_a_word_of_the_wish() -> None:
    facts = [known("Maya is 92 kilos.", 0.5, body=0.9), known("Maya is 1.74 tall.", 0.3, body=0.9)]
    assert meant_by(wish("my weight"), facts, POLICY, "Maya").surely == (0,)


def test_where_nothing_is_surely_meant_the_nearest_may_be() -> None:
    facts = [known("Maya hit a swan with the van.", 0.5), known("Maya's favourite colour is blue.", 0.1)]
    assert meant_by(wish("the bird"), facts, POLICY, "Maya").perhaps == (0,)


def test_nothing_is_meant_where_nothing_is_near() -> None:
    meant = meant_by(wish("the lighthouse"), [known("Maya has two cats.", 0.05)], POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == ((), ())


@pytest.mark.parametrize("doubtful", [False, True])
def test_everything_is_meant_where_all_is_and_hidden_where_that_is_doubtful(doubtful: bool) -> None:
    facts = [known("Maya has two cats."), known("Maya's boss likes coffee.")]
    meant = meant_by(wish("everything", scope="all", doubtful=doubtful), facts, POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == (((), (0, 1)) if doubtful else ((0, 1), ()))


@given(st.lists(st.floats(-1, 1), max_size=6))
def test_of_a_doubtful_wish_nothing_is_surely_meant(similarities: list[float]) -> None:
    facts = [known(f"Maya said thing{place}.", similarity) for place, similarity in enumerate(similarities)]
    assert meant_by(wish("my knee", doubtful=True), facts, POLICY, "Maya").surely == ()


def test_of_two_facts_in_one_memory_the_other_stays() -> None:
    pieces = (known("Maya earns 84k.", 0.5, income=0.9), known("Their rent is 1350.", 0.1, cost=0.9))
    both = Known(memory(summary="Maya earns 84k and their rent is 1350."), 0.4, {}, pieces)
    assert meant_by(wish("my salary"), [both], POLICY, "Maya").surely == (0,)
    assert left_of(both, wish("my salary"), POLICY, "Maya") == "Maya said that their rent is 1350."


def test_of_things_named_one_by_one_each_is_meant_where_nothing_has_all_their_words() -> None:
    facts = [known("Maya is 71.", age=0.9), known("Maya goes to St Marys school."), known("Maya swims.")]
    both = wish("my age and my school").model_copy(update={"apart": ("my age", "my school")})
    assert meant_by(both, facts, POLICY, "Maya").surely == (0, 1)


def test_a_title_ends_no_piece() -> None:
    assert len(pieces_of("Maya sees a therapist, Dr. Pollard, Mondays at 4.")) == 1


def test_a_few_words_behind_what_is_forgotten_go_with_it() -> None:
    pieces = (known("Maya's son Brian was sent home for fees."), known('Maya: "balance 8,400."'))
    both = Known(memory(summary="Maya's son Brian was sent home for fees, balance 8,400."), 0.4, {}, pieces)
    said = "I don't like that matter of Brian to remain with you, remove it."
    request = wish("my son Brian").model_copy(update={"said": said})
    assert left_of(both, request, POLICY, "Maya") is None


def test_what_leans_on_what_is_forgotten_goes_with_it() -> None:
    pieces = (known("Maya's ex is called Malin."), known("She took the sofa."), known("Maya has a cat."))
    all_three = Known(memory(summary="Maya's ex is called Malin and she took the sofa."), 0.4, {}, pieces)
    assert left_of(all_three, wish("Malin"), POLICY, "Maya") == "Maya has a cat."


@pytest.mark.parametrize("more", ["Dr Kolb", "8 weeks on Friday", "on Thursdays", "since June 2019", "Marina Crown"])
def test_a_name_or_measure_is_no_piece_apart_from_what_it_tells_more_of(more: str) -> None:
    assert pieces_of(f"Maya sees a therapist, {more}.") == (f"Maya sees a therapist, {more}.",)
    assert pieces_of(f'Maya: "swim a lot, see a therapist, {more}"') == (
        'Maya: "swim a lot"',
        f'Maya: "see a therapist, {more}"',
    )


@pytest.mark.parametrize(
    "half",
    [
        "We'd had him for fourteen years.",
        "Maya found him in the garden.",
        'Maya: "I loved her to bits"',
        "It was a hard winter.",
        'Maya: "They buried him at the lake"',
    ],
)
@pytest.mark.parametrize("is_first", [False, True])
def test_half_a_thought_is_not_what_is_left(half: str, is_first: bool) -> None:
    died = "Maya's dog Rex died."
    pieces = (known(half), known(died)) if is_first else (known(died), known(half))
    both = Known(memory(summary=f"{pieces[0].memory.summary} {pieces[1].memory.summary}"), 0.4, {}, pieces)
    assert left_of(both, wish("my dog Rex"), POLICY, "Maya") is None


@pytest.mark.parametrize(
    "whole",
    [
        "We moved to Turku in 2019.",
        "Maya taught her son chess.",
        "Maya gave Ana her keys.",
        "This spring Maya ran 10 km.",
    ],
)
def test_what_names_whom_it_tells_of_is_left(whole: str) -> None:
    both = Known(
        memory(summary=f"{whole} Maya's dog Rex died."), 0.4, {}, (known(whole), known("Maya's dog Rex died."))
    )
    assert left_of(both, wish("my dog Rex"), POLICY, "Maya") == whole


def test_nothing_is_left_of_a_memory_that_tells_one_thing() -> None:
    assert pieces_of("Maya earns 84k and 5% of the sales.") == ("Maya earns 84k and 5% of the sales.",)
    assert left_of(known("Maya earns 84k."), wish("my salary"), POLICY, "Maya") is None


def test_a_quotation_is_cut_into_quotations_and_its_rest_is_one() -> None:
    summary = 'Maya: "Vegas in March, the wife thinks it is a fair. Then Denver for days, with her Tom."'
    vegas, wife, denver, tom = pieces_of(summary)
    assert vegas == 'Maya: "Vegas in March"'
    assert told_together([denver, tom], "Maya") == 'Maya: "Then Denver for days, with her Tom."'
    assert told_together([wife], "Maya") == 'Maya: "the wife thinks it is a fair."'


@given(st.text(alphabet="ab1 .,;-andbut", max_size=60))
def test_pieces_hold_every_word_of_a_summary_in_its_order(words: str) -> None:
    for summary in (words, f'Maya: "{words}"'):
        kept = " ".join(pieces_of(summary, "Maya")).replace("Maya: ", "")
        spoken = [word for word in re.findall(r"\w+", words) if word not in ("and", "but", "while", "plus")]
        assert [word for word in re.findall(r"\w+", kept) if word not in ("and", "but", "while", "plus")] == spoken


def test_what_a_message_is_read_to_ask_for_may_be_meant_whatever_its_words() -> None:
    facts = [replace(known("Maya takes lithium."), read=0.7), replace(known("Maya swims."), read=0.01)]
    assert meant_by(wish("what I said about the pills"), facts, POLICY, "Maya").perhaps == (0,)


def test_what_reads_as_meant_and_no_part_of_which_does_is_not() -> None:
    parts = tuple(replace(known(part), read=0.01) for part in ("Maya swims.", "Maya rows."))
    facts = [
        replace(known("Maya takes lithium."), read=0.9),
        replace(known("Maya swims. Maya rows."), read=0.9, pieces=parts),
    ]
    assert meant_by(wish("what I said about the pills"), facts, POLICY, "Maya").perhaps == (0,)


def test_of_what_was_just_said_only_what_is_read_as_meant_may_be() -> None:
    at = datetime(2026, 11, 2, 9, tzinfo=UTC)
    before = at - timedelta(minutes=1)
    told = [
        replace(Known(memory(summary=summary, source_turn_ids=("one",), said_at=before)), read=chance)
        for summary, chance in (("Maya wets the bed.", 0.8), ("Maya swims.", 0.05))
    ]
    assert meant_by(wish("what was just said", just_said=True, said_at=at), told, POLICY, "Maya").perhaps == (0,)


def test_a_clause_that_names_the_user_again_stands_alone() -> None:
    assert pieces_of("On 50mg sertraline, and Maya lives in Oslo.", "Maya") == (
        "On 50mg sertraline",
        "Maya lives in Oslo.",
    )


@pytest.mark.parametrize(
    ("summary", "pieces"),
    [
        ("Aisha's revising and Hamza's started guitar.", ("Aisha's revising", "Hamza's started guitar.")),
        ("Maya's son Leo is 4 and Ana is 7.", ("Maya's son Leo is 4", "Ana is 7.")),
        ("Maya loves Anna and Tom from work.", ("Maya loves Anna and Tom from work.",)),
        ("Maya likes Ana's dog and Tom's cat.", ("Maya likes Ana's dog and Tom's cat.",)),
    ],
)
def test_a_clause_about_somebody_else_who_is_named_stands_alone(summary: str, pieces: tuple[str, ...]) -> None:
    assert pieces_of(summary) == pieces


def test_of_what_was_said_on_a_day_only_what_the_wish_is_about_is_meant() -> None:
    day = datetime(2026, 11, 2, 9, tzinfo=UTC)
    said = [
        Known(memory(summary="Maya voted for the mayor.", said_at=day), 0.5),
        Known(memory(summary="Maya goes to the archive.", said_at=day), 0.1),
        Known(memory(summary="Maya voted in 2019.", said_at=day - timedelta(days=9)), 0.5),
    ]
    of_the_day = {"said_on": day.date(), "doubtful": True}
    assert meant_by(wish("what I said about voting", **of_the_day), said, POLICY, "Maya").perhaps == (0,)
    assert meant_by(wish("what I told you", **of_the_day), said, POLICY, "Maya").perhaps == (0, 1)


def test_what_was_just_said_is_what_the_turn_before_left() -> None:
    at = datetime(2026, 11, 2, 9, tzinfo=UTC)
    turns = [
        Known(memory(summary=f"Maya said {turn}.", source_turn_ids=(turn,), said_at=at + timedelta(minutes=minute)))
        for turn, minute in [("one", -90), ("two", -20), ("three", -1), ("three", -1)]
    ]
    now = wish("what was just said", just_said=True, said_at=at)
    assert meant_by(now, turns, POLICY, "Maya").perhaps == (2, 3)
    assert meant_by(now, turns[:1], POLICY, "Maya").perhaps == ()


def test_a_wish_that_names_the_day_takes_what_was_told_then() -> None:
    at = datetime(2026, 11, 2, 9, tzinfo=UTC)
    told = [Known(memory(summary="Maya hurts.", said_at=at)), Known(memory(summary="Maya swims.", said_at=NEXT_DAY))]
    assert meant_by(wish("the bad one", said_on=at.date()), told, POLICY, "Maya").perhaps == (0,)


def test_what_is_read_as_meant_is_and_what_is_hardly_read_so_is_not_however_near() -> None:
    facts = [known("Maya voted for the bridge.", 0.36), known("Maya collects stamps.", 0.02)]
    read_apart = [replace(facts[0], read=0.7), replace(facts[1], read=0.01)]
    assert meant_by(wish("my ballots"), read_apart, POLICY, "Maya").perhaps == (0,)
    assert meant_by(wish("my ballots"), [replace(facts[0], read=0.01)], POLICY, "Maya").perhaps == ()


def test_a_wish_that_names_a_kind_of_sensitive_data_may_mean_all_that_speaks_of_it() -> None:
    facts = [known("Maya has hepatitis."), known("Maya sings bass."), known("Maya was treated for a tumour.")]
    assert meant_by(wish("my medical history"), facts, POLICY, "Maya").perhaps == (0, 2)


def test_a_wish_that_names_an_attribute_does_not_mean_its_whole_kind() -> None:
    facts = [known("Maya has debts of 3000 euros.", debt=0.8), known("Maya earns 52k.", income=0.8)]
    assert meant_by(wish("my salary"), facts, POLICY, "Maya").surely == (1,)


def test_somebody_with_a_name_is_meant_by_what_they_are_called_too() -> None:
    teacher = memory(summary="Maya's teacher Ann is late.", entities=(Entity(text="Ann", type="PERSON"),))
    assert meant_by(wish("my teacher"), [Known(teacher, 0.5, {})], POLICY, "Maya").surely == (0,)


def test_whoever_is_named_beside_it_makes_what_the_user_does_nobody_elses() -> None:
    seen = memory(
        summary="Maya sees a therapist on Mondays, her name is Dr. Reis.",
        entities=(Entity(text="Reis", type="PERSON"),),
    )
    told = memory(summary="Tom sees a therapist.", entities=(Entity(text="Tom", type="PERSON"),))
    meant = meant_by(wish("my therapist"), [Known(seen, 0.4, {}), Known(told, 0.4, {})], POLICY, "Maya")
    assert meant.surely == (0,)


@pytest.mark.parametrize(
    ("what", "named"),
    [
        ("I withdraw my remark about Leo; remove it", "about Leo"),
        ("Bitcoin thing, please you forget", "Bitcoin"),
        ("erase that please", ""),
    ],
)
def test_a_whole_sentence_is_cut_to_the_words_that_name_something(what: str, named: str) -> None:
    assert bare(what) == named


def of_topics(summary: str, **chances: float) -> Known:
    return Known(memory(summary=summary), 0.2, {}, topics=chances)


def test_a_wish_that_names_a_topic_as_a_whole_means_what_is_surely_of_it_and_hides_what_may_be() -> None:
    items = [
        of_topics("Maya is a nurse at St Mary's.", work=0.95),
        of_topics("Maya is at the depot on Mondays.", work=0.4),
        of_topics("Maya has a koi pond.", work=0.02),
    ]
    meant = meant_by(wish("my job", whole=True), items, POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == ((0,), (1,))


def test_a_wish_that_names_one_thing_of_a_topic_means_only_that() -> None:
    items = [
        of_topics("Maya broke up with Sam.", love=0.99),
        of_topics("Maya was married for eleven years.", love=0.95),
    ]
    assert meant_by(wish("Maya broke up with Sam"), items, POLICY, "Maya").surely == (0,)


def test_what_is_told_of_somebody_else_is_not_of_the_users_topic() -> None:
    items = [of_topics("Maya's wife is a nurse.", work=0.9), of_topics("Maya's boss is called Sheila.", work=0.9)]
    meant = meant_by(wish("my work", whole=True), items, POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == ((1,), ())


def test_where_somebody_is_named_nothing_of_a_topic_is_sure() -> None:
    named = memory(summary="Sheila sings at work.", entities=(Entity(text="Sheila", type="PERSON"),))
    meant = meant_by(wish("my work"), [Known(named, 0.2, {}, topics={"work": 0.9})], POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == ((), (0,))


def test_a_topic_that_is_other_people_means_what_is_told_of_them() -> None:
    items = [of_topics("Maya's son Theo is four.", children=0.97), of_topics("Maya sails.", children=0.01)]
    assert meant_by(wish("my kids", whole=True), items, POLICY, "Maya").surely == (0,)


def test_of_a_doubtful_wish_that_names_a_topic_nothing_is_surely_meant() -> None:
    items = [of_topics("Maya owes the bank 8,000.", money=0.95)]
    meant = meant_by(wish("my finances", doubtful=True), items, POLICY, "Maya")
    assert (meant.surely, meant.perhaps) == ((), (0,))


@pytest.mark.parametrize(
    ("what", "whole", "topics"),
    [
        ("my health stuff", False, {"health"}),
        ("all my medical data", False, {"health"}),
        ("my mental health", False, {"mind"}),
        ("my love life", False, {"love"}),
        ("diet and weight stuff", True, {"food", "looks"}),
        ("my car", False, set()),
        ("my car", True, {"vehicles"}),
        ("my salary", True, set()),
        ("my old job", False, set()),
        ("my brother's job", True, set()),
        ("Maya travels", False, set()),
        ("that I cook", False, set()),
    ],
)
def test_a_wish_names_a_topic_where_its_words_say_nothing_else(what: str, whole: bool, topics: set[str]) -> None:
    assert life_topics_meant(wish(what, whole=whole), "Maya") == topics


@pytest.mark.parametrize(
    ("words", "nothing"),
    [
        ("what you heard", True),
        ("the hearing", False),
        ("my savings", False),
        ("these things", True),
        ("that I dropped out", False),
        ("I take that back", True),
        ("what I told you before", True),
        ("nah", True),
        ("ugh, no", True),
        ("that I asked that", True),
    ],
)
def test_a_thing_that_is_called_by_an_idle_word_or_was_done_by_one_is_named(words: str, nothing: bool) -> None:
    assert names_nothing(words) is nothing


def test_a_fact_that_is_called_as_a_wish_names_it_is_meant_though_no_word_of_it_is_told() -> None:
    pay = Fact(entity="user", verb="earns", object="31k", attribute="salary")
    items = [
        Known(memory("Maya earns 31k as a pastoral lead.", facts=(pay,)), 0.2, {"income": 0.2}),
        known("Maya owes her dad two grand.", income=0.2),
    ]
    assert meant_by(wish("my salary"), items, POLICY, "Maya").surely == (0,)


def test_what_may_be_of_a_topic_stays_where_it_reads_as_not_meant() -> None:
    health = {"health": 0.5}
    items = [
        Known(memory("Maya is on sertraline."), 0.2, topics={"health": 0.95}, read=0.9),
        Known(memory("Maya had a checkup."), 0.2, topics=health, read=0.4),
        Known(memory("Maya interviews at Mercer."), 0.2, topics=health, read=0.0),
    ]
    assert meant_by(wish("my health", whole=True), items, POLICY, "Maya") == Meant((0,), (1,))
