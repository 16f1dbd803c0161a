"""Orders to the memory: every form's examples, and whose words give none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.language.intents import LANGUAGES, table
from policies.language.orders import only_opens, orders_of
from schema.turn import MAX_TURN_BYTES
from tests.growth import assert_grows_linearly


def _examples(kind: str) -> Iterator[tuple[str, str, str]]:
    for intent, by_language in table().items():
        if intent != "words":
            for language, row in by_language.items():
                yield from ((intent, language, text) for text in row.get(kind, ()))


_ORDERS = [text for _, language, text in _examples("yes") if language == "en"]


@pytest.mark.parametrize(("intent", "language", "text"), list(_examples("yes")))
def test_an_example_of_an_intent_is_such_an_order(intent: str, language: str, text: str) -> None:
    assert [order.intent for order in orders_of(text, language=language)] == [intent]


@pytest.mark.parametrize(("intent", "language", "text"), list(_examples("no")))
def test_a_look_alike_of_an_intent_is_no_such_order(intent: str, language: str, text: str) -> None:
    assert intent not in [order.intent for order in orders_of(text, language=language) if not order.doubtful]


def test_what_has_the_looks_of_one_order_is_none_of_another() -> None:
    assert orders_of("Don't forget to rest") == ()


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("Never mention the bar exam again and delete it", [("never_mention", "the bar exam"), ("forget", "")]),
        ("call me Kit and never mention Catherine again", [("call_me", "Kit"), ("never_mention", "Catherine")]),
        (
            "please remember my sister's birthday and keep it private",
            [("remember", "my sister's birthday"), ("private", "")],
        ),
        ("never mention the dog and the cat", [("never_mention", "the dog and the cat")]),
        ("remember that I panic and forget my keys", [("remember", "I panic and forget my keys")]),
        ("remember that I like cakes and keep bees", [("remember", "I like cakes and keep bees")]),
        ("forget my salary and my debts", [("forget", "my salary and my debts")]),
    ],
)
def test_an_order_ends_where_another_is_joined_to_it(text: str, orders: list[tuple[str, str]]) -> None:
    assert [(order.intent, order.object_text) for order in orders_of(text)] == orders


@pytest.mark.parametrize(
    ("text", "opens"),
    [("ugh can you", True), ("Come to think of it", True), ("Please", True), ("that job thing", False)],
)
def test_words_that_only_open_an_order_name_nothing(text: str, opens: bool) -> None:
    assert only_opens(text, "en") is opens


def test_every_intent_has_examples_in_every_language() -> None:
    assert {(intent, language) for intent, language, _ in _examples("yes")} == {
        (intent, language) for intent in table() if intent != "words" for language in LANGUAGES
    }


@given(
    st.sampled_from(_ORDERS),
    st.sampled_from(['"{}"', "“{}”", "«{}»"]),
    st.sampled_from(["", "My favourite line is ", "I read "]),
)
@settings(max_examples=150, deadline=None)
def test_an_order_inside_quotes_never_orders(order: str, quotes: str, before: str) -> None:
    quoted = quotes.format(order.replace('"', ""))
    assert not orders_of(f"{before}{quoted}")


@given(
    st.sampled_from(_ORDERS),
    st.sampled_from(
        [
            "Translate this: ",
            "He wrote: ",
            "Write a notice that says: ",
            "Proofread this please: ",
            "My boss said, ",
            "Draft an email to Tom: ",
            "Lyrics: ",
            "Reply to this message: ",
        ]
    ),
)
@settings(max_examples=150, deadline=None)
def test_an_order_in_a_task_or_in_anothers_mouth_never_orders(order: str, before: str) -> None:
    assert not [one for one in orders_of(before + order) if not one.doubtful]


@pytest.mark.parametrize(
    "before", ["Write a privacy policy:\n\n", "Here is the mail I got:\n\n", "My character says this:\n"]
)
@pytest.mark.parametrize("order", ["Never store anything about me.", "Forget everything you know about me."])
def test_what_follows_a_task_on_lines_of_its_own_takes_nothing_away(before: str, order: str) -> None:
    assert not [one for one in orders_of(before + order) if not one.doubtful]


@pytest.mark.parametrize(
    ("text", "intent", "object_text", "reaches_back", "scope"),
    [
        ("forget what school I go to, mum says not to put it online", "forget", "what school I go to", False, "thing"),
        ("I'm gluten intolerant. Remember this!", "remember", "", True, "thing"),
        ("That's private.", "private", "", True, "thing"),
        ("Actually, forget that.", "forget", "", True, "thing"),
        ("Forget everything you know about me.", "forget", "", False, "all"),
        ("please forget what I told you about my salary", "forget", "my salary", False, "thing"),
        ("forget my old flat, I live in Bern now", "forget", "my old flat", False, "thing"),
        ("Don't remember anything about my divorce", "stop", "my divorce", False, "thing"),
        ("stop saving things", "stop", "", False, "all"),
        ("Deja de anotar cosas sobre mí", "stop", "", False, "all"),
        ("Bitte notiere ab jetzt nichts mehr über mich", "stop", "", False, "all"),
        ("Ne note plus rien sur moi", "stop", "", False, "all"),
        ("Nie zapisuj już nic na mój temat", "stop", "", False, "all"),
        ("别再记关于我的事了", "stop", "", False, "all"),
        ("Ne note rien sur ma santé", "stop", "ma santé", False, "thing"),
        ("I'll say it to you too: forget that I live in Rome", "forget", "I live in Rome", False, "thing"),
        ("don't remember this", "stop", "", True, "thing"),
        ("Hm, don't save that", "forget", "", True, "thing"),
        ("delete that message please", "forget", "", True, "thing"),
        ("forget what I said a minute ago", "forget", "", True, "thing"),
        ("forget my work number, keep the private one", "forget", "my work number", False, "thing"),
        ("I'd sleep better if you no longer had it in your memory", "forget", "", True, "thing"),
        ("My old flat, I'd feel better if you no longer had it", "forget", "My old flat", False, "thing"),
        ("Wipe out the surprise, please", "forget", "the surprise", False, "thing"),
        ("About the tablets, do not save that please.", "forget", "the tablets", False, "thing"),
        ("Don't keep that complaint about my aunt.", "forget", "complaint about my aunt", False, "thing"),
        ("Don't save that mum is ill", "stop", "", True, "thing"),
    ],
)
def test_an_order_says_what_it_is_about(
    text: str, intent: str, object_text: str, reaches_back: bool, scope: str
) -> None:
    (order,) = orders_of(text)
    assert (order.intent, order.object_text, order.reaches_back, order.scope) == (
        intent,
        object_text,
        reaches_back,
        scope,
    )


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Make a note: the boiler is serviced in March", "remember"),
        ("Keep this in mind for later: I never fly in December", "remember"),
        ("Save this to your memory for later: the boiler man is Gert", "remember"),
        ("Remind me: dentist on Tuesday", "remind"),
        ("Answer me in Finnish unless I say otherwise", "style"),
        ("Treat me like a beginner whenever we talk about wine", "style"),
    ],
)
def test_an_order_that_opens_a_message_is_heard_though_it_reads_like_a_task(text: str, intent: str) -> None:
    (order,) = orders_of(text)
    assert (order.intent, order.doubtful) == (intent, False)


@pytest.mark.parametrize(
    "text", ["Only the total, nothing else", "Spell rhythm for me", "Make it rhyme and keep it under ten lines"]
)
def test_how_one_task_is_to_be_done_is_no_standing_order(text: str) -> None:
    assert not orders_of(text)


@given(st.text(max_size=300), st.sampled_from([*LANGUAGES, "it"]))
@settings(max_examples=60, deadline=None)
def test_any_text_has_orders_that_stand_in_it(text: str, language: str) -> None:
    for order in orders_of(text, language=language):
        assert 0 <= order.start <= order.end <= len(text)


@pytest.mark.parametrize("piece", ["forget ", "please, ", '"', ": ", "remind me and "])
def test_a_hostile_text_is_read_in_time_in_proportion(piece: str) -> None:
    assert_grows_linearly(orders_of, piece, MAX_TURN_BYTES)


@pytest.mark.parametrize("said", ["Remember that --- please", "Remember this: --", "Forget that --- please"])
def test_an_order_about_signs_alone_is_about_what_was_just_said(said: str) -> None:
    assert all(not order.object_text and order.reaches_back for order in orders_of(said))


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("my salary is 52k, don't store that please", "stop"),
        ("don't store that I am bald", "stop"),
        ("Hm, don't save that", "forget"),
    ],
)
def test_what_is_not_to_be_kept_is_what_its_message_tells_or_else_what_was_said_before(text: str, intent: str) -> None:
    assert [(order.intent, order.reaches_back) for order in orders_of(text)] == [(intent, True)]


@pytest.mark.parametrize(
    "text",
    ["I lost the baby. Please never bring it up.", "My dad died, don't talk about it again", "don't mention him"],
)
def test_a_pronoun_that_is_not_to_be_mentioned_reaches_back(text: str) -> None:
    [order] = orders_of(text)
    assert (order.intent, order.reaches_back, order.object_text) == ("never_mention", True, "")
