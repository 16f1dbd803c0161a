"""What the page after an erasure says: all is forgotten, something is left, or something is not shown to be gone."""

from __future__ import annotations

import pytest

from interfaces.http.pages.rendering import page
from memory.erasure.proof import BROKER_FILE, Proof


@pytest.mark.parametrize(
    ("proof", "heading", "line"),
    [
        (Proof(left={"index": 0}), "Everything was forgotten", "nothing was found"),
        (Proof(left={"index": 1}, unshown=[BROKER_FILE]), "Something is left", "Something was found again"),
        (
            Proof(left={"index": 0}, unshown=[BROKER_FILE]),
            "Not everything is shown to be gone",
            "a file may still hold it",
        ),
    ],
)
def test_the_page_after_an_erasure_says_how_it_went(proof: Proof, heading: str, line: str) -> None:
    shown = bytes(page("forgotten.html", None, proof=proof).body).decode()
    assert f"<h1>{heading}</h1>" in shown
    assert line in shown
