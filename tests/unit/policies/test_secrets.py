"""Secrets and identifiers as people write them: in many words, scripts, forms and shapes. All of them are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.privacy.screen import screen
from policies.privacy.unicode_fold import folded
from schema import Verdict
from tests.unit.policies.builders import POLICY

KEYS = [
    "whsec_Qm7Rt2Yw9Ze4Xc6Vb1Nn8Kj3Hg5Fd0Sa",
    "gsk_Qm7Rt2Yw9Ze4Xc6Vb1Nn8Kj3Hg5Fd0SaQm7Rt2Yw9Ze4",
    "hvs.CAESQm7Rt2Yw9Ze4Xc6Vb1Nn8Kj3",
    "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",
    "key-5f0c2b1a9d8e7f6a5b4c3d2e1f0a9b8c",
    "dapi5f0c2b1a9d8e7f6a5b4c3d2e1f0a9b8c",
    "GOCSPX-Qm7Rt2Yw9Ze4Xc6Vb1Nn8Kj3",
    "xapp-1-A0123456789-Qm7Rt2Yw9Ze4",
    "70512345:AAHq7Rt2Yw9Ze4Xc6Vb1Nn8Kj3Hg5Fd0Sa",
    "https://hooks.slack.com/services/T0AB12CD/B0AB12CD/Qm7Rt2Yw9Ze4Xc6Vb1Nn8Kj3",
    "AGE-SECRET-KEY-1QQPQZRY9X8GF2TVDW0S3JN54KHCE6MUA7LMQPZRY9X8GF2TVDW0S3JN54",
    "Qm7Rt2Yw9Ze4Xc6Vb1Nn8Kj3Hg5Fd0Sa",
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_known_by_its_shape_alone(key: str) -> None:
    kept = screen(f"The deployment in Frankfurt uses {key} since Monday.", POLICY).text
    assert key.rpartition("/")[2] not in kept
    assert "Frankfurt" in kept


PASSWORDS = [
    "My password is: Vq7zebra4",
    "My password hasn't changed: still Vq7zebra4",
    "My new mail password, by the way, is Vq7zebra4",
    "I reset the bank password, it is now Vq7zebra4",
    "I changed the password of the router to Vq7zebra4",
    "Save this: Vq7zebra4, it is my mail password",
    "My pw is Vq7zebra4",
    "The wifi is Vq7zebra4",
    "I log in to the portal with maya and Vq7zebra4",
    "To unlock my laptop type Vq7zebra4",
    "My password is my dog's name and Vq7zebra4",
    "Mein Passwort lautet Vq7zebra4",
    "Mi contraseña es Vq7zebra4",
    "Mon mot de passe est Vq7zebra4",
    "Minha senha é Vq7zebra4",
    "Mijn wachtwoord is Vq7zebra4",
    "Мой пароль Vq7zebra4",
    "我的密码是Vq7zebra4",
    "パスワードはVq7zebra4です",
    "My p\u0430ssword is Vq7zebra4",
    "My pass\u200bword is Vq7zebra4",
    "export DB_PASSWORD=Vq7zebra4",
    '{"user": "maya", "password": "Vq7zebra4"}',
    "<password>Vq7zebra4</password>",
    "curl -u maya:Vq7zebra4 https://api.example.org",
    "net use Z: \\\\nas\\share /user:maya Vq7zebra4",
    "the password goes: Vq7zebra4",
    "https://example.org/reset?user=maya&token=Vq7zebra4",
    "| site | password |\n| --- | --- |\n| bank | Vq7zebra4 |",
    "site,user,password\nbank,maya,Vq7zebra4",
]


@pytest.mark.parametrize("text", PASSWORDS)
def test_a_password_is_found_however_it_is_told(text: str) -> None:
    assert "Vq7zebra4" not in screen(text, POLICY).text


AS_A_HAND_DOES_THEM = [
    "Remember my locker combination, left 14 right 32 left 7.",
    "The vault dial goes clockwise 40, counterclockwise 15, clockwise 22.",
    "I log in to the bank with user 88214 and secret word marmalade.",
    "Unlock pattern on my phone is an L from the top left: 1-4-7-8-9.",
    "My tablet's lock pattern goes down, right, up and left.",
    "My 2FA recovery is 8f3k-92jd, 7dk2-0s8m and 1l4p-ww93.",
    "My voicemail password spelled out is B as in bravo, 9, X as in x-ray, 4.",
    "Here comes my wifi password.\nPelican_55_dusk",
]


@pytest.mark.parametrize("text", AS_A_HAND_DOES_THEM)
def test_a_secret_is_found_as_it_is_turned_drawn_or_spelled(text: str) -> None:
    kept = screen(text, POLICY).text
    assert not any(told in kept for told in ("14", "40", "marmalade", "1-4-7", "down", "8f3k", "ravo", "Pelican"))


@pytest.mark.parametrize(
    "text",
    [
        "I love the combination of colours, teal 14 and rust 32.",
        "A pattern of left turns took us home in 14 minutes.",
        "Turn left at exit 14, right after 32 metres, left at number 7.",
        "I knit a pattern: 1-4-7-8-9 rows of purl.",
        "My name is Bea, B as in bravo.",
        "The secret word in the game was marmalade?",
        "I log in to the bank every Monday.",
        "My recovery took 8 weeks and 3 days.",
        "I forgot my password.\nCan you help me?",
    ],
)
def test_what_only_sounds_like_a_secret_that_is_turned_drawn_or_spelled_stays(text: str) -> None:
    assert screen(text, POLICY).verdict is Verdict.ALLOW


OTHERS = [
    ("My passphrase is wooden kettle flies east", "kettle"),
    ("The code to my building is 7305", "7305"),
    ("Мой пин-код 7305, живу в Казани", "7305"),
    ("the passphrase goes: wooden kettle flies east", "kettle"),
    ("I got the code 730591 by text", "730591"),
    ("B-730591 is your sign-in code", "730591"),
    ("My phone unlocks with 730591", "730591"),
    ("My PIN is seven three zero five", "seven three"),
    ("My passcode for the tablet is my house number twice 7373", "7373"),
    ("I have one pw for all of it, kettle-River-73", "kettle-River"),
    ("The combination of my bike lock is 7-3-0-5", "7-3-0-5"),
    ("I keep the safe code, 73-05-91, in a book", "73-05"),
    ("7305 is our gate code", "7305"),
    ("My garage opens with 7305", "7305"),
    ("My residence permit number is L01X00T47", "L01X00"),
    ("I live at 7 Elm Grove, Leeds LS6 2AB with Tom", "LS6 2AB"),
    ("backup codes: 7305-9182 6473-1029", "6473"),
    ("Recovery code: QWMX-RTYV-ZXCB", "RTYV"),
    ("my 2FA secret is MZXW6YTBOI7DKNRW", "MZXW6YTB"),
    ("12 words for my wallet: zebra kettle river stone cloud apple tiger spoon grape chair violin ocean", "kettle"),
    ("zebra kettle river stone cloud apple tiger spoon grape chair violin ocean", "kettle"),
    ("1. zebra\n2. kettle\n3. river\n4. stone\n5. cloud\n6. apple\n7. tiger\n8. spoon\n9. grape\n10. chair\n"
     "11. violin\n12. ocean\nare for my wallet", "kettle"),
    ("I pay with 4111.1111.1111.1111 mostly", "1111"),
    ("I pay with 4111\u00a01111\u00a01111\u00a01111 mostly", "1111"),
    ("I pay with ４１１１１１１１１１１１１１１１ mostly", "１１１"),
    ("I pay with ٤١١١١١١١١١١١١١١١ mostly", "١١١"),
    ("I pay with 4111\u200b1111\u200b1111\u200b1111 mostly", "1111"),
    ("I pay with 4111–1111–1111–1111 mostly", "1111"),
    ("GB82-WEST-1234-5698-7654-32 is where my salary goes", "5698"),
    ("My checking account, number 73059182, is in Reno", "73059182"),
    ("My Google Pay is maya.reno@okbank", "okbank"),
    ("My passport no. is C01X00T47", "C01X00"),
    ("My NI number is JG 10 37 59 A", "10 37"),
    ("My codice fiscale is RSSMRA85T10A562S", "RSSMRA"),
    ("Meine Steuer-ID ist 12 345 678 903", "345 678"),
    ("My employee ID is 730591", "730591"),
    ("My social is 219099999", "219099999"),
    ("My number is 4155550137", "4155550137"),
    ("My number is 415 - 555 - 0137", "0137"),
    ("Mein Handy ist 0151 23456789", "23456789"),
    ("Reach me on four one five five five five zero one three seven", "five five"),
    ("Write to maya (at) example (dot) org", "maya (at)"),
    ("My mail is maya at example dot org", "maya at"),
    ("My mail is maya＠example.org", "maya"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret"), OTHERS)
def test_numbers_and_phrases_are_found_in_every_guise(text: str, secret: str) -> None:
    assert secret not in screen(text, POLICY).text


NAMES_IN_PROGRAMS = [
    "JWT signing secret",
    "CLIENT_SECRET",
    "the webhook secret",
    "ENCRYPTION_KEY",
    "our master key",
    "VAULT_TOKEN",
    "DB_PASS",
    "ftp pass",
    "the root pw",
    "WPA2 key",
    "NPM_AUTH",
]


@pytest.mark.parametrize("name", NAMES_IN_PROGRAMS)
@pytest.mark.parametrize("value", ["kettleriver", "Dragonfly", "kettle!river", "q7w8e9r0"])
@pytest.mark.parametrize("told", ["{} = {}, it runs in Dublin", "{}: {}", "{}='{}'\nI work in Porto."])
def test_what_a_program_is_let_in_by_is_found_whatever_it_looks_like(name: str, value: str, told: str) -> None:
    assert value not in screen(told.format(name, value), POLICY).text


@pytest.mark.parametrize("name", NAMES_IN_PROGRAMS)
@pytest.mark.parametrize("told", ["{} is {}, my app runs in Dublin", "We set {} to {} last week."])
def test_what_a_program_is_let_in_by_is_found_in_a_sentence_where_it_is_no_word(name: str, told: str) -> None:
    assert "kettle!7" not in screen(told.format(name, "kettle!7"), POLICY).text


@pytest.mark.parametrize(
    "text",
    [
        "Our shared secret: we both hate opera.",
        "My master key is at the reception in Graz.",
        "The session key of my talk is patience.",
        "I work on access tokens at Okta.",
        "My app token is missing and I moved to Porto.",
        "Encryption keys are what I teach in Delft.",
        "I lost the root login and the mail login at work.",
    ],
)
def test_talk_about_what_a_program_is_let_in_by_tells_none(text: str) -> None:
    assert screen(text, POLICY).text == text


@pytest.mark.parametrize(
    "text",
    [
        "I forgot the password to Netflix.",
        "My password is terrible and I should change it.",
        "I changed my password after the breach at LastPass.",
        "My office365 password expired yesterday.",
        "My password manager is 1Password.",
        "The wifi at home is terrible, 300 megabits at most.",
        "I unlocked level 2048 and signed in 3 times this week.",
        "The code of my thesis is 12000 lines long.",
        "I got promo code SAVE20 and a discount code 20261122.",
        "My bike lock is 4 years old and the alarm is set for 6:30.",
        "I answered the security questions wrong.",
        "I bought milk, eggs, bread, butter, cheese, apples, pears, rice, beans, pasta, salt, pepper and tea.",
        "The years 2019 2020 2021 2022 were hard.",
        "My passport expires on 12 March 2027 and my license in 2028.",
        "My passport is expiring on 31/08/2027.",
        "I drive a 2015 Honda Civic with 120000 miles.",
        "It was a sin to sell the 1967 Mustang.",
        "My username in the game is hard to pronounce.",
        "The ISBN of my book is 978-3-16-148410-0, it's out since October!",
        "I flew LH1234 to Munich and take B12 and D3 every day.",
        "The combo meal costs 1200 yen, and the first half of my card game starts with two decks.",
        "They came in with 1200 guests; my friend sent me 250000 euros by mistake.",
        "Password: required. My password everywhere is too weak.",
        "My pin collection: the first two are badges. The gate opens with one of two keys.",
        "I need to change: email, password, pin.\nThen I go home, sleep, eat.",
        "The photo is at s3://bucket/5f0c2b1a9d8e7f6a5b4c3d2e1f0a9b8c.png here.",
        "😀👩\u200d👩\u200d👧 are my family, 12 of us – all in.",
    ],
)
def test_talk_about_secrets_tells_none(text: str) -> None:
    screening = screen(text, POLICY)
    assert (screening.verdict, screening.text) == (Verdict.ALLOW, text)


@given(st.text(max_size=200))
def test_what_is_seen_of_a_text_knows_where_it_was_written(text: str) -> None:
    seen = folded(text)
    assert len(seen.text) == len(seen.places)
    assert list(seen.places) == sorted(set(seen.places))
    assert "".join(text[place] for place in seen.places if text[place].isascii()) == "".join(
        char for char, place in zip(seen.text, seen.places, strict=True) if text[place].isascii()
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("the card number goes forty-one eleven, eleven eleven, eleven eleven, eleven eleven", "eleven"),
        ("My PIN is forty-eight twenty-one.", "forty"),
        ("my pin: nineteen eighty four", "eighty"),
        ("the safe opens with twelve, thirty, forty-four", "thirty"),
        ("cvv is nine one three", "nine"),
        ("my account number is one two three four five six seven eight", "three"),
        ("My social is two one nine, oh nine, nine nine nine nine", "nine"),
        ("passport number nine two five six six five four one six", "six"),
    ],
)
def test_a_number_that_is_read_out_in_words_is_masked_as_one_in_digits_is(said: str, told: str) -> None:
    assert told not in screen(said, POLICY).text


@pytest.mark.parametrize(
    "said",
    [
        "I was born in nineteen eighty four.",
        "My passport expires in twenty twenty seven.",
        "My PIN board has forty two photos.",
        "My account has twelve thousand and fifty dollars.",
        "My card night is on the twenty first with twelve friends.",
        "My safe is twenty four years old.",
        "I have lived at one twenty one Elm Street for ten years.",
    ],
)
def test_what_is_counted_in_words_stays(said: str) -> None:
    assert screen(said, POLICY).text == said
