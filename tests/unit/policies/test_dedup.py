from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.dedup import Neighbour, beside_what_is_known, decide, may_end
from policies.facts import compare_facts
from policies.language.wording import read
from policies.merge import merge
from policies.pairs import numbers_clash
from schema import Candidate, Certainty, Decision, DecisionAction, Fact, Memory, MemoryType, SameFact, memory_id
from tests.unit.policies.builders import NOON, POLICY, candidate, facts, from_candidate, memory, moments, summaries

CREATE, UPDATE, CHECK = DecisionAction.CREATE, DecisionAction.UPDATE, DecisionAction.CHECK
SUPERSEDE, SKIP = DecisionAction.SUPERSEDE, DecisionAction.SKIP

candidates = st.builds(
    lambda summary, facts, at, type_: candidate(summary, facts=facts, occurred_at=at, type=type_),
    summaries,
    facts,
    moments,
    st.sampled_from((MemoryType.SEMANTIC, MemoryType.EPISODIC)),
)
cosines = st.floats(min_value=-1, max_value=1)


@st.composite
def neighbourhoods(draw: st.DrawFn) -> tuple[Candidate, list[Neighbour]]:
    said = draw(candidates)
    near = [
        Neighbour(
            memory(
                draw(summaries),
                turn_id=f"old-{n}",
                type=said.type,
                facts=draw(facts),
                occurred_at=draw(moments),
                category=draw(st.sampled_from(("Personal", "Finance"))),
            ),
            draw(cosines),
        )
        for n in range(draw(st.integers(min_value=0, max_value=4)))
    ]
    return said, sorted(near, key=lambda n: -n.similarity)


def _city(city: str) -> tuple[Fact, ...]:
    return (Fact(entity="user", verb="lives in", object=city, attribute="home_city"),)


@pytest.mark.parametrize(
    ("old", "new", "similarity", "expected"),
    [
        ("The user has two kids.", "The user has 2 children.", 0.95, UPDATE),
        ("The user has two kids.", "The user has 2 children.", 0.85, UPDATE),
        ("The user has two kids.", "The user has 2 children.", 0.79, CREATE),
        ("The user has two kids.", "The user has three kids.", 0.97, SUPERSEDE),
        ("The user has two kids.", "The user has three kids.", 0.81, SUPERSEDE),
        ("The user plans a garden shed.", "The user is planning a shed for the garden.", 0.91, UPDATE),
        ("The user owns a red kayak.", "The user collects stamps.", 0.81, CREATE),
    ],
)
def test_the_words_decide_within_the_thresholds_of_the_plan(
    old: str, new: str, similarity: float, expected: DecisionAction
) -> None:
    existing = memory(old)
    decision = decide(candidate(new), [Neighbour(existing, similarity)], [], POLICY, NOON)
    assert decision.action is expected
    assert decision.targets == (() if expected is CREATE else (existing.id,))


@pytest.mark.parametrize("similarity", [0.5, 0.81, 0.97])
def test_one_thing_in_the_place_of_another_is_not_the_same(similarity: float) -> None:
    existing = memory("The user likes coffee.")
    decision = decide(candidate("The user likes tea."), [Neighbour(existing, similarity)], [], POLICY, NOON)
    assert decision.action in {CREATE, CHECK}


def test_nothing_near_is_something_new() -> None:
    assert decide(candidate(), [], [], POLICY, NOON).action is CREATE


def test_a_different_neighbour_does_not_hide_the_same_fact_behind_it() -> None:
    other, same = memory("The user likes coffee.", turn_id="a"), memory("The user enjoys tea.", turn_id="b")
    near = [Neighbour(other, 0.93), Neighbour(same, 0.84)]
    decision = decide(candidate("The user likes tea."), near, [], POLICY, NOON)
    assert (decision.action, decision.targets, decision.similarity) == (UPDATE, (same.id,), 0.84)


def test_every_contradicted_memory_is_superseded_whatever_its_cosine() -> None:
    near = memory("The user lives in Lisbon.", facts=_city("Lisbon"), turn_id="a")
    far = memory("Faro is home.", facts=_city("Faro"), turn_id="b")
    said = candidate("The user lives in Porto.", facts=_city("Porto"))
    decision = decide(said, [Neighbour(near, 0.9), Neighbour(far, 0.1)], [near, far], POLICY, NOON)
    assert decision.action is SUPERSEDE
    assert set(decision.targets) == {near.id, far.id}
    assert decision.similarity == 0.9


def test_an_event_that_changes_an_attribute_supersedes_the_fact() -> None:
    fact = memory("The user lives in Lisbon.", facts=_city("Lisbon"))
    move = candidate("The user moved to Porto.", facts=_city("Porto"), type=MemoryType.EPISODIC)
    decision = decide(move, [], [fact], POLICY, NOON)
    assert (decision.action, decision.targets, decision.similarity) == (SUPERSEDE, (fact.id,), None)


def test_an_event_never_updates_a_fact() -> None:
    fact = memory("The user lives in Lisbon.", facts=_city("Lisbon"))
    visit = candidate("The user lives in Lisbon.", facts=_city("Lisbon"), type=MemoryType.EPISODIC)
    assert decide(visit, [], [fact], POLICY, NOON).action is CREATE


def test_a_reason_names_the_attribute_and_never_its_values() -> None:
    old = memory("The user lives in Lisbon.", facts=_city("Lisbon"))
    decision = decide(candidate("The user lives in Porto.", facts=_city("Porto")), [], [old], POLICY, NOON)
    assert decision.reason == "home_city changed"
    odd = Fact(entity="user", verb="lives in", object="Porto", attribute="Home: Porto!")
    before = Fact(entity="user", verb="lives in", object="Lisbon", attribute="Home: Porto!")
    decision = decide(candidate(facts=(odd,)), [], [memory("x", facts=(before,))], POLICY, NOON)
    assert "Porto" not in decision.reason


def test_an_earlier_statement_does_not_replace_a_later_one() -> None:
    later = memory("The user lives in Porto.", facts=_city("Porto"), occurred_at=NOON)
    earlier = candidate("The user lives in Lisbon.", facts=_city("Lisbon"), occurred_at=NOON - timedelta(days=1))
    assert decide(earlier, [Neighbour(later, 0.9)], [later], POLICY, NOON).action is SKIP


def test_what_was_superseded_does_not_come_back_when_it_is_delivered_again() -> None:
    first = candidate("The user lives in Lisbon.", facts=_city("Lisbon"), turn_id="turn-2", ordinal=0)
    old = from_candidate(first)
    successor = memory(
        "The user lives in Porto.", turn_id="turn-2", ordinal=1, facts=_city("Porto"), supersedes=(old.id,)
    )
    assert decide(first, [Neighbour(successor, 0.9)], [successor], POLICY, NOON).action is SKIP


def test_another_category_is_merged_only_if_the_words_say_the_same() -> None:
    elsewhere = memory("The user plans a garden shed.", category="Finance")
    same = candidate("The user is planning a garden shed.")
    assert decide(same, [Neighbour(elsewhere, 0.95)], [], POLICY, NOON).action is UPDATE


@pytest.mark.parametrize(
    ("created_hours_ago", "apart_hours", "expected"),
    [(1, 1, UPDATE), (72, 72, UPDATE), (73, 1, CREATE), (1, 73, CREATE)],
)
def test_episodes_are_one_only_within_the_window(
    created_hours_ago: int, apart_hours: int, expected: DecisionAction
) -> None:
    said = candidate("The user ran along the river.", type=MemoryType.EPISODIC)
    old = memory(
        "The user ran along the river.",
        type=MemoryType.EPISODIC,
        created_at=NOON - timedelta(hours=created_hours_ago),
        occurred_at=NOON - timedelta(hours=apart_hours),
    )
    assert decide(said, [Neighbour(old, 0.99)], [], POLICY, NOON).action is expected


@given(candidates)
def test_the_same_candidate_again_is_never_created_twice(said: Candidate) -> None:
    created: Memory = from_candidate(said).model_copy(update={"created_at": NOON})
    decision = decide(said, [Neighbour(created, 1.0)], [], POLICY, NOON)
    assert decision.action is UPDATE
    assert decision.targets == (memory_id(created.subject, said.type, said.turn_id, said.ordinal),)


@given(neighbourhoods())
def test_no_contradiction_is_ever_merged_and_no_later_memory_superseded(
    neighbourhood: tuple[Candidate, list[Neighbour]],
) -> None:
    said, near = neighbourhood
    decision = decide(said, near, [n.memory for n in near], POLICY, NOON)
    by_id = {n.memory.id: n.memory for n in near}
    targets = [by_id[id_] for id_ in decision.targets]
    if decision.action is UPDATE:
        assert len(targets) == 1
        repeated = said.summary == targets[0].summary
        assert repeated or compare_facts(said.facts, targets[0].facts) is not SameFact.CHANGED
        assert not numbers_clash(read(said.summary).quantities, read(targets[0].summary).quantities)
    if decision.action is SUPERSEDE:
        assert targets
        assert all(target.occurred_at <= said.occurred_at for target in targets)
    if decision.action is CHECK:
        assert len(targets) == 1
    if decision.action is CREATE:
        assert not targets
    if decision.action is SKIP:
        assert all(target.said_at > said.said_at for target in targets)


_HOMES = (
    "The user lives in {}.",
    "The user moved to {}.",
    "The user's home is in {}.",
    "The user is based in {}.",
    "The user left the old flat and lives in {} now.",
)


@given(
    st.lists(
        st.tuples(st.sampled_from(("Lisbon", "Porto", "Faro", "Braga")), st.sampled_from(_HOMES), cosines),
        min_size=1,
        max_size=12,
    )
)
def test_after_any_statements_about_one_slot_exactly_the_last_holds(said: list[tuple[str, str, float]]) -> None:
    active: dict[uuid.UUID, Memory] = {}
    for number, (city, wording, cosine) in enumerate(said):
        at = NOON + timedelta(minutes=number)
        statement = candidate(
            wording.format(city), turn_id=f"turn-{number}", facts=_city(city), occurred_at=at, said_at=at
        )
        known = list(active.values())
        # What the index finds is up to chance; what has the same attribute is always found.
        decision = decide(statement, [Neighbour(memory, cosine) for memory in known], known, POLICY, at)
        if decision.action is UPDATE:
            [target] = decision.targets
            active[target] = merge(active[target], statement, 0.5, at, "test")
        else:
            created = from_candidate(statement)
            active[created.id] = created
            for id_ in decision.targets:
                del active[id_]
        for id_ in decision.outdated:
            del active[id_]
        assert [fact.object for memory in active.values() for fact in memory.facts] == [city]


def test_what_says_one_memory_again_outdates_the_one_that_it_contradicts() -> None:
    again = memory("The user lives in Porto.", facts=_city("Porto"), turn_id="a")
    contradicted = memory("Faro is home.", facts=_city("Faro"), turn_id="b")
    said = candidate("Porto is the user's home.", facts=_city("Porto"))
    decision = decide(said, [Neighbour(again, 0.9)], [again, contradicted], POLICY, NOON)
    assert (decision.action, decision.targets, decision.outdated) == (UPDATE, (again.id,), (contradicted.id,))


def test_that_one_thing_ended_says_nothing_of_another() -> None:
    ended = (Fact(entity="user", verb="no longer works at", object="Initech", attribute="employer"),)
    holds = (Fact(entity="user", verb="works at", object="Hooli", attribute="employer"),)
    now = memory("The user works at Hooli.", facts=holds)
    said = candidate("The user no longer works at Initech.", facts=ended)
    assert decide(said, [Neighbour(now, 0.8)], [now], POLICY, NOON).action is CREATE


@pytest.mark.parametrize("name", ["Anna", "anna32", "Anna 32", "O'Neil-2"])
def test_what_the_user_is_called_is_nothing_that_two_statements_share(name: str) -> None:
    assert read(f"{name} moved to Berlin.", name) == read("Anna moved to Berlin.", "Anna")


def test_a_statement_changes_what_it_shares_a_word_with_and_not_what_is_merely_near() -> None:
    moved = candidate("Anna moved from Lisbon to Berlin.", change="moves")
    home, dog = memory("Anna lives in Lisbon."), memory("Anna keeps a dog.", turn_id="dog")
    near = [Neighbour(home, 0.8, 0.9, 0.9), Neighbour(dog, 0.85, 0.9, 0.9)]
    assert decide(moved, near, (), POLICY, NOON, "Anna").targets == (home.id,)


def test_what_another_does_changes_nothing_of_the_user() -> None:
    quit_ = candidate("Anna's flatmate Dario just quit Ikea.", change="ends")
    works = memory("Anna works at Ikea.")
    assert decide(quit_, [Neighbour(works, 0.8, 0.9, 0.9)], (), POLICY, NOON, "Anna").action is CREATE
    tom = memory("Anna's flatmate Dario works at Ikea.")
    assert decide(quit_, [Neighbour(tom, 0.8, 0.9, 0.9)], (), POLICY, NOON, "Anna").targets == (tom.id,)


def test_what_is_said_in_one_breath_ends_nothing_of_itself_without_a_word_of_it() -> None:
    known = memory("Nadia is Karim's sister, she's a dentist.", turn_id="same")
    near = [Neighbour(known, 0.8, 0.9, 0.9)]
    expecting = candidate("Karim's sister is pregnant, and Karim is over the moon.", turn_id="same", news=0.9)
    assert decide(expecting, near, (), POLICY, NOON, "Karim").action is CREATE
    put_right = candidate("Nadia is Karim's cousin.", turn_id="same", change="corrects")
    assert decide(put_right, near, (), POLICY, NOON, "Karim").targets == (known.id,)


def test_news_of_another_attribute_changes_no_event_to_come() -> None:
    home = Fact(entity="Ines", verb="lives in", object="Oslo", attribute="home_city")
    moved = candidate("Maya's sister Ines moved to Oslo.", change="moves", facts=(home,))
    wedding = memory(
        "Maya's sister Ines is getting married in Porto.",
        type=MemoryType.EPISODIC,
        said_at=NOON,
        occurred_at=NOON + timedelta(days=30),
    )
    near = [Neighbour(wedding, 0.7)]
    assert decide(moved, near, (), POLICY, NOON, "Maya").action is CREATE
    aged = candidate("Maya turned 39.", facts=(Fact(entity="user", verb="is", object="39", attribute="age"),))
    assert decide(aged, [Neighbour(wedding, 0.3, ending=0.57)], (), POLICY, NOON, "Maya").action is not SUPERSEDE
    put_off = candidate("Ines moved the wedding in Porto to January.", change="moves")
    assert decide(put_off, near, (), POLICY, NOON, "Maya").targets == (wedding.id,)


def test_what_goes_on_without_a_date_ends_with_news_of_it_and_what_happened_does_not() -> None:
    broke_up = candidate("Maya and Leo broke up.", type=MemoryType.EPISODIC, occurred_at=NOON)
    together = memory("Maya and Leo are together.", type=MemoryType.EPISODIC, occurred_at=NOON, said_at=NOON)
    dated = together.model_copy(update={"occurred_at": NOON - timedelta(days=3)})
    for known, action in ((together, SUPERSEDE), (dated, CREATE)):
        decision = decide(broke_up, [Neighbour(known, 0.85)], [], POLICY, NOON, "Maya")
        assert decision.action is action


def test_where_somebody_grew_up_is_only_ever_put_right() -> None:
    grew_up = Fact(entity="user", verb="grew up in", object="Sudbury", attribute="hometown")
    known = memory("Wendy grew up in Sudbury.", facts=(grew_up,))
    lives = candidate("Wendy has been in Hamilton for thirty years now.", turn_id="t2", news=1.0)
    meant = candidate(
        "Sorry, Wendy meant she grew up in Sarnia.",
        turn_id="t2",
        facts=(grew_up.model_copy(update={"object": "Sarnia"}),),
    )
    for ended in (None, True):
        near = [Neighbour(known, 0.8, attribute=0.9, single=0.9, ended=ended)]
        assert decide(lives, near, [], POLICY, NOON, "Wendy").action is CREATE
        assert decide(meant, near, [], POLICY, NOON, "Wendy").action is SUPERSEDE


@pytest.mark.parametrize(
    ("days_ahead", "ending", "expected"),
    [(0, 0.5, SUPERSEDE), (0, 0.2, CREATE), (30, 0.5, CHECK), (30, 0.7, SUPERSEDE)],
)
def test_what_was_read_together_ends_what_is_known_and_a_planned_event_only_surely(
    days_ahead: int, ending: float, expected: DecisionAction
) -> None:
    known = memory("Maya gives a talk at the harbour.")
    if days_ahead:
        known = known.model_copy(
            update={"type": MemoryType.EPISODIC, "occurred_at": known.said_at + timedelta(days=days_ahead)}
        )
    said = candidate("The hall is flooded.", type=MemoryType.EPISODIC).model_copy(update={"news": 0.9})

    decision = decide(said, [Neighbour(known, 0.4, ending=ending)], [], POLICY, NOON, "Maya")

    assert decision.action is expected


def test_only_what_may_end_a_memory_is_read_beside_it() -> None:
    known = memory("Maya works at the harbour.")
    news = candidate("The locker of Maya is empty.")

    def is_read(said: Candidate) -> bool:
        return may_end(said, Neighbour(known, 0.4))

    assert is_read(news)
    assert not is_read(news.model_copy(update={"turn_id": known.source_turn_ids[0]})), "one breath"
    assert not is_read(news.model_copy(update={"said_at": known.said_at - timedelta(days=1)}))
    assert not is_read(news.model_copy(update={"certainty": Certainty.WISH})), "a wish ends nothing"


def test_what_a_message_was_read_to_end_gives_way_and_what_it_leaves_stands_whatever_words_say() -> None:
    dog, lease = memory("Maya's dog weighs 31 kilos."), memory("Maya's lease is up in August.")
    said = candidate("Maya's dog weighs 27 kilos.")
    near = [Neighbour(dog, 0.9, ended=False), Neighbour(lease, 0.1, ended=True)]

    decision = decide(said, near, [], POLICY, NOON, "Maya")

    assert (decision.action, decision.targets) == (SUPERSEDE, (lease.id,))


def test_a_message_ends_all_that_it_was_read_to() -> None:
    near = [Neighbour(memory(f"Maya owns boat {n}."), 0.5, ended=True) for n in range(3)]
    decision = decide(candidate("The harbour burned down."), near, [], POLICY, NOON, "Maya")
    assert decision.targets == tuple(neighbour.memory.id for neighbour in near)


@pytest.mark.parametrize("certainty", [Certainty.SUPPOSITION, Certainty.WISH, Certainty.JOKE])
def test_what_nobody_says_is_so_stands_beside_what_is_known_whoever_decided_otherwise(certainty: Certainty) -> None:
    known = memory("Maya lives in Lisbon.")
    heard = candidate("Siri heard Maya lives in Lyon.").model_copy(update={"certainty": certainty})
    replaced = Decision(action=SUPERSEDE, reason="a model says so", targets=(known.id,))
    again = Decision(
        action=DecisionAction.UPDATE, reason="the same fact", targets=(uuid.uuid4(),), outdated=(known.id,)
    )
    assert (beside_what_is_known(heard, replaced).action, beside_what_is_known(heard, replaced).targets) == (CREATE, ())
    assert beside_what_is_known(heard, again) == again.model_copy(update={"outdated": ()})
    told = heard.model_copy(update={"certainty": Certainty.FACT})
    assert [beside_what_is_known(told, decision) for decision in (replaced, again)] == [replaced, again]
