"""What somebody may have wished forgotten: it is hidden, and asked about; what they surely meant is gone."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from interfaces.cli.output import short
from interfaces.cli.why import outcome_of
from memory.erasure.memories import erase_memories
from memory.erasure.subjects import erase_turns
from memory.reviews import NotHidden, approve, asked_in, hidden_by, reject
from recall.turn_story import turn_stories
from schema import Asker, Memory, Review, Scope
from stores.catalog import Outcome
from tests.contract.pipeline import EVERYTHING, Worker, only
from tests.contract.test_reviews import waiting
from tests.turns import subject

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)


def hidden_in_doubt(worker: Worker, user: str) -> Review:
    worker.hear(user, "My ex-wife Karin lives in Hamburg.")
    worker.hear(user, "Actually, forget that.", first=1)
    return waiting(worker, user)


def test_what_a_wish_to_forget_may_have_meant_is_hidden_and_asked_about(worker: Worker, anna: str) -> None:
    review = hidden_in_doubt(worker, anna)
    assert (review.asked_by, review.candidate, worker.known(subject(anna))) == (Asker.FORGETTING, None, [])
    assert "Karin" in asked_in(review, worker.context.catalog)


def test_a_turn_tells_that_what_it_may_have_meant_is_hidden_by_which_review_and_what_was_decided(
    worker: Worker, anna: str
) -> None:
    review, turn = hidden_in_doubt(worker, anna), f"{anna}-1"

    def told() -> str:
        return outcome_of(turn_stories(subject(anna), [turn], worker.context.catalog)[turn])

    assert worker.outcomes(subject(anna))[turn] == Outcome.HIDDEN
    assert told() == f"what it may have asked to forget is hidden, until somebody decides: review {short(review.id)}"
    reject(review.id, worker.context, by="anna", now=NOW)
    assert told() == "what it may have asked to forget is hidden, told again since"


def test_a_wish_of_which_nothing_is_known_is_not_told_as_forgotten(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I teach piano in Oslo. Please forget what I told you about the lighthouse.")
    assert worker.outcomes(subject(anna))[f"{anna}-0"] == Outcome.KEPT


def test_whoever_decides_reads_the_words_of_the_wish_masked_until_it_is_decided(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My ex-wife Karin lives in Hamburg.")
    worker.hear(anna, "Actually, forget that. My IBAN is DE89 3704 0044 0532 0130 00.", first=1)
    review = waiting(worker, anna)
    assert review.wish is not None
    assert ("forget that" in review.wish, "3704" in review.wish, review.wished_in) == (True, False, f"{anna}-1")
    reject(review.id, worker.context, by="anna", now=NOW)
    assert "forget that" not in worker.everywhere(subject(anna))


def of_several(worker: Worker, user: str) -> tuple[Review, Memory, Memory]:
    worker.hear(user, "My ex-wife Karin lives in Hamburg. I teach piano in Oslo.")
    worker.hear(user, "Actually, forget that.", first=1)
    review = waiting(worker, user)
    karin, piano = sorted(hidden_by(review, worker.context.catalog), key=lambda memory: "piano" in memory.summary)
    return review, karin, piano


def test_of_several_memories_those_alone_go_that_were_meant(worker: Worker, anna: str) -> None:
    review, karin, _ = of_several(worker, anna)
    assert len(asked_in(review, worker.context.catalog).splitlines()) == 2
    with pytest.raises(NotHidden):
        approve(review.id, worker.context, by="anna", now=NOW, only=[review.id])
    approve(review.id, worker.context, by="anna", now=NOW, only=[karin.id])
    assert "piano" in only(worker.known(subject(anna), *EVERYTHING)).summary
    assert "Karin" not in worker.everywhere(subject(anna))


def test_the_words_of_a_wish_go_with_the_first_of_what_it_may_have_meant(worker: Worker, anna: str) -> None:
    review, karin, piano = of_several(worker, anna)
    erase_memories(subject(anna), [karin.id], worker.context, by="anna", reason="by hand", now=NOW)
    left = waiting(worker, anna)
    assert (left.id, left.wish, hidden_by(left, worker.context.catalog)) == (review.id, None, [piano])


def test_the_words_of_a_wish_go_with_its_turn(worker: Worker, anna: str) -> None:
    hidden_in_doubt(worker, anna)
    erase_turns(subject(anna), Scope.TURN, f"{anna}-1", worker.context, by="anna", now=NOW)
    assert "forget that" not in worker.everywhere(subject(anna))


def test_what_was_meant_to_be_forgotten_is_gone_once_somebody_says_so(worker: Worker, anna: str) -> None:
    review = hidden_in_doubt(worker, anna)
    assert approve(review.id, worker.context, by="anna", now=NOW).memory is None
    assert worker.known(subject(anna), *EVERYTHING) == []
    assert "Karin" not in worker.everywhere(subject(anna))


def test_what_was_not_meant_is_told_again(worker: Worker, anna: str) -> None:
    review = hidden_in_doubt(worker, anna)
    reject(review.id, worker.context, by="anna", now=NOW)
    assert "Karin" in only(worker.known(subject(anna))).summary
    assert worker.context.catalog.reviews.page(subject(anna)) == []


def test_who_asks_for_what_nobody_knows_to_be_forgotten_is_told(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I love black coffee.")
    worker.hear(anna, "Please forget what I told you about the lighthouse.", first=1)
    last = worker.events(subject(anna))[-1]
    told = json.loads(last["payload"])
    assert (last["event"], told["code"], "lighthouse" in str(told)) == ("memory.error", "nothing_to_forget", False)
    assert "coffee" in only(worker.known(subject(anna))).summary


def test_of_a_memory_of_two_facts_only_what_is_meant_is_forgotten(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I make 84k and my rent's 1350")
    worker.hear(anna, "Please forget what I told you about my salary.", first=1)
    rest = only(worker.known(subject(anna)))
    [source] = worker.context.catalog.sources(subject(anna), rest.source_turn_ids)
    assert ("1350" in rest.summary, "1350" in source.text_of("user")) == (True, True)
    assert "84k" not in worker.everywhere(subject(anna))


def test_the_words_of_what_was_meant_go_and_those_of_its_rest_stay(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I'm bankrupt and my daughter studies in Turku")
    worker.hear(anna, "I'd rather you didn't hold on to the bankruptcy. My daughter can stay.", first=1)
    approve(waiting(worker, anna).id, worker.context, by="anna", now=NOW)
    [source] = worker.context.catalog.sources(subject(anna), only(worker.known(subject(anna))).source_turn_ids)
    assert "Turku" in source.text_of("user")
    assert "bankrupt" not in worker.everywhere(subject(anna))


def test_what_is_only_read_as_meant_goes_whole_where_nothing_of_it_is_named_to_stay(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I'm bankrupt, the hearing is in Turku and the lawyer is dear")
    worker.hear(anna, "I'd rather you didn't hold on to the bankruptcy.", first=1)
    assert worker.known(subject(anna)) == []


OBLIQUE = [
    ("That I take lithium, nobody needs to have that on file, take it out of your notes.", "lithium"),
    ("That abortion should not be lying around in your notes.", "abortion"),
]


@pytest.mark.parametrize(("asked", "meant"), OBLIQUE)
def test_what_no_form_of_words_asks_for_is_read_beside_what_is_known_and_hidden(
    worker: Worker, anna: str, asked: str, meant: str
) -> None:
    worker.hear(anna, "I take lithium. I had an abortion in 2019. I failed the bar exam. I teach piano.")
    before = {memory.summary for memory in worker.known(subject(anna))}
    worker.hear(anna, asked, first=1)
    left = {memory.summary for memory in worker.known(subject(anna))}
    assert left == {summary for summary in before if meant not in summary}
    assert meant in asked_in(waiting(worker, anna), worker.context.catalog)
    assert worker.outcomes(subject(anna))[f"{anna}-1"] == Outcome.HIDDEN


def test_what_a_wish_for_all_that_is_known_leaves_out_stays(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I'm allergic to penicillin. I work at Shell as a geologist. We live in Delft.")
    worker.hear(anna, "Forget everything about me except for my allergy.", first=1)
    assert "penicillin" in only(worker.known(subject(anna))).summary
    asked = asked_in(waiting(worker, anna), worker.context.catalog)
    assert ("Shell" in asked, "Delft" in asked) == (True, True)


@pytest.mark.parametrize(
    "said",
    ["I forgot my lithium at home today.", "My ex deleted every photo of our piano.", "I dropped my bar of soap."],
)
def test_what_only_sounds_like_a_wish_to_forget_hides_nothing(worker: Worker, anna: str, said: str) -> None:
    worker.hear(anna, "I take lithium. I had an abortion in 2019. I failed the bar exam. I teach piano.")
    worker.hear(anna, said, first=1)
    assert worker.context.catalog.reviews.page(subject(anna)) == []


def test_the_rest_of_what_was_hidden_stays_told_and_goes_once_the_whole_is_told_again(
    worker: Worker, anna: str
) -> None:
    worker.hear(anna, "I'm bankrupt and my daughter studies in Turku")
    worker.hear(anna, "I'd rather you didn't hold on to the bankruptcy. My daughter can stay.", first=1)
    rest = only(worker.known(subject(anna))).summary
    assert ("Turku" in rest, "bankrupt" in rest) == (True, False)
    assert only(worker.known(subject(anna))).source_turn_ids == (f"{anna}-0",)
    reject(waiting(worker, anna).id, worker.context, by="anna", now=NOW)
    whole = only(worker.known(subject(anna))).summary
    assert ("Turku" in whole, "bankrupt" in whole) == (True, True)


def test_a_wish_that_is_said_twice_in_a_message_is_one(worker: Worker, anna: str) -> None:
    worker.hear(
        anna, "I tile bathrooms. On Monday I start for Mrs Bene in Brno, she pays half in cash without invoice."
    )
    worker.hear(anna, "you didn't read that about cash and invoice. delete", first=1)
    assert any("tiles bathrooms" in memory.summary for memory in worker.known(subject(anna)))
    assert not any("cash" in memory.summary for memory in worker.known(subject(anna)))


def test_a_wish_is_no_news_of_what_it_names(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My savings are in Luminor, about 31 thousand euros. I keep bees.")
    worker.hear(anna, "My daughter scolded me. Remove my savings from wherever you put them!", first=1)
    assert not any("savings" in memory.summary for memory in worker.known(subject(anna)))


def test_a_fragment_goes_with_the_clause_that_is_forgotten(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I'm behind with the tax office, two quarters, it keeps me awake. I paint facades in Lyon.")
    worker.hear(anna, "Take the tax office thing out of your notes.", first=1)
    assert [memory.summary for memory in worker.known(subject(anna))] == [f"{anna.title()} paints facades in Lyon."]
