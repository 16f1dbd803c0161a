"""Every row of the tables says by examples what it finds, and what none of them does; and each is linear."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.privacy import addresses, identifiers, secrets
from policies.privacy.rules import Rule, find_all, runs_of
from policies.privacy.screen import screen
from schema import MAX_TURN_BYTES, Verdict
from tests.growth import assert_grows_linearly
from tests.unit.policies.builders import POLICY

RULES = (*secrets.RULES, *identifiers.RULES, *addresses.RULES)
ROWS = [pytest.param(rule, id=f"{number}-{rule.name}") for number, rule in enumerate(RULES)]


@pytest.mark.parametrize("rule", ROWS)
def test_a_row_finds_its_examples_and_no_row_its_counter_example(rule: Rule) -> None:
    for example in rule.examples:
        assert find_all(example, (rule,)), example
        assert screen(f"We talked of it: {example}", POLICY).verdict is not Verdict.ALLOW
    assert find_all(rule.counter, RULES) == []


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.numeric])
def test_a_numeric_row_finds_nothing_where_the_digits_are_taken_out(rule: Rule) -> None:
    for example in rule.examples:
        assert find_all(re.sub(r"\d", "", example), (replace(rule, numeric=False),)) == []


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.labels])
def test_a_row_hears_each_of_its_labels_within_a_text(rule: Rule) -> None:
    for label in rule.labels:
        lower = f"so, {label.lower()}: "
        assert not rule.first_runs.isdisjoint(runs_of(lower)) or any(dense in lower for dense in rule.dense_labels)


def test_a_shape_of_which_the_value_took_no_part_is_found_whole() -> None:
    rule = Rule("code", re.compile(r"gate (?P<value>\d{4})|vault \d{6}"), ("gate 4471", "vault 447100"), "a gate")
    places = [(finding.start, finding.end) for finding in find_all("gate 4471, vault 447100", (rule,))]
    assert places == [(5, 9), (11, 23)]


PIECES = [piece for rule in RULES for example in rule.examples for piece in (example, example[: len(example) // 2])]


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(PIECES), st.sampled_from(["", " ", "\n", ", ", "1", "a"]))
def test_the_longest_text_of_one_piece_over_and_over_takes_time_in_proportion(piece: str, between: str) -> None:
    assert_grows_linearly(lambda text: find_all(text, RULES), piece + between, MAX_TURN_BYTES)
