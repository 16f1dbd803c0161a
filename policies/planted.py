"""Instructions planted in a text to steer the assistant or its memory, rather than something a user tells of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HIDDEN: Final = re.compile("[\U000e0020-\U000e007f]{4}|[\u200b\u200c\u2060\ufeff\u202d\u202e\u2066-\u2069]{3}")
_ORDERS: Final = r"(?:instructions?|directions?|directives?|rules?|prompts?|guidelines?|commands?|polic(?:y|ies)|restrictions?|constraints?|programming|training)"
_EARLIER: Final = r"(?:all|any|every|the|your|my|these|those|previous(?:ly)?|prior|above|earlier|preceding|past|former|initial|original|other|existing|current|of|given|system|safety|to|and)"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_RULES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "override",
        _compile(
            rf"\b(?:ignore|disregard|forget|override|bypass|dismiss|neglect|discard|skip|drop)\s+(?:{_EARLIER}\s+){{1,6}}(?:\w{{1,20}}\s+){{0,2}}{_ORDERS}\b|"
            r"\b(?:ignore|disregard|forget|discard)\s+(?:\w{1,12}\s+){0,2}(?:everything|anything|all|text|content|what)\s+(?:\w{1,12}\s+){0,4}(?:above|before|previous(?:ly)?|prior|earlier|except|told|said)\b|"
            r"\b(?:new|updated|real|actual|important)\s+(?:system\s+)?(?:instructions?|directives?|prompt)\s*[:\n]|"
            r"\b(?:end|start|begin)(?:ning)?\s+(?:of\s+)?(?:\w{1,12}\s+){0,4}(?:instructions?|prompt|message|rules)\b\s*[-=%#>*\]})]"
        ),
    ),
    (
        "role_tag",
        _compile(
            r"(?:^|\n)[\s>*_#\"'\[(<]{0,6}(?:system|assistant|developer|admin(?:istrator)?|root)(?:\s+(?:message|prompt|note|override|announcement|instructions?|update|notice|alert))?[\]\)>*_\"']{0,4}\s{0,2}[:>\]]|"
            r"<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|\bsystem\s+(?:note|override|prompt|message|announcement)\s{0,2}[:\]]|###\s{0,2}(?:system|instructions?|human|assistant)\b"
        ),
    ),
    (
        "persona",
        _compile(
            r"\b(?:do anything now|jail\s?br(?:eak|oken)|developer mode|god mode|DAN mode|no (?:content|safety) (?:policy|policies|filters?)|"
            r"(?:without|no|free (?:of|from)|not bound by|ignores?|bypass(?:es)?)\s+(?:any|all|the|its|your|typical|of)?\s{0,2}(?:\w{1,14}\s){0,2}(?:restrictions|limitations|censorship|filters|filtering|guardrails|moral(?:s|ity)?|ethic(?:s|al)?|safeguards)\b|"
            r"(?:unfiltered|uncensored|amoral|unrestricted|unethical|evil|immoral)\s+(?:\w{1,16}\s){0,2}(?:ai|model|assistant|chat\s?bot|bot|response|answer|version|mode|language|character|gpt)|"
            r"(?:stay|remain|keep|break(?:ing)?) in character|break(?:ing)? character|openai'?s? (?:content )?polic|opposite mode|"
            r"you (?:are|will be|'re) (?:now|going to (?:be|act|pretend|play))|from now on,? you (?:are|will|must|shall|should|act)|you have been (?:freed|liberated|unlocked)|"
            r"(?:pretend|act|respond|answer|behave|roleplay|role-play)\s+(?:\w{1,14}\s){0,3}(?:as|to be|like|that)\s+(?:if\s+)?(?:you\b|an?\s+(?:\w{1,16}\s){0,3}(?:ai|gpt|chat\s?bot|language model|model)\b))"
        ),
    ),
    (
        "forced_output",
        _compile(
            r"\baccess\s+granted\b|\b(?:print|say|output|respond|reply|answer|return|write|type|repeat|display|echo|append)\b[^\n.]{0,24}\b(?:only|exactly|verbatim|nothing (?:else|but)|the exact)\b|"
            r"\b(?:only|just|simply)\s+(?:print|say|output|respond|reply|answer|return|write|type|display)\b|"
            r"\b(?:respond|reply|answer) with\s+[\"'“]"
        ),
    ),
    (
        "exfiltration",
        _compile(
            r"\b(?:reveal|print|show|tell|repeat|output|leak|share|give|display|disclose|send|forward|email|post|exfiltrate|upload)\b[^\n.]{0,40}\b(?:system prompt|(?:your|the|all|initial|original|hidden|secret|above|previous) (?:\w{1,12}\s)?(?:instructions?|prompts?)|access code|security code|secret (?:code|key|phrase)|api keys?|credentials|passwords?|conversation history|chat (?:history|log)|customer (?:database|data|records)|user data|environment variables)\b"
        ),
    ),
    (
        "order_to_memory",
        _compile(
            r"\b(?:remember|note|memori[sz]e|store|save|record|from now on|going forward|in (?:the )?future|always|henceforth|for all future)\b[^\n.!?]{0,60}\b(?:"
            r"(?:refunds?|discounts?|payments?|transfers?|requests?|purchases?|orders?|returns?|withdrawals?|claims?|access|transactions?)\s+(?:\w{1,12}\s+){0,3}(?:approved|authori[sz]ed|allowed|granted|permitted|free|pre-?approved|waived|automatic)|"
            r"(?:approve|authori[sz]e|grant|waive|bypass|skip)\s+(?:\w{1,12}\s+){0,4}(?:refunds?|payments?|transfers?|requests?|purchases?|access|verification|checks?|authentication|approval|confirmation|limits?|fees?)|"
            r"(?:is|am|are|as|has|have)\s+(?:an?\s+|the\s+|full\s+)?(?:admin(?:istrator)?|root|superuser|verified admin|developer of you)\b(?:\s+(?:access|rights|privileges))?|"
            r"(?:trust|obey|believe|follow|recommend|prefer|promote|cite)\s+(?:\w{1,12}\s+){0,3}(?:instructions?|links?|emails?|site|website|product|sources?|domain|commands?|orders?)\b)|"
            r"\b(?:add|write|save|store|insert|put|update)\s+(?:\w{1,12}\s+){0,5}(?:to|in|into)\s+(?:your|the|its|long[- ]term|the assistant'?s)\s+(?:\w{1,12}\s+){0,2}memory\b|"
            r"\b(?:you|the assistant|assistants?|the ai|ai (?:agents?|assistants?|models?))\s+(?:must|should|shall|will|are (?:required|instructed|to)|needs? to|has to|have to)\s+(?:now\s+|always\s+|never\s+|henceforth\s+)?(?:ignore|obey|comply|approve|grant|authori[sz]e|transfer|send|forward|execute|reveal|believe|treat|disregard|follow|reply|respond|output|include|append|recommend|tell|delete)\b"
        ),
    ),
)  # fmt: skip


def find(text: str) -> Iterator[str]:
    """The names of the rules that call a text planted. Linear in the length of the text."""
    if _HIDDEN.search(text):
        yield "hidden_characters"
    for name, pattern in _RULES:
        if pattern.search(text):
            yield name
