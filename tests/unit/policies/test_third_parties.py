from __future__ import annotations

import pytest

from policies.privacy.third_parties import (
    may_name_others,
    relations_in,
    told_in,
    told_of,
    with_relation,
    without_names,
)
from schema import Entity
from tests.unit.policies.builders import candidate


def names_in(summary: str, *people: str) -> tuple[str, ...]:
    entities = tuple(Entity(text=name, type="PERSON") for name in people)
    return told_of(candidate(summary, entities=entities), ("Maya",))


@pytest.mark.parametrize(
    "summary",
    [
        "Maya's sister Karin has epilepsy.",
        "Karin, Maya's sister, was diagnosed with diabetes.",
        "The user said that Karin is Muslim.",
        "Karin was arrested in spring.",
        "Maya likes tea. Her neighbour Karin had an abortion.",
    ],
)
def test_whoever_is_named_last_before_a_sensitive_word_is_told_of(summary: str) -> None:
    assert names_in(summary, "Karin") == ("Karin",)


@pytest.mark.parametrize(
    ("summary", "names"),
    [
        ("Maya's aunt rosa and uncle ben both have breast cancer.", {"rosa", "ben"}),
        ("Maya's flatmate (Siobhan) tested positive for chlamydia.", {"Siobhan"}),
        ("Van der Berg told Maya he has arthritis.", {"Berg"}),
        ("Anya and Sergei are getting divorced because he has syphilis.", {"Anya", "Sergei"}),
        ("Nadia caught gonorrhea.", {"Nadia"}),
        ("Bo did time for it.", {"Bo"}),
        ("Maya is learning to sew again after Harold's stroke.", {"Harold"}),
        ("best mate Gaz is three weeks off heroin", {"Gaz"}),
        ("chart again but Dani has cancer", {"Dani"}),
        ("Maya drove Nadia to the abortion clinic.", {"Nadia"}),
        ("Mr Hollis from work tried to kill himself.", {"Hollis"}),
        ("Maya's colleague Oskar drinks too much.", {"Oskar"}),
        ('The user: "Wujek Tadeusz ma raka płuc."', {"Wujek Tadeusz", "Wujek", "Tadeusz"}),
        ('The user: "Klara hat Depressionen."', {"Klara"}),
        ("Farida wears a wig since the chemo.", {"Farida"}),
        ("Maya's roommate Farida doesn't eat pork, her brother is coeliac.", {"Farida"}),
        ("Maya's roommate Farida loves bread, her brother is coeliac.", {"Farida"}),
    ],
)
def test_without_a_parse_they_are_found_where_they_stand(summary: str, names: set[str]) -> None:
    assert set(names_in(summary)) == names


@pytest.mark.parametrize(
    ("summary", "told"),
    [
        ("Maya's ex J.R. Hollis was convicted of fraud.", "Maya's ex was convicted of fraud."),
        ("Maya's colleague Thandiwe wa Mandela has lupus.", "Maya's colleague has lupus."),
        ("Maya's teammate @big.joe92 has chlamydia.", "Maya's teammate [person] has chlamydia."),
        ("The report says that K. L. Duarte has HIV.", "The report says that [person] has HIV."),
        ("Maya met A. van Loon and B. Prins, who both have HIV.", "Maya met [person] and [person], who both have HIV."),
    ],
)
def test_what_leads_a_name_goes_with_it_and_so_does_what_somebody_is_called_online(summary: str, told: str) -> None:
    assert with_relation(without_names(summary, names_in(summary, "Hollis", "Duarte", "Loon", "Prins"))) == told


def test_what_somebody_is_to_the_user_is_no_part_of_their_name() -> None:
    told = 'Maya: "roomie Kai just got top surgery after the cancer."'
    names = names_in(told, "roomie Kai")
    assert names == ("Kai",)
    assert with_relation(without_names(told, names)) == 'Maya: "roomie just got top surgery after the cancer."'


@pytest.mark.parametrize(
    "summary",
    [
        "Maya has epilepsy.",
        "Karin asked Maya about Maya's arthritis.",
        "Karin told Maya a diagnosis of the metamorphosis in the novel.",
        "Karin drove Maya to her chemotherapy.",
        "Maya met Karin at the hospital.",
        "Karin is Maya's therapist.",
        'Asked "Still sick in the mornings?", Maya said: "Mostly better now."',
        'Asked "Surely you cannot stand in a lab with a migraine?", Maya said: "I can."',
        'Maya: "im veggie got a nut allergy and hate mushrooms."',
        "Karin likes tea. Maya has asthma.",
        "Maya's brother has epilepsy.",
        "Karin sings choral music.",
        "Gluten makes me ill.",
        'Lena: "Ich bin seit Montag krankgeschrieben, Bandscheibe, voraussichtlich bis Ende des Monats."',
        'Lena: "Ich trinke keinen Kaffee mehr, seit der Schwangerschaft mag ich den Geruch nicht mehr."',
        'Rosa: "Me ingresaron en el hospital de Sevilla por la diabetes."',
        'Chloé: "Je suis enceinte et j’habite à Lyon."',
        'Kasia: "Mój lekarz mówi, że mam cukrzycę."',
        "Maya carries an EpiPen because of their nut allergy.",
    ],
)
def test_what_is_sensitive_of_the_user_or_of_nobody_named_stays(summary: str) -> None:
    assert names_in(summary, "Karin") == ()


def test_a_name_is_replaced_as_a_whole_word_and_everywhere() -> None:
    assert without_names("Karin and Karin Holm saw Karina.", ["Karin", "Karin Holm"]) == (
        "[person] and [person] saw Karina."
    )


@pytest.mark.parametrize(
    ("summary", "people"),
    [
        ('Asked "How is it?", Maya said: "It\'s been tough, but I\'m doing my rehab."', ()),
        ('Maya: "From a distance I mean, since I\'m allergic."', ()),
        ('Maya: "Yep, I\'m hoping to get into local politics."', ()),
        ("Cooking is therapy for Maya.", ()),
        ("Maya went to an LGBTQ+ counselling workshop.", ()),
        ('Maya: "I\'m reading "Dune" by Frank Herbert. It\'s a story about religion."', ("Frank Herbert",)),
    ],
)
def test_words_of_every_day_and_whoever_wrote_a_book_are_nobody_who_could_agree(
    summary: str, people: tuple[str, ...]
) -> None:
    assert names_in(summary, *people) == ()


def test_an_answer_that_is_a_name_is_no_title() -> None:
    assert names_in('Asked "Who has HIV?", Maya said: "Tom"', "Tom") == ("Tom",)


def test_a_pet_is_nobody_who_could_agree() -> None:
    assert names_in("Maya's cat Biscuit has diabetes.", "Biscuit") == ()
    assert names_in("Maya has a dog named Rex who has cancer.", "Rex") == ()
    assert names_in("Maya's dog Rex bit Karin, who has epilepsy.", "Rex", "Karin") == ("Karin",)


@pytest.mark.parametrize(
    ("summary", "people", "left"),
    [
        ("Eva Novak has HIV.", ("Eva",), "[person] has HIV."),
        ("Novak has HIV.", (), "[person] has HIV."),
        ("Maya's aunt rosa has breast cancer.", (), "Maya's aunt [person] has breast cancer."),
        ("Anna Kowalska-Nowak was diagnosed with diabetes.", ("Nowak",), "[person] was diagnosed with diabetes."),
        ("Maya said that Dr Ana Maria Lopes suffers from depression.", ("Ana Maria",), "suffers from depression."),
        ("Yesterday Karin had an abortion.", ("Karin",), "Yesterday [person] had an abortion."),
    ],
)
def test_a_name_goes_as_a_whole_with_or_without_a_parse(summary: str, people: tuple[str, ...], left: str) -> None:
    masked = without_names(summary, names_in(summary, *people))
    assert masked.endswith(left)
    assert "Lopes" not in masked


def test_the_users_own_name_is_never_masked() -> None:
    assert names_in("Maya has asthma.") == ()
    assert names_in("The user has asthma. It has got worse.") == ()


@pytest.mark.parametrize(
    ("summary", "left"),
    [
        ("Maya's friend anna kowalska-novak was diagnosed with hiv.", "Maya's friend [person] was diagnosed with hiv."),
        ("Jan van der Berg has diabetes.", "[person] has diabetes."),
        ("Maya's boss peter o'neill is gay.", "Maya's boss [person] is gay."),
        ('Maya: "KARIN HOLM HAS EPILEPSY."', 'Maya: "[person] HAS EPILEPSY."'),
        ('Anna "Ania" Kowalska has bipolar disorder.', "[person] has bipolar disorder."),
        ('Maya: "kowalska\'s hiv test was positive."', 'Maya: "[person]\'s hiv test was positive."'),
        ("Maya's best friend is Anna Lind. She has HIV.", "Maya's best friend is [person]. She has HIV."),
        ("Maya found out that marco rossi is gay.", "Maya found out that [person] is gay."),
        ("HIV was found in Tomasz Wilk, Maya's flatmate.", "HIV was found in [person], Maya's flatmate."),
        ("Sofia, Maya's niece, is blind.", "[person], Maya's niece, is blind."),
        ("Maya's neighbour mr. kowalczyk is a muslim.", "Maya's neighbour mr. [person] is a muslim."),
    ],
)
def test_a_name_goes_in_any_letters_with_its_particles_and_nicknames_wherever_it_stands(
    summary: str, left: str
) -> None:
    assert without_names(summary, names_in(summary)) == left


def test_what_something_is_in_is_a_place_whatever_a_parse_took_it_for() -> None:
    assert told_in("He paints in Lyon and Karin has cancer.", ("Maya",), ["Lyon", "Karin"]) == ("Karin",)
    assert told_in("The tumour was found in Karin.", ("Maya",), ["Karin"]) == ("Karin",)


@pytest.mark.parametrize(
    "summary",
    [
        "Maya's mom had surgery at the Charité in Berlin in May 2026.",
        "Swimming helps Maya's brother with his asthma.",
        "Maya's son is autistic, he goes to Lincoln School.",
        "Maya's brother's depression got better since he lives in Madrid.",
        "Maya's chronic asthma got worse in Karin's flat.",
        "Maya takes her insulin after breakfast with Karin.",
    ],
)
def test_places_and_what_is_the_users_own_stay(summary: str) -> None:
    places = tuple(Entity(text=name, type="LOCATION") for name in ("Berlin", "Madrid"))
    assert told_of(candidate(summary, entities=places), ("Maya",)) == ()
    assert not may_name_others(summary, ("Maya",))


@pytest.mark.parametrize(
    "summary",
    [
        "Maya drove jonas to his chemo.",
        "[person] drove jonas to his chemo.",
        "Maya brought kevin his insulin.",
        "[person]-Nowak has HIV.",
        "[person] de la Cruz is pregnant.",
        "It was her HIV.",
    ],
)
def test_a_claim_in_which_a_name_may_be_left_is_not_kept(summary: str) -> None:
    assert may_name_others(summary, ("Maya",))


@pytest.mark.parametrize(
    "summary",
    [
        "[person]'s mother took painkillers during her cancer treatment.",
        "[person] drove her mother to her chemo.",
    ],
)
def test_a_claim_whose_sufferer_is_said_is_kept(summary: str) -> None:
    assert not may_name_others(summary, ("Maya",))


@pytest.mark.parametrize("verb", ["saw", "met", "brought", "married"])
def test_a_verb_behind_what_somebody_is_to_the_user_is_no_part_of_a_name(verb: str) -> None:
    assert told_of(candidate(f"Maya's brother {verb} Tina4 at the clinic for her HIV."), ("Maya",)) == ("Tina4",)


@pytest.mark.parametrize(
    ("summary", "left"),
    [
        ("Maya's mother Rosa has diabetes.", "Maya's mother has diabetes."),
        ("Maya's mum, Rosa, has diabetes.", "Maya's mum has diabetes."),
        ("Maya's kids Ben and Zoe are both asthmatic.", "Maya's kids are both asthmatic."),
        ("Maya's aunt rosa has breast cancer.", "Maya's aunt has breast cancer."),
        ("Maya's mother-in-law Greta Lind is deaf in one ear.", "Maya's mother-in-law is deaf in one ear."),
        ("Sofia, Maya's niece, is blind.", "Maya's niece is blind."),
        ('Maya: "my little one, Mia, is lactose intolerant."', 'Maya: "my little one is lactose intolerant."'),
        ('Maya: "Mum has diabetes."', 'Maya: "Mum has diabetes."'),
    ],
)
def test_what_somebody_is_to_the_user_stays_where_their_name_goes(summary: str, left: str) -> None:
    people = [word for word in ("Rosa", "Ben", "Zoe", "Greta Lind", "Sofia", "Mia", "Mum") if word in summary]
    assert with_relation(without_names(summary, names_in(summary, *people))) == left


@pytest.mark.parametrize(
    ("masked", "left"),
    [
        ("Maya told her mum [person] has HIV.", "Maya told her mum [person] has HIV."),
        ("Maya's aunt [person] Kowalska has HIV.", "Maya's aunt [person] Kowalska has HIV."),
        ("Maya's friend [person]-Novak has HIV.", "Maya's friend [person]-Novak has HIV."),
        ("Maya's boss [person] de la Cruz is pregnant.", "Maya's boss [person] de la Cruz is pregnant."),
    ],
)
def test_a_name_is_left_out_only_where_it_is_surely_the_relatives_and_whole(masked: str, left: str) -> None:
    assert with_relation(masked) == left


def test_a_fact_is_of_the_relative_whom_the_claim_names() -> None:
    assert relations_in("Maya's mum Rosa has diabetes.", ["Rosa", "Karin"]) == {"Rosa": "user's mum"}


@pytest.mark.parametrize(
    ("text", "chance", "names"),
    [
        ("Jonas has HIV.", 0.9, ("Jonas",)),
        ("Jonas has HIV.", 0.5, ("Jonas",)),
        ("Jonas is murdering that saxophone.", 0.005, ()),
        ("Jonas sees the man with the needles again.", 0.95, ("Jonas",)),
        ("Jonas is a nurse on the cancer ward.", 0.005, ()),
    ],
)
def test_names_go_or_stay_by_how_it_reads_where_words_may_be_wrong(
    text: str, chance: float, names: tuple[str, ...]
) -> None:
    assert told_in(text, ("Maya",), ("Jonas",), (), lambda _: chance) == names


def test_everybody_is_read_under_one_name() -> None:
    read: list[str] = []

    def reads(text: str) -> float | None:
        read.append(text)
        return None

    told_in("Maya's friend Jonas has HIV.", ("Maya",), ("Jonas",), (), reads)
    assert read == ["my friend Alex has HIV."]
