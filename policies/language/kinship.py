"""Whose mother "Mum" is: relatives that people name as if there were one of each."""

from __future__ import annotations

import re
from typing import Final

_KIN: Final = (
    r"mum|mom|mam|mummy|mommy|dad|daddy|grandma|grandpa|granny|grandad|nan|nana|"
    r"(?:the )(?:missus|wife|husband|hubby|boyfriend|girlfriend|in-laws)"
)
_BARE: Final = re.compile(
    r"(?P<before>^|[.!?,;:] |\b(?:and|but|so|because|that|when|if|as|with|to|for|from|where|while|after|before|then|"
    r"visited|saw|called|told|asked|visit|miss|took|drove|helped|put|got) )"
    rf"(?P<kin>{_KIN})"
    r"(?=(?:'s|'ll|'d)?,? (?!(?:and dad|and mum|and mom|and son|and daughter|life|jeans|of|to be|in law|please|can|"
    r"could|would you|are you|do you|you|I|I'm)\b)[a-z]|[.;]|$)",
    re.IGNORECASE,
)
"""Where one is spoken of: "Mum is ill"; not to ("Mum, are you there?"), and not one of many ("a mum", "soccer mom")."""


def with_my(text: str) -> str:
    """Return the text with "my" before a relative who has none: "Dad is ill but mum is fine" -> "My dad is ill but my
    mum"."""
    return _BARE.sub(_owned, text)


def _owned(match: re.Match[str]) -> str:
    kin = match["kin"].lower().removeprefix("the ")
    return f"{match['before']}{'my' if match['before'] else 'My'} {kin}"
