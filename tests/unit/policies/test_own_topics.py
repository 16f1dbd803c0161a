"""What ends, and what a wish to forget means, in other languages than English."""

from __future__ import annotations

import pytest

from policies.forgetting import Known, meant_by
from policies.language.own_topics import ends_what_was_told
from schema import ForgetRequest
from tests.unit.policies.builders import POLICY, memory


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("de", "Ich wohne in Mainz zur Miete", "Umzug geschafft, wir sind jetzt in Trier"),
        ("de", "Ich spiele Handball", "Handball spiel ich nicht mehr"),
        ("de", "Wir wollten im Mai nach Kreta", "Kreta ist abgesagt"),
        ("es", "Vivo con mis abuelos en Jaén", "Me mudé a Cádiz la semana pasada"),
        ("es", "Toco el violín en una orquesta", "Ya no toco el violín"),
        ("fr", "J'habite chez mes parents à Pau", "On a emménagé à Tours samedi"),
        ("fr", "Je travaille à la mairie", "J'ai trouvé un nouveau boulot à la bibliothèque"),
        ("pl", "Mieszkam w akademiku", "Wreszcie własne mieszkanie"),
        ("pl", "Chodzę na siłownię", "Z siłowni zrezygnowałam"),
        ("zh", "我住在学校宿舍", "我搬到了朝阳区"),
        ("zh", "我每天喝咖啡", "我现在不喝了，戒了咖啡"),
    ],
)
def test_what_is_over_or_another_now_takes_the_place_of_what_was_told(language: str, old: str, new: str) -> None:
    assert ends_what_was_told(f'Maya: "{new}."', f'Maya: "{old}."', language)


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("de", "Ich wohne in Mainz zur Miete", "Mein Bruder ist umgezogen"),
        ("de", "Ich arbeite bei der Post", "Ich hab noch nicht gekündigt"),
        ("de", "Ich arbeite bei der Post", "Meine Schwester hat gekündigt"),
        ("de", "Ich arbeite bei der Post", "Das Büro meiner Frau ist jetzt in Mainz"),
        ("es", "Vivo en Jaén", "Mi hermana se ha mudado a Cádiz"),
        ("es", "Mi madre trabaja en un banco", "He dejado el gimnasio"),
        ("fr", "J'habite à Pau", "Si on a déménagé un jour, ce sera à Tours"),
        ("fr", "J'ai deux chats", "J'ai un nouveau vélo"),
        ("pl", "Mieszkam w Łodzi", "Jeszcze nie przeprowadziłam się"),
        ("pl", "Mam kota", "Sprzedałem rower"),
        ("zh", "我住在苏州", "我哥哥搬到了上海"),
        ("pt", "Moro em Faro", "Mudei para Braga"),
    ],
)
def test_what_is_told_of_others_or_is_not_so_yet_ends_nothing(language: str, old: str, new: str) -> None:
    assert not ends_what_was_told(new, old, language)


@pytest.mark.parametrize(
    ("language", "wish", "meant", "other"),
    [
        ("de", "das mit meinem Lohn", "Ich verdiene 2.900 netto.", "Ich habe zwei Katzen."),
        ("de", "die Geschichte mit dem Kredit", "Wir haben Schulden bei der Sparkasse.", "Ich jogge gern."),
        ("es", "lo de mis medicinas", "Tomo Trankimazin por la noche.", "Vivo en Jaén."),
        ("fr", "ce que j'ai dit sur mon poids", "Je pèse 92 kilos.", "Ma fille joue du violon."),
        ("pl", "to o długach", "Mam kredyt we frankach.", "Lubię góry."),
        ("pl", "o mojej ciotce Halinie", "Ciotka Halina siedzi w areszcie.", "Lubię góry."),
        ("zh", "我生病的事", "我确诊了糖尿病。", "我喜欢画画。"),
        ("zh", "相亲", "我周末去相亲。", "我喜欢画画。"),
    ],
)
def test_a_wish_may_mean_what_has_its_words_or_tells_of_its_topic(
    language: str, wish: str, meant: str, other: str
) -> None:
    items = [
        Known(memory(summary=f'Maya: "{text}"'), similarity=cosine) for text, cosine in ((meant, 0.1), (other, 0.5))
    ]
    request = ForgetRequest(turn_id="t", ordinal=0, what=wish, language=language)
    found = meant_by(request, items, POLICY, "Maya")
    assert (found.surely, found.perhaps) == ((), (0,))


def test_a_wish_of_which_nothing_is_told_means_nothing_that_is_only_a_little_near() -> None:
    items = [Known(memory(summary='Maya: "Ich jogge gern."'), similarity=0.5)]
    request = ForgetRequest(turn_id="t", ordinal=0, what="das mit meinem Lohn", language="de")
    assert meant_by(request, items, POLICY, "Maya").perhaps == ()
