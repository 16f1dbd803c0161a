"""Calls of models are added up for the piece of work that they serve."""

from __future__ import annotations

from memory.spending import current_spending, spending


def test_a_piece_of_work_within_one_of_its_kind_adds_to_it() -> None:
    with spending("question") as rounds:
        with spending("question"):
            current_spending().embedding_tokens += 7
        with spending("repair"):
            current_spending().embedding_tokens += 100
    [row] = rounds.rows()
    assert row.embedding_tokens == 7


def test_a_built_in_embedder_costs_nothing_and_leaves_no_row() -> None:
    with spending("turn") as spent:
        current_spending().embedding_calls += 3
        current_spending().embedding_texts += 9
    assert spent.rows() == ()
