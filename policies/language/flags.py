"""Flags of an utterance: what its marks, its words and its parse show of who speaks, of whom, and how."""

from __future__ import annotations

import re
from typing import Final

from policies.language.parse import Parsed
from policies.language.sentences import words

MAX_CHARS: Final = 400
"""How much of an utterance is looked at: more is no utterance."""
_QUOTED: Final = re.compile(r"[\"“«„「]\s?\S[^\"”»“」]{0,300}[\"”»“」]|(?<!\w)'\S[^']{2,300}'(?!\w)")
"""Words in quotation marks: "he said “stop it”"."""
_CODE: Final = re.compile(r"`|[{};]\s*$|\w\(\)|</?\w+>|=>|==|::|\\n")
"""A mark that only code has: "run()", "a => b"."""
_DATE: Final = re.compile(
    r"\b(?:\d{1,2}(?:st|nd|rd|th)|(?:19|20)\d\d|\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m|tomorrow|tonight|yesterday|next|last|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|"
    r"november|december)\b"
)
"""A date or a time in words, in small letters: "tomorrow", "on the 3rd"."""
_NAME_INSIDE: Final = re.compile(r"[a-z,] [A-Z](?!['\s])\w")
"""A capital inside a sentence: "met Anna"."""
_MUCH: Final = 20
_MONEY: Final = re.compile(r"[$€£¥]\s?\d|\b\d[\d.,]*\s?(?:k|eur|usd|euros?|dollars|pounds|zł|pln)\b")
"""An amount of money, in small letters: "€50", "3k"."""

_FIRST: Final = words(
    "i i'm im i've ive i'd i'll me my mine myself yo me mi mis ich mir mich mein meine je j'ai mon ma mes "
    "jestem mam mój moja mnie mi 我"
)
_WE: Final = words("we we're we've we'll we'd our ours us nous notre wir unser nosotros nuestro nasz nasza")
_YOU: Final = words("you your you're you've you'll you'd yours u ur yourself tú tu du dir dich dein vous 你")
_OTHERS: Final = words("he she they his her their him them he's she's they're")
_WH: Final = words("who what when where why how which whose whats hows wheres")
_IF: Final = words("if unless suppose supposing imagine hypothetically wenn falls si jeśli jeżeli gdyby 如果")
_REPORT: Final = words(
    "says said say thinks thought reckons told tells claims claimed swears wrote writes texted announced argues "
    "insists heard believes mentioned"
)
_MODALS: Final = words("would could should might may must can will 'll 'd wo ca shall gonna")
_PRONOUNS: Final = {
    **dict.fromkeys(("i", "im"), "subject_i"),
    "we": "subject_we",
    **dict.fromkeys(("you", "u"), "subject_you"),
    **dict.fromkeys(("he", "she", "they", "who"), "subject_person"),
    **dict.fromkeys(("it", "this", "that", "there", "these", "those", "what"), "subject_it"),
}
_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_FLAGS: Final = (
    "question_mark",
    "asks_within",
    "exclaims",
    "colon",
    "much_after_colon",
    "quotes",
    "mostly_quoted",
    "begins_quoted",
    "code",
    "number",
    "date",
    "money",
    "lines",
    "capitals",
    "name_inside",
    "me",
    "me_first",
    "we",
    "you",
    "others",
    "wh_first",
    "if",
    "reports",
    "words_1",
    "words_3",
    "words_6",
    "words_12",
    "words_25",
    "words_more",
    "before",
    "before_asks",
    "before_asks_you",
    "lang_en",
    "lang_es",
    "lang_de",
    "lang_fr",
    "lang_pl",
    "lang_zh",
    "parsed",
    "root_VB",
    "root_VBP",
    "root_VBZ",
    "root_VBD",
    "root_VBN",
    "root_VBG",
    "root_MD",
    "root_noun",
    "root_other",
    "imperative",
    "no_subject",
    "subject_i",
    "subject_we",
    "subject_you",
    "subject_person",
    "subject_it",
    "subject_my",
    "subject_name",
    "subject_noun",
    "negated",
    "modal",
    "will",
    "would",
    "perfect",
    "progressive",
    "past",
    "other_says",
    "i_say",
    "clause_if",
    "inverted",
    "order_colon",
    "order_quotes",
    "person_named",
    "org_named",
    "place_named",
    "day_named",
    "some_first_person",
    "half_first_person",
)
FLAGS: Final = {name: index for index, name in enumerate(_FLAGS)}


def flags_of(text: str, tokens: list[str], parsed: Parsed | None, before: str, language: str) -> set[str]:
    """Return the flags that hold, by name. `text` is the utterance as it was written, `tokens` its words in
    lower case."""
    flags = {f"lang_{language}"} | _marks(text[:MAX_CHARS])
    bag = set(tokens)
    for name, sought in (("me", _FIRST), ("we", _WE), ("you", _YOU), ("others", _OTHERS), ("if", _IF)):
        if bag & sought:
            flags.add(name)
    if bag & _REPORT:
        flags.add("reports")
    if tokens and tokens[0] in _FIRST:
        flags.add("me_first")
    if tokens and tokens[0] in _WH:
        flags.add("wh_first")
    many = sum(1 for word in tokens if word[0].isalnum() or word[0] == "#")
    flags.add(next((f"words_{most}" for most in (1, 3, 6, 12, 25) if many <= most), "words_more"))
    if before:
        flags.add("before")
        end = before[-200:].lower()
        if "?" in end:
            flags.add("before_asks")
            if {"you", "your"} & set(end.replace("?", " ").split()):
                flags.add("before_asks_you")
    if parsed is not None and parsed.tokens:
        flags |= _parse_flags(parsed)
        if "imperative" in flags and "colon" in flags:
            flags.add("order_colon")
        if "imperative" in flags and "quotes" in flags:
            flags.add("order_quotes")
    return flags & FLAGS.keys()


def _marks(text: str) -> set[str]:
    """Return flags of punctuation and of what stands in figures."""
    lower, stripped = text.lower(), text.rstrip()
    asks = stripped.endswith(("?", "？"))
    colon = max(text.find(": "), text.find(":\n"), text.find("："))
    quoted = sum(len(match.group()) for match in _QUOTED.finditer(text))
    holds = {
        "question_mark": asks,
        "asks_within": not asks and ("?" in text or "？" in text),
        "exclaims": "!" in text or "！" in text,
        "colon": colon >= 0,
        "much_after_colon": 0 <= colon < len(text) - _MUCH,
        "quotes": quoted > 0,
        "mostly_quoted": quoted * 2 > len(text),
        "begins_quoted": quoted > 0 and stripped[0] in "\"'“«„「",
        "code": _CODE.search(lower) is not None,
        "date": _DATE.search(lower) is not None,
        "money": _MONEY.search(lower) is not None,
        "number": any(char.isdigit() for char in text),
        "lines": "\n" in stripped,
        "capitals": sum(char.isupper() for char in text) * 2 > len(text),
        "name_inside": _NAME_INSIDE.search(text) is not None,
    }
    return {name for name, held in holds.items() if held}


def _subject_flag(parsed: Parsed, index: int) -> str:
    """Return who the subject at this place is, as the name of a flag."""
    token = parsed.tokens[index]
    if pronoun := _PRONOUNS.get(token.lower):
        return pronoun
    if any(parsed.tokens[child].lower in ("my", "our") for child in parsed.children(index)):
        return "subject_my"
    return "subject_name" if token.tag in ("NNP", "NNPS") else "subject_noun"


def _parse_flags(parsed: Parsed) -> set[str]:
    tokens = parsed.tokens
    flags = {"parsed"}
    for root in (i for i, token in enumerate(tokens) if token.dep == "ROOT"):
        flags |= _root_flags(parsed, root)
        break
    for token in tokens:
        if token.dep == "mark" and token.lower in ("if", "unless"):
            flags.add("clause_if")
    labels = {"PERSON": "person_named", "ORG": "org_named", "GPE": "place_named", "DATE": "day_named"}
    flags |= {labels[name.label] for name in parsed.names if name.label in labels}
    heads = [i for i, token in enumerate(tokens) if token.dep in _SUBJECTS]
    mine = sum(_subject_flag(parsed, i) in ("subject_i", "subject_we", "subject_my") for i in heads)
    if mine:
        flags.add("some_first_person")
        if mine * 2 >= len(heads):
            flags.add("half_first_person")
    return flags


def _root_flags(parsed: Parsed, root: int) -> set[str]:
    """Return flags of the main verb: its subject, its mood, its tense."""
    tokens = parsed.tokens
    tag = tokens[root].tag
    children = parsed.children(root)
    flags = {f"root_{tag}" if f"root_{tag}" in FLAGS else "root_noun" if tag.startswith("N") else "root_other"}
    subject = next((i for i in children if tokens[i].dep in _SUBJECTS), None)
    helpers = {tokens[i].lower for i in children if tokens[i].dep in ("aux", "auxpass")}
    holds = {
        "no_subject": subject is None,
        "imperative": subject is None and tag in ("VB", "VBP") and not helpers & (_MODALS | {"to"}),
        "negated": any(tokens[i].dep == "neg" for i in children),
        "modal": bool(helpers & _MODALS),
        "will": bool(helpers & {"will", "'ll", "wo"}) or tokens[root].lower == "gonna",
        "would": bool(helpers & {"would", "'d", "could", "might"}),
        "perfect": tag == "VBN" and bool(helpers & {"have", "has", "'ve", "had", "'s"}),
        "progressive": tag == "VBG",
        "past": parsed.is_past(),
    }
    flags |= {name for name, held in holds.items() if held}
    if subject is not None:
        flag = _subject_flag(parsed, subject)
        flags.add(flag)
        if any(i < subject for i in children if tokens[i].dep in ("aux", "auxpass")):
            flags.add("inverted")
        if tokens[root].lower in _REPORT or any(tokens[i].dep == "ccomp" for i in children):
            flags.add("i_say" if flag in ("subject_i", "subject_we") else "other_says")
    return flags
