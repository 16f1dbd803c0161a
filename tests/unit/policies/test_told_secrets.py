"""Secrets that are told in free words, and what only looks like them. All of them are made up."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.privacy import told_features, told_secrets
from policies.privacy.screen import masked_in, screen
from policies.privacy.told_tokens import tokens_of
from schema import MAX_TURN_BYTES, Verdict
from tests.growth import assert_grows_linearly
from tests.unit.policies.builders import POLICY

UTTERANCES = Path(__file__).parents[3] / "benchmarks" / "data" / "utterances" / "author_a.jsonl"
TOLD = {
    "The landlord changed the bin store, it's 6184 on the black gate now.": "6184",
    "The code for the yard is nine two seven one, tell the courier": "nine two seven one",
    "Our bike lock goes 5-0-5-1 and it's at the station": "5-0-5-1",
    "My debit card PIN is 8265, there, now I've told somebody.": "8265",
    "They made me change it again, so for work it's Wint3r-Tulips-Now": "Wint3r-Tulips-Now",
    "Guests ask for the wifi: network Teapot, key bees4ever": "bees4ever",
    "the three digits at the back of my Visa are 917": "917",
    "We agreed on a family word, it's 'gooseberry', nobody else knows it": "gooseberry",
    "For the security question about my first pet I put Captain Waffles": "Waffles",
    "Der Code fürs Treppenhaus ist seit gestern 5519B": "5519B",
    "Meine Geheimzahl ist sieben drei null acht": "sieben drei null acht",
    "La contraseña del wifi es mareabaja9": "mareabaja9",
    "El PIN de la tarjeta es dos nueve nueve cuatro": "dos nueve nueve cuatro",
    "Le digicode de mon immeuble c'est A3805": "A3805",
    "Mon code de carte est le 7350, garde-le pour toi": "7350",
}
HARMLESS = [
    "Bus 4471 is the one I take to my mum's, it only runs on weekdays.",
    "My locker is number 19 and my desk is by the window.",
    "The combination of pears and blue cheese is my favourite.",
    "I forgot my PIN twice this week, I'm exhausted.",
    "We were married on the 15th of June 1990",
    "I never tell anyone my passwords, I keep them in a little red notebook.",
    "Our house was built in 1887, the number's still over the door.",
    "Room 0127 of the hospital, visiting hours until seven",
    "My first pet was a dachshund, Waldi, he ate my homework for real",
    "Mein Zug ist der ICE 1092 nach Hamburg, Abfahrt 9:14 Uhr.",
    "Se me ha olvidado el pin otra vez",
    "J'ai oublié le code de l'immeuble, j'ai attendu dehors",
]


@pytest.mark.parametrize("text", TOLD)
def test_a_secret_that_is_told_in_free_words_is_not_kept(text: str) -> None:
    assert TOLD[text] not in screen(f"We talked about the house today. {text}", POLICY).text


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_is_kept_as_it_is(text: str) -> None:
    screening = screen(text, POLICY)
    assert (screening.verdict, screening.text) == (Verdict.ALLOW, text)


def test_a_secret_told_in_free_words_takes_its_sentence_with_it_and_no_other() -> None:
    screening = screen("My sister lives in Turin. The bin store is on 6184, the black gate. She paints.", POLICY)
    assert screening.text == "My sister lives in Turin.[secret] She paints."
    assert screening.reasons == ("told_secret",)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("the code for our gate is 4471 and the bins go out on Tuesday", "[secret] and the bins go out on Tuesday"),
        ("The alarm code is 7730, I drive for the Villar family.", "[secret], I drive for the Villar family."),
        (
            "Maya's alarm code is 7730, Maya drives for the Villar family.",
            "[secret], Maya drives for the Villar family.",
        ),
        (
            "The alarm code is 7730, my trainer is called Femi.",
            "[secret], my trainer is called Femi.",
        ),
        (
            "The alarm code is 7730, their trainer is called Femi and they do legs on 13 August 2026.",
            "[secret], their trainer is called Femi and they do legs on 13 August 2026.",
        ),
    ],
)
def test_a_clause_in_which_nothing_could_be_a_secret_stays_beside_one(said: str, kept: str) -> None:
    assert screen(said, POLICY, name="Maya").text == kept


def test_a_clause_beside_a_secret_goes_where_it_may_hold_more_of_it() -> None:
    assert screen("My PIN is 4821 and my other one starts with 77.", POLICY).text == ""
    assert "maiden" not in screen("My mother's maiden name is Kovač and she hates lilies.", POLICY).text


def test_what_a_rule_knows_by_name_is_called_by_it() -> None:
    screening = screen("New mobile is 086 555 7712, the old one is lost.", POLICY)
    assert screening.reasons == ("phone",)


def test_a_secret_told_in_free_words_is_among_what_is_masked() -> None:
    assert "6184" in masked_in("The bin store is on 6184, the black gate.", POLICY)


@pytest.mark.parametrize("said", ["It's -4 in there today.", "The tyre pressure is 16 now."])
def test_a_number_of_so_few_digits_is_no_secret_by_itself(said: str) -> None:
    assert masked_in(said, POLICY) == ()


def test_an_amount_with_its_thousands_parted_is_no_secret() -> None:
    said = "My visa runs out in February, the solicitor wants 1,200 just to look at it"
    assert list(told_secrets.find(said)) == []


def test_a_time_of_day_is_no_secret() -> None:
    assert list(told_secrets.find("exam date came: 21st March, 10.40am")) == []


def test_a_price_is_no_secret() -> None:
    assert list(told_secrets.find("Viktor's oven broke, the new one costs 18000.")) == []
    assert list(told_secrets.find("found a studio on SE Division, 1150/mo")) == []


def test_a_year_behind_a_month_is_no_secret() -> None:
    said = "We got the mortgage approved on 19 March 2026, they bawled in the car park of the credit union."
    assert masked_in(said, POLICY) == ()


@pytest.mark.parametrize("said", ["Bert-Anna107 loves red wine.", "For May, it's Bert-Anna107's book club pick."])
def test_what_the_user_is_called_is_no_secret_though_it_looks_like_a_password(said: str) -> None:
    name = "Bert-Anna107"
    assert [finding.start for finding in told_secrets.find(said)] == [said.index(name)]
    assert screen(said, POLICY, is_summary=True, name=name).verdict is Verdict.ALLOW


def test_a_text_without_a_digit_an_odd_word_or_one_that_is_said_with_secrets_is_not_read_further() -> None:
    assert not told_secrets.may_tell("My sister paints in Turin, and her husband cooks.")
    assert told_secrets.may_tell("It is hunter2.")
    assert told_secrets.may_tell("My word for it is heron.")


def test_of_what_people_say_of_themselves_nothing_is_taken_for_a_secret() -> None:
    texts = [json.loads(line)["text"] for line in UTTERANCES.read_text(encoding="utf-8").splitlines()]
    assert [text for text in texts if "told_secret" in screen(text, POLICY).reasons] == []


WORDS = st.sampled_from(
    ["my", "pin", "code", "is", "4471", "4 8 0 2", "four", "nine", "Kestrel99", "'tulip'", "door", "gate:", "c'est",
     "31-07-19", "heron,", "[secret]", "bank.", "fürs", "says", "\n"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=60))
def test_a_token_scores_the_sum_of_the_weights_of_what_is_fitted(words: list[str]) -> None:
    tokens = tokens_of(" ".join(words))
    fitted = told_secrets.weights()
    for at, score in enumerate(told_secrets.scores(tokens).tolist()):
        if told_features.is_candidate(tokens[at]):
            found = told_features.features_of(tokens, at).items()
            plainly = fitted.bias + sum(float(fitted.places[place]) * value for place, value in found)
            assert np.isclose(score, plainly, atol=1e-3)
        else:
            assert score == -np.inf


@given(st.text(max_size=200) | st.lists(WORDS, max_size=40).map(" ".join))
def test_tokens_follow_each_other_within_the_text(text: str) -> None:
    tokens = tokens_of(text)
    edges = [edge for token in tokens for edge in (token.start, token.end)]
    assert edges == sorted(edges)
    assert all(token.start < token.end <= len(text) for token in tokens)


@pytest.mark.parametrize(
    "piece", ["x", "1", "123 a ", "1 2 3 ", "four ", "my password is ", "a4_b ", "\"'", "::::a", "4, and 5, ", "l'"]
)
def test_a_text_of_one_piece_over_and_over_takes_time_in_proportion(piece: str) -> None:
    assert_grows_linearly(lambda text: list(told_secrets.find(text)), piece, MAX_TURN_BYTES)


def test_what_stands_beside_a_key_that_a_rule_finds_is_kept() -> None:
    said = "Remember that refunds are approved and my office uses the key AKIAABCDEFGHIJKLMNOP daily."
    assert screen(said, POLICY).text == said.replace("AKIAABCDEFGHIJKLMNOP", "[secret]")
