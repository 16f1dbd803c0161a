"""How people begin a sentence of what they did when they leave "I" out: "found a flat", "Traded in the van"."""

from __future__ import annotations

from typing import Final

DEED: Final = (
    r"(?:(?!(?:need|feed|indeed|proceed|speed|seed|bored|tired|worried|scared|excited|annoyed|exhausted)\b)[a-z]{2,12}ed|gave|found|chose|caught|brought|sent|paid|lent|rode|"
    r"taught|threw|told|did|fell)(?= (?:my|our|an?|the|some|another|\d+|one|two|three|four|five|six|seven|eight|nine|"
    r"ten|him|her|them|off|up|out|in the)\b)|"
    r"stopped(?= [a-z]+ing\b)"
)
"""A verb in the past with what it was done to: an adjective that looks like one ("excited to") has none."""
GOING_ON: Final = (
    r"(?:joining|starting|leaving|taking|visiting|flying|travell?ing|teaching|selling|buying|building|writing|staying|"
    r"meeting|coming|working|planning|thinking (?:about|of)|trying|looking (?:for|into|to)|getting|going|loving|"
    r"enjoying|living|dating|seeing|renting|saving|training|moving|raising|expecting|recovering|studying|watching|reading|"
    r"playing|learning|listening|hoping)"
)
"""What one is at, or soon will be: "joining TCS in May"."""
