"""What a batch holds together changes nothing: the same turns leave the same, however they are cut."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.admission import admit
from schema import AdmittedTurn, Candidate, Context, ForgetRequest, Message, Question, Turn
from tests.extractors import by_rules
from worker.extract import Extractor
from worker.extract.utterances import question_of

_BEGIN = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
_SAID = (
    ("My name is Noor.", "Hi Noor! Do you have any pets?"),
    ("Yes, two cats", "Lovely. Where do you live?"),
    ("Berlin", "Nice."),
    ("My brother Tom lives in Oslo. He works at a bank.", "Oh? How old is he?"),
    ("34", "I see."),
    ("got the job!!", "Great! When do you start?"),
    ("on Monday", "Please do not share passwords with me."),
    ("I love them.", "Would you like more tips?"),
    ("yes please", "Here they are."),
    ("Forget that I live in Berlin.", "Done."),
    ("Call me Max", "Sure, Max."),
    ("Can you plan a menu, my son is allergic to nuts?", "Of course."),
    ("ok thanks", ""),
    ("Remind me to pay rent on Friday at 5pm", "Will do."),
    ("boiler died again. 400 euros, no hot water since Tuesday", "Oh no."),
    ("It was the pump.", "What did it cost?"),
    ("Vivo en Madrid con mi hermana", "¡Qué bien!"),
)


@cache
def _extractor() -> Extractor:
    return by_rules()


def _turn(number: int, said: str, reply: str) -> Turn:
    messages = [Message(role="user", content=said)]
    if reply:
        messages.append(Message(role="assistant", content=reply))
    return Turn(
        turn_id=f"t{number}",
        tenant_id="acme",
        user_id="maya",
        conversation_id=f"c{number % 2}",
        messages=tuple(messages),
        occurred_at=_BEGIN + timedelta(minutes=number),
    )


def _left_by(turns: Sequence[Turn], cuts: Sequence[int]) -> list[Candidate | ForgetRequest]:
    """What all batches leave, with the questions and the name carried from one to the next as the pipeline does."""
    questions: dict[str, Question] = {}
    name: str | None = None
    found: list[Candidate | ForgetRequest] = []
    edges = [0, *sorted(cuts), len(turns)]
    for begin, end in pairwise(edges):
        asked = {conversation: one.text for conversation, one in questions.items()}
        batch = []
        for turn in turns[begin:end]:
            batch.append(AdmittedTurn(turn, admit(turn, asked.pop(turn.conversation_id, ""))))
            if question := question_of(turn.text_of("assistant")):
                asked[turn.conversation_id] = question
        items = _extractor().extract(batch, Context(questions=questions, name=name)).items
        for one in batch:
            question = question_of(one.turn.text_of("assistant"))
            conversation = one.turn.conversation_id
            questions.pop(conversation, None)
            if question:
                questions[conversation] = Question(
                    conversation_id=conversation, text=question, turn_id=one.turn.turn_id
                )
        for item in items:
            for fact in item.facts if isinstance(item, Candidate) else ():
                if fact.attribute in ("name", "preferred_name"):
                    name = fact.object
        found += items
    return found


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(_SAID), min_size=2, max_size=16), st.lists(st.integers(1, 15), max_size=6))
def test_the_same_turns_leave_the_same_one_by_one_in_eights_and_cut_anywhere(
    said: list[tuple[str, str]], cuts: list[int]
) -> None:
    turns = [_turn(number, *one) for number, one in enumerate(said)]
    one_by_one = _left_by(turns, range(1, len(turns)))
    assert _left_by(turns, ()) == one_by_one
    assert _left_by(turns, range(8, len(turns), 8)) == one_by_one
    assert _left_by(turns, sorted({cut for cut in cuts if cut < len(turns)})) == one_by_one
