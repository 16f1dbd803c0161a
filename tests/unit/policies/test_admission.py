"""Which turns are worth an extraction."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.admission import admit, is_own_news
from policies.language.languages import language_of
from schema import AdmissionAction, Attachment, Message, Turn
from tests.growth import assert_grows_linearly

WHEN = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)


def _turn(*said: tuple[str, str], **fields: Any) -> Turn:
    messages = tuple(Message.model_validate({"role": role, "content": content}) for role, content in said)
    return Turn(
        turn_id="t1",
        tenant_id="acme",
        user_id="maya",
        conversation_id="c1",
        messages=messages,
        occurred_at=WHEN,
        **fields,
    )


def _of_user(text: str) -> AdmissionAction:
    return admit(_turn(("user", text))).action


@pytest.mark.parametrize(
    "text",
    [
        "My sister Anna lives in Oslo with her two kids.",
        "I'm moving to Lisbon next month for my new job.",
        "My rent went up to $1,400 in March.",
        "We adopted a puppy last weekend and my son is over the moon.",
        "Remember that the spare key is under the blue pot.",
        "remind me to call the dentist tomorrow",
        "Forget that I used to smoke.",
        "This is private: I'm thinking about leaving my husband.",
    ],
)
def test_a_turn_about_the_users_life_or_an_order_to_the_memory_is_kept(text: str) -> None:
    assert _of_user(text) is AdmissionAction.KEEP


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hey there!",
        "ok thanks",
        "Thank you so much!",
        "haha nice",
        "What is the capital of France?",
        "How do vaccines work?",
        "who won the world cup in 1998",
        "Can you explain recursion to a beginner?",
        "That sounds great!",
        "",
        "🎉🎉🎉",
        "```python\nmy_name = 'x'\nprint(my_name)\n```",
        "def main():\n    return my_house\n",
        "2026-11-21 10:00:00 ERROR my service failed\n2026-11-21 10:00:01 INFO my service restarted",
        "| my name | age |\n|---|---|\n| Bo | 3 |",
    ],
)
def test_small_talk_world_questions_and_pasted_text_are_skipped(text: str) -> None:
    assert _of_user(text) is AdmissionAction.SKIP


@pytest.mark.parametrize(
    "text",
    [
        "can we act like the rank thing was never said, dad reads this also",
        "who earns what here is private so unremember it plz, wasnt mine to pass on",
    ],
)
def test_what_may_ask_for_something_to_be_forgotten_is_at_least_asked(text: str) -> None:
    assert _of_user(text) is AdmissionAction.ASK


@pytest.mark.parametrize("text", ["Yes, two cats", "Berlin", "Three of them", "a nurse"])
def test_a_bare_reply_to_the_assistants_question_is_at_least_asked(text: str) -> None:
    admission = admit(_turn(("assistant", "Tell me more. What about you, do you have any pets?"), ("user", text)))
    assert admission.action is not AdmissionAction.SKIP


def test_a_bare_reply_that_opens_a_turn_may_answer_the_turn_before() -> None:
    admission = admit(_turn(("user", "Berlin"), ("assistant", "Lovely city.")))
    assert admission.action is AdmissionAction.ASK
    assert admission.reasons == ("may_answer",)


def test_withdrawn_consent_skips_whatever_is_said() -> None:
    admission = admit(_turn(("user", "Remember that my sister is called Anna."), consent="withdrawn"))
    assert admission.action is AdmissionAction.SKIP
    assert admission.reasons == ("consent_withdrawn",)


@pytest.mark.parametrize(
    "text",
    [
        "Off the record, I hate my boss.",
        "My salary is $90k. Don't remember this.",
        "Off the record: I may leave Lisbon.",
        "Don't save this: I may be fired.",
    ],
)
def test_what_is_said_off_the_record_is_skipped(text: str) -> None:
    admission = admit(_turn(("user", text)))
    assert admission.action is AdmissionAction.SKIP
    assert admission.reasons == ("off_the_record",)


def test_what_only_sounds_like_off_the_record_loses_nothing() -> None:
    admission = admit(_turn(("user", "I lost my job at the plant. Never saw this coming.")))
    assert admission.action is AdmissionAction.KEEP


@pytest.mark.parametrize(
    "text", ["Меня зовут Иван и я живу в Москве", "私は東京に住んでいます", "אני גר בתל אביב עם אשתי"]
)
def test_a_language_without_tables_is_asked_about_and_named_as_such(text: str) -> None:
    admission = admit(_turn(("user", text)))
    assert admission.action is AdmissionAction.ASK
    assert "not_english" in admission.reasons


@pytest.mark.parametrize(
    "text",
    [
        "Hola, me llamo Juan y vivo en Madrid con mi familia",
        "Mein Mann ist Vegetarier und isst keinen Fisch",
        "Ma fille a eu son permis hier",
        "Mam dwa koty i mieszkam w Krakowie",
        "我对芒果过敏，住在上海",
    ],
)
def test_what_another_language_tells_of_its_speaker_is_kept_and_named_as_such(text: str) -> None:
    admission = admit(_turn(("user", text)))
    assert admission.action is AdmissionAction.KEEP
    assert set(admission.reasons) >= {"worth", "not_english"}


@pytest.mark.parametrize(
    "text", ["¿Cuál es la capital de Francia?", "Wie hoch ist der Eiffelturm?", "Merci beaucoup !"]
)
def test_a_question_about_the_world_in_another_language_is_not_kept(text: str) -> None:
    assert _of_user(text) is not AdmissionAction.KEEP


@pytest.mark.parametrize(
    "text",
    [
        "I live in San José with my abuela",
        "My café in Łódź opens on Monday",
        "I love sushi",
        "lol",
        "die hard fan here",
        "Mia turned 6 today!",
        "Ben walks already",
    ],
)
def test_english_with_foreign_names_is_english(text: str) -> None:
    assert language_of(text) == "en"


def test_an_attachment_is_kept_even_when_nothing_is_said() -> None:
    lease = Attachment(uri="s3://bucket/lease.pdf", media_type="application/pdf")
    assert admit(_turn(("user", "here"), attachments=(lease,))).action is AdmissionAction.KEEP


def test_what_the_assistant_says_of_the_user_is_not_admitted() -> None:
    admission = admit(_turn(("user", "ok"), ("assistant", "I live in Berlin and my sister is called Anna.")))
    assert admission.action is AdmissionAction.SKIP


def test_an_instruction_on_how_to_answer_is_admitted() -> None:
    assert _of_user("Always answer in French.") is not AdmissionAction.SKIP


def test_the_reasons_never_repeat_what_was_said() -> None:
    admission = admit(_turn(("user", "My sister Wilhelmina moved to Reykjavik in March and owes me $500.")))
    assert all(reason.replace("_", "").isalpha() and reason.islower() for reason in admission.reasons)
    assert "wilhelmina" not in " ".join(admission.reasons)


@given(st.text(max_size=3000), st.sampled_from(["user", "assistant"]))
def test_any_text_is_judged_and_judged_alike_twice(text: str, role: str) -> None:
    turn = _turn(("assistant", "And you?"), (role, text))
    assert admit(turn) == admit(turn)


@pytest.mark.parametrize(
    "piece", ["a", "```", "[<", " \n", "my ", "I'm ", "remember ", "?!", "don't forget ", "💥", "\u202e"]
)
def test_a_turn_of_full_size_is_judged_in_bounded_time(piece: str) -> None:
    assert_grows_linearly(lambda text: admit(_turn(("user", text))), piece, 60_000)


@pytest.mark.parametrize("rows", [100, 4_000])
def test_a_table_is_no_prose_however_long_it_is(rows: int) -> None:
    assert _of_user("| I | my |\n" * rows) is AdmissionAction.SKIP


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Ernsthaft: ich bin nach Ulm gezogen."),
        ("fr", "Bonne nouvelle : j'ai déménagé à Quimper."),
        ("pl", "Bez żartów: przeprowadziłam się do Torunia."),
        ("zh", "更正：我住在厦门。"),
    ],
)
def test_what_is_announced_in_another_language_is_the_speakers_own_news(language: str, text: str) -> None:
    assert is_own_news(text, "", language)
