"""Relative dates, seen from Saturday 21 November 2026."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dates import resolve_dates

SATURDAY = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I'm moving to Lisbon next month", "I'm moving to Lisbon in December 2026"),
        ("They gave me until 15 December", "They gave me until 15 December 2026"),
        ("I gave her a ring on 3 March", "I gave her a ring on 3 March 2026"),
        ("Ana marries a lad called Tyler on 29 August", "Ana marries a lad called Tyler on 29 August 2027"),
        ("He got a job from March", "He got a job from March 2027"),
        ("He got the letter in March", "He got the letter in March 2026"),
        (
            "I found a way out: the half in Kilkenny in January",
            "I found a way out: the half in Kilkenny in January 2027",
        ),
        ("The dojo dropped the Thursday class", "The dojo dropped the Thursday class"),
        ("I bought it on Black Friday", "I bought it on Black Friday [28 November 2025]"),
        ("Black Friday I'm working a double", "Black Friday [27 November 2026] I'm working a double"),
        ("Christmas Eve is the best day", "Christmas Eve is the best day"),
        ("We got engaged over the weekend", "We got engaged over the weekend of 21-22 November 2026"),
        ("I'm seeing Dad at the weekend", "I'm seeing Dad on the weekend of 21-22 November 2026"),
        ("I work nights at the weekend", "I work nights at the weekend"),
        ("My night shifts are Monday and Tuesday", "My night shifts are Monday and Tuesday"),
        ("My parents are here Friday", "My parents are here on 27 November 2026"),
        ("we moved it from may to october", "we moved it from May 2027 to October 2027"),
        ("going to days from November, they said yes", "going to days from November 2026, they said yes"),
        ("rota: earlies mon tue, late wed, off thu fri", "rota: earlies mon tue, late wed, off thu fri"),
        ("Rebooked 30 March", "Rebooked on 30 March 2027"),
        ("my sister april is here", "my sister april is here"),
        ("My recital is two Sundays from now", "My recital is on 29 November 2026"),
        ("She died two Fridays ago", "She died two Fridays ago [13 November 2026]"),
        ("I retired two summers ago", "I retired two summers ago [summer 2025]"),
        ("I had it out three weeks ago Tuesday", "I had it out three weeks ago Tuesday [27 October 2026]"),
        ("I fly home in a month and a half", "I fly home around 6 January 2027"),
        ("I got here two and a half weeks ago", "I got here around 3 November 2026"),
        ("She lands a week Sunday", "She lands a week Sunday [29 November 2026]"),
        ("Entries shut three weeks today", "Entries shut three weeks today [12 December 2026]"),
        ("I'm back on mon 30th", "I'm back on 30 November 2026"),
        ("The scan is on the twentieth", "The scan is on the twentieth [20 December 2026]"),
        ("My lease started on the 1st of the month", "My lease started on 1 November 2026"),
        ("Rent is due on the 1st of the month", "Rent is due on the 1st of the month"),
        ("It moved to 21/12.", "It moved to 21 December 2026."),
        ("I got a house in Mar del Plata", "I got a house in Mar del Plata"),
        ("I went there yesterday.", "I went there on 20 November 2026."),
        ("We met last Friday", "We met on 20 November 2026"),
        ("We meet next Friday", "We meet on 27 November 2026"),
        ("We leave in two weeks", "We leave around 5 December 2026"),
        ("I moved here three years ago", "I moved here in 2023"),
        ("I moved to Berlin on Thursday", "I moved to Berlin on 19 November 2026"),
        ("I changed jobs on Monday", "I changed jobs on 16 November 2026"),
        ("My appointment was moved to Thursday", "My appointment was moved to 26 November 2026"),
        ("They moved my visit a week later, January 15", "They moved my visit a week later, on 15 January 2027"),
        ("I quit a couple of months ago", "I quit a couple of months ago [around September 2026]"),
        ("this weekend I'm hiking", "On the weekend of 21-22 November 2026 I'm hiking"),
        ("I start by next week", "I start by the week of 23 November 2026"),
        ("I turn eighty the day after Thanksgiving", "I turn eighty the day after Thanksgiving [27 November 2026]"),
        (
            "The audit starts on the first Monday after new year",
            "The audit starts on the first Monday after new year [4 January 2027]",
        ),
        ("We are closed until Epiphany", "We are closed until Epiphany [6 January 2027]"),
        ("We fly two days before Christmas Eve", "We fly on 22 December 2026"),
        (
            "We fly the weekend after Easter Monday",
            "We fly the weekend after Easter Monday [the weekend of 3-4 April 2027]",
        ),
        (
            "My move is on the last Friday before 12 March",
            "My move is on the last Friday before 12 March [5 March 2027]",
        ),
        ("The rent is due a few days after 3 May", "The rent is due around 6 May 2027"),
        ("The gala is the second Tuesday after 1 May", "The gala is the second Tuesday after 1 May [11 May 2027]"),
        ("We celebrate in a fortnight and one day", "We celebrate in a fortnight and one day"),
        ("My new year's resolution is running", "My new year's resolution is running"),
        (
            "The checkup is on the 27th, not the 24th",
            "The checkup is on the 27th [27 November 2026], not the 24th [24 November 2026]",
        ),
        ("My exam is on Monday", "My exam is on 23 November 2026"),
        ("I saw her on Monday", "I saw her on 16 November 2026"),
        ("I went to Rome in March", "I went to Rome in March 2026"),
        ("I'm going to Rome in March", "I'm going to Rome in March 2027"),
        ("I've lived here for 5 years", "I've lived here for 5 years [since about 2021]"),
        ("Tomorrow is my last day", "22 November 2026 is my last day"),
        ("They gave me the driving part for 12 January", "They gave me the driving part for 12 January 2027"),
        ("I got tickets for 3 May", "I got tickets for 3 May 2027"),
        ("I got the bill for January", "I got the bill for January 2026"),
        ("We are away from Monday till Friday", "We are away from 23 November 2026 till 27 November 2026"),
        ("We are away from Friday till Sunday", "We are away from 27 November 2026 till 29 November 2026"),
        ("We were away from Friday till Monday", "We were away from 20 November 2026 till 23 November 2026"),
        ("We are away from Friday to 3rd", "We are away from 27 November 2026 to 3 December 2026"),
        ("Our team moved up to 3rd", "Our team moved up to 3rd"),
        ("The bakery is closed since the 3rd", "The bakery is closed since the 3rd [3 November 2026]"),
        ("The exam is a week from this coming Friday", "The exam is on 4 December 2026"),
        (
            "The car needs its test by the end o the month",
            "The car needs its test by the end o the month [30 November 2026]",
        ),
        ("They sing on the last Sunday", "They sing on the last Sunday"),
        ("I see movies from Friday till Sunday", "I see movies from 27 November 2026 till 29 November 2026"),
        ("Jun-jun is a welder", "Jun-jun is a welder"),
        ("I have ten days till my exam", "I have ten days [1 December 2026] till my exam"),
        ("We had two weeks until the shop closed", "We had two weeks until the shop closed"),
        ("The report is due by the end of the month", "The report is due by 30 November 2026"),
        ("A hundred days ago I ate my last sugar", "On 13 August 2026 I ate my last sugar"),
        ("The christening is on Easter Monday", "The christening is on Easter Monday [29 March 2027]"),
        (
            "Since last Christmas Eve we are not talking",
            "Since last Christmas Eve [24 December 2025] we are not talking",
        ),
        ("We go next summer", "We go in summer 2027"),
        (
            "My cat ran off yesterday so I need posters by tuesday",
            "My cat ran off on 20 November 2026 so I need posters by 24 November 2026",
        ),
        ("I got a place in Ghent starting in March", "I got a place in Ghent starting in March 2027"),
        ("I no longer row, they let me go in August", "I no longer row, they let me go in August 2026"),
        ("My talk got moved from thursday to monday", "My talk got moved from 26 November 2026 to 23 November 2026"),
        ("I got a job that starts saturday", "I got a job that starts on 28 November 2026"),
        ("I lift 85 kilos, up from 70 in June", "I lift 85 kilos, up from 70 in June 2026"),
        ("I can go down to four days from June", "I can go down to four days from June 2027"),
        ("My last day at Orsted is 30 November", "My last day at Orsted is on 30 November 2026"),
        (
            "They approved my leave from 20 December to 5 January",
            "They approved my leave from 20 December 2026 to 5 January 2027",
        ),
        ("Its number is 7. I ordered it on the 2nd", "Its number is 7. I ordered it on the 2nd [2 November 2026]"),
        ("A fortnight ago I fell", "Around 7 November 2026 I fell"),
        ("My MOT runs out three weeks today", "My MOT runs out three weeks today [12 December 2026]"),
        ("The stag do is tomorrow fortnight", "The stag do is tomorrow fortnight [6 December 2026]"),
        ("They bumped my surgery to January 8th", "They bumped my surgery to 8 January 2027"),
        ("The exam slipped to the 4th of February", "The exam slipped to 4 February 2027"),
        ("My exam is the Monday after next", "My exam is on 30 November 2026"),
        ("We met the Friday before last", "We met the Friday before last [13 November 2026]"),
        ("My visa runs out at the end of next month", "My visa runs out at the end of December 2026"),
        ("I started there at the start of the year", "I started there at the start of 2026"),
        ("I quit at the end of the year", "I quit at the end of 2025"),
        ("I retire at the end of next year", "I retire at the end of 2027"),
        ("I work shifts 12/24/12/48", "I work shifts 12/24/12/48"),
        ("I get paid at the start of the month", "I get paid at the start of the month"),
        ("I drove her to Leeds on 3 March", "I drove her to Leeds on 3 March 2026"),
        ("The choir meets a fortnight tomorrow", "The choir meets a fortnight tomorrow [6 December 2026]"),
        ("We fly on the 19th of next month", "We fly on 19 December 2026"),
        ("The fair is from 14 to 16 next month", "The fair is from 14 to 16 next month [14-16 December 2026]"),
        ("We married three years ago yesterday", "We married three years ago yesterday [20 November 2023]"),
        ("I turn forty on the twenty-third of this month", "I turn forty on 23 November 2026"),
        ("My exam is June twenty-first", "My exam is on 21 June 2027"),
        ("We have been married ten years come June sixth", "We have been married ten years on 6 June 2027"),
        ("On 2.5. I run a half marathon", "On 2.5. [2 May 2027] I run a half marathon"),
        ("I got a surgery set for March tenth", "I got a surgery set for 10 March 2027"),
        ("The bus comes Tuesday n Friday", "The bus comes Tuesday n Friday"),
        ("I have been sober three weeks today", "I have been sober three weeks today"),
        ("I see the midwife on the first Monday of next month", "I see the midwife on 7 December 2026"),
        ("My rent is due the last Friday of this month", "My rent is due on 27 November 2026"),
        ("the report is due on june 5", "the report is due on 5 June 2027"),
        ("I got sober in March of 22 and moved", "I got sober in March 2022 and moved"),
        ("I was born in June '98.", "I was born in June 1998."),
        ("I start on the 1st", "I start on the 1st [1 December 2026]"),
        ("I paid it on the 3rd.", "I paid it on the 3rd [3 November 2026]."),
        ("I save 50 euros by the end of the year", "I save 50 euros by 31 December 2026"),
        ("it is on the last Saturday of May", "it is on 29 May 2027"),
        ("Yesterday, I got a job", "On 20 November 2026, I got a job"),
        ("My son got back on Wednesday", "My son got back on 18 November 2026"),
        ("She's deployed until May", "She's deployed until May 2027"),
        ("I hurt my toe in June so no golf till march", "I hurt my toe in June 2026 so no golf till March 2027"),
        ("We got posted to Bonn, moving in February", "We got posted to Bonn, moving in February 2027"),
        ("I've got an essay due by Friday", "I've got an essay due by 27 November 2026"),
        ("I need it by the 27th", "I need it by the 27th [27 November 2026]"),
        ("They moved our visit to the 29th at 11", "They moved our visit to the 29th [29 November 2026] at 11"),
        ("We met two years ago this May", "We met two years ago this May [May 2024]"),
        ("I quit the weekend before last", "I quit the weekend before last [the weekend of 7-8 November 2026]"),
        ("We fly the week after next", "We fly the week after next [the week of 30 November 2026]"),
        ("I meet her on Friday week", "I meet her on 4 December 2026"),
        ("I start a week from Monday", "I start a week from Monday [30 November 2026]"),
        ("we leave in a fortnight for our holiday", "we leave around 5 December 2026 for our holiday"),
        ("I need a room because I left mine in May", "I need a room because I left mine in May 2026"),
        ("I got promoted, effective Dec 1", "I got promoted, effective on 1 December 2026"),
        ("I was made head of art effective Dec 1", "I was made head of art effective on 1 December 2026"),
        ("We race on the last weekend in May", "We race on the last weekend in May [the weekend of 29-30 May 2027]"),
        ("I'm off in the last week of July", "I'm off in the last week of July 2027"),
        ("my last day is 8th jan", "my last day is 8th jan [8 January 2027]"),
        (
            "I saw him for the first time in 15 years on Friday",
            "I saw him for the first time in 15 years on 20 November 2026",
        ),
        ("My lease ends two years from today", "My lease ends two years from today [21 November 2028]"),
        ("baby's due on Valentine's Day", "baby's due on Valentine's Day [14 February 2027]"),
        ("We got engaged on New Year's Eve", "We got engaged on New Year's Eve [31 December 2025]"),
        (
            "I cut my hand, 6 stitches, off till the 30th",
            "I cut my hand, 6 stitches, off till the 30th [30 November 2026]",
        ),
        ("They invited me to an interview on July 9th", "They invited me to an interview on 9 July 2027"),
        ("I got a puppy on March 3rd", "I got a puppy on 3 March 2026"),
        ("I have a Friday interview", "I have a Friday [27 November 2026] interview"),
        ("The Friday class was great", "The Friday [20 November 2026] class was great"),
        (
            "I leave on Monday and come back on Thursday",
            "I leave on 23 November 2026 and come back on 26 November 2026",
        ),
        ("We meet on Friday, 4 December", "We meet on Friday, 4 December [4 December 2026]"),
    ],
)
def test_a_relative_date_becomes_absolute_as_precise_as_it_was_said(said: str, meant: str) -> None:
    assert resolve_dates(said, SATURDAY).text == meant


@pytest.mark.parametrize(
    "said",
    [
        "I run every Friday",
        "Another Monday with my boss",
        "I swim every other Thursday",
        "I run every Tuesday and Thursday",
        "I swim every day except Friday",
        "Wednesday is my day for the choir",
        "My day off is Sunday",
        "I biked 500 km in 12 days",
        "I live on the 3rd floor",
        "We led in the 4th quarter",
        "I work the 2nd shift",
        "I saw him for the first time in 15 years",
        "My birthday is on the 5th of March",
        "My birthday is March 5th",
        "We moved to the 5th floor",
        "He is with me Monday to Wednesday",
        "I work mon to fri",
        "The market is open Thu-Sun",
        "I'd been a cook for five years before I moved",
        "This is my first holiday in three years",
        "i may march on",
        "On Saturdays I swim",
        "I may go",
        "I hate Halloween",
        "We always go skiing on Boxing Day",
        "I bowl in the Thursday league",
        "I've added a Thursday yoga class",
        "My mum comes over for Sunday lunch",
        "I play Friday night poker",
        "I see my doctor on a Tuesday",
        "I usually swim on Monday",
        "I teach piano Mon, Wed & Fri at 4pm",
        "My course is Tue/Thu",
        "I train Tuesday and Wednesday nights",
        "My office days are Tuesday and Thursday",
        "They march on",
        "I have lasted long",
        "My grade is 3.5.",
        "I ran it in 4.2. My knee held",
    ],
)
def test_recurring_absolute_and_only_seeming_dates_stay(said: str) -> None:
    dated = resolve_dates(said, SATURDAY)
    assert (dated.text, dated.moments) == (said, ())


def test_a_date_that_says_its_year_is_a_moment_and_keeps_its_words() -> None:
    dated = resolve_dates("I was born on May 3, 1990", SATURDAY)
    assert dated.text == "I was born on May 3, 1990"
    assert [one.at.date().isoformat() for one in dated.moments] == ["1990-05-03"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I've signed up for a half marathon on January 14", "14 January 2027"),
        ("I signed up for a half marathon on January 14", "14 January 2027"),
        ("our September 10 meeting went well", "[10 September 2026] meeting"),
        ("I booked a cabin for March 3", "3 March 2027"),
        ("I had my surgery on January 14", "14 January 2026"),
        ("We're moving to Haifa in March, Avi got the position", "March 2027"),
        ("I was in Haifa in March, Avi stays there until June", "March 2026"),
        ("We had planned to go to Croatia in August", "August 2026"),
        ("We plan to go to Croatia in August", "August 2027"),
    ],
)
def test_the_year_is_the_one_that_tense_and_nearness_make_likely(said: str, meant: str) -> None:
    assert meant in resolve_dates(said, SATURDAY).text


def test_a_time_of_day_goes_with_its_day() -> None:
    (moment,) = resolve_dates("The dentist is tomorrow at 5pm", SATURDAY).moments
    assert moment.at == datetime(2026, 11, 22, 17, 0, tzinfo=UTC)


def test_the_day_is_the_users_own_not_greenwichs() -> None:
    late_in_auckland = datetime(2026, 11, 22, 1, 0, tzinfo=timezone(timedelta(hours=13)))
    assert resolve_dates("I fell yesterday", late_in_auckland).text == "I fell on 21 November 2026"


@given(
    st.lists(
        st.sampled_from(["last", "next", "in", "999", "years", "ago", "May", "31", "friday", "the", "week", "at 99:99"])
    ),
    st.integers(min_value=1, max_value=200_000_000_000),
)
def test_no_words_and_no_day_make_it_raise(words: list[str], seconds: int) -> None:
    dated = resolve_dates(" ".join(words), datetime.fromtimestamp(seconds, UTC))
    assert all(found.at.tzinfo is not None for found in dated.moments)


def test_each_clause_has_its_own_tense() -> None:
    said = "I quit on Friday and start again on Monday"
    assert resolve_dates(said, SATURDAY).text == "I quit on 20 November 2026 and start again on 23 November 2026"


@pytest.mark.parametrize(
    ("month", "said", "meant"),
    [
        (2, "We have 312 ewes this winter", "We have 312 ewes in winter 2025/26"),
        (2, "We had fewer last winter", "We had fewer last winter [winter 2024/25]"),
        (4, "We had fewer last winter", "We had fewer last winter [winter 2025/26]"),
        (12, "We have 312 ewes this winter", "We have 312 ewes in winter 2026/27"),
    ],
)
def test_the_winter_of_january_began_the_year_before(month: int, said: str, meant: str) -> None:
    assert resolve_dates(said, datetime(2026, month, 15, tzinfo=UTC)).text == meant


def test_a_date_so_far_from_another_that_no_calendar_has_it_is_none() -> None:
    last_days = datetime(9999, 12, 30, tzinfo=UTC)
    said = "We meet the weekend after the 31st"
    assert resolve_dates(said, last_days).text == said
