"""The statements in a turn that are worth a memory, still in the user's own first person."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.schema import AdmissionAction, Question, Turn
from policies.admission import is_english
from policies.commands import Command, find_commands
from policies.relevance import WORTH_KEEPING, asks_about_user, is_instruction, relevance_of
from policies.sentences import MAX_SENTENCE_CHARS, MAX_SENTENCES, prose_of, split_sentences
from worker.extract.answers import answer_of, question_of
from worker.extract.base import AdmittedTurn
from worker.extract.third_person import mended

_LEAD: Final = re.compile(
    r"^(?:(?:oh|ah|aw+|hey|hi|hello|well|ha(?:ha)*|lol|yeah|yes|yep|yup|nope|no|so|and|but|plus|wow|actually|"
    r"honestly|anyway|anyways|ok|okay|sure|definitely|absolutely|thanks|thank you(?: so much)?|"
    r"btw|by the way|cool|nice|great|true|"
    r"awesome|i mean|you know|to be honest|tbh|good to know|trust me|whoa|hm+|woo\W?hoo|thank "
    r"goodness|sorry to hear (?:that|it)|like i said|right|because|also|too|omg|unfortunately|"
    r"sadly|luckily|that's (?:great|awesome|cool|nice))\b"
    r"(?: there)?[\s,.!:;-]*){1,4}",
    re.IGNORECASE,
)
_VOCATIVE: Final = re.compile(r"^(?:hey|hi|hello|thanks|thank you|wow|yeah|yes|no|aw+|oh),? [A-Z][a-z]+[,!.]\s*")
_TRAILING_TAG: Final = re.compile(
    r",? (?:haha\w*|lol|lmao|you know|right|too|though|btw)\s*(?=[.!]*$)|\s*[:;]-?[)D(P]+|"
    r"\s*[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+",
    re.IGNORECASE,
)
_SPLIT: Final = re.compile(
    r"(?:,? (?:and|but|plus|and then|and also|but now|so now) |; |, | - | -- )"
    r"(?=(?:I|we)(?:'m|'ve|'ll|'d|'re)? [\w']+|(?:my|our) (?:[\w']+ ){1,3}(?:is|are|was|were|has|"
    r"have|had|loves?|likes?|works?|lives?|wants?|got|says|just|also)\b)",
    re.IGNORECASE,
)
_DEPENDS: Final = re.compile(
    r"(?:^|, )(?:\w+ ){0,3}(?:if|when|while|since|although|though|because|as|after|before|once|until|whenever)\b",
    re.IGNORECASE,
)
_COMPANION: Final = re.compile(r"^(?:me|my|our)(?: [\w']+){1,3}$", re.IGNORECASE)
_SUBORDINATE: Final = re.compile(
    r"^(?:if|when|while|since|although|though|because|as|after|before|once|until|even if|unless|"
    r"whenever|where|the)\b",
    re.IGNORECASE,
)
_CONTINUES: Final = re.compile(
    r"\b(?:that|which|who|think|know|said|told|hope|wish|feel|sure|believe|if|because|when|where|"
    r"what|how|guess|like)$",
    re.IGNORECASE,
)
_HAS_CLAUSE: Final = re.compile(r"\b(?:I|we|my|our|he|she|they|it)(?:'m|'ve|'ll|'d|'re|'s)? \w+", re.IGNORECASE)
_ELLIPTICAL: Final = re.compile(
    r"^(?P<adv>(?:(?:just|recently|also|always|usually|mostly|sometimes|currently|still|really|"
    r"never|already|even|finally|not|definitely) )*)"
    r"(?P<verb>been|[a-z]+ing|got|went|had|made|took|moved|bought|started|finished|love|loved|"
    r"hate|enjoy|like|prefer|want|need|wish|saw|met|won|lost|used to|"
    r"grew|visited|spent|tried|watched|played|plan|hope|decided|joined|adopted|graduated|work|"
    r"live|study|sold|built|wrote|quit|passed|signed|applied|booked|ate|ran|drove|flew|slept|"
    r"cooked|baked|painted|celebrated)\b",
    re.IGNORECASE,
)
_GERUND_SUBJECT: Final = re.compile(
    r"\b(?:is|was|are|were|has|have|had|makes|made|helps|helped|brings|brought|gives|gave|feels|"
    r"felt|takes|took|keeps|kept|gets|"
    r"means|meant|can|could|will|would|shows|reminds|requires|sounds|looks|seems|allows|lets)\b|"
    r"'s (?:been|a|so|my)\b"
)
_NOT_PARTICIPLE: Final = frozenset(
    (
        "nothing",
        "something",
        "anything",
        "everything",
        "during",
        "morning",
        "evening",
        "king",
        "thing",
        "spring",
        "being",
        "bring",
        "sing",
        "including",
    )
)
_CHITCHAT: Final = re.compile(
    r"^(?:I(?:'m| am) (?:so |very |really |pretty |just |also |doing )?(?:good|fine|well|great|ok|"
    r"okay|alright|not bad|glad|sorry|sure|happy (?:for|to hear)|back|here)"
    r"(?: (?:too|thanks|thank you|today|and you|how are you|for you|that you .*|to hear .*))*|"
    r"I (?:see|agree|know|guess so|think so|hope so|understand|can imagine|bet|do|am|have|will|"
    r"would|can|did|don't know|can't wait|appreciate (?:it|that|you))|"
    r"I(?:'m| am) (?:really )?(?:loving|enjoying) (?:it|this|that)|(?:I|we) (?:really |just |also "
    r"|absolutely |totally )*\w+ (?:it|that|this|them|you|so|one)(?: too| a lot| so much| all| "
    r"now)*|let's .*|"
    r"me too|same here|"
    r"nice to meet you.*|good (?:morning|night|evening|afternoon).*)[\s,.!]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """One thing that a user said. `quoted` is a whole third-person template to be filled with the name."""

    turn: Turn
    place: int
    text: str
    explicit: bool = False
    pinned: bool = False
    private: bool = False
    answered: bool = False
    manner: str = "said"
    asked_in: str | None = None
    question: str | None = None


@dataclass(frozen=True)
class Forgetting:
    """What a user wants forgotten, in the first person."""

    turn: Turn
    place: int
    text: str


@dataclass
class _Asked:
    question: str | None = None
    turn_id: str | None = None
    of_user: bool = False


_KIN: Final = re.compile(
    r"\b(?P<whose>[Mm]y|[Oo]ur|[Yy]our) (?:[a-z]+ )?(?P<noun>sister|mom|mum|mother|wife|girlfriend|"
    r"daughter|aunt|niece|grandmother|grandma|brother|dad|father|"
    r"husband|boyfriend|son|uncle|nephew|grandfather|grandpa|friend|boss|manager|partner|cousin|"
    r"roommate|colleague|coworker|teacher|"
    r"doctor|therapist|dog|cat|puppy|kitten|horse|baby|neighbou?r|coach|mentor|ex)\b(?!')(?P<name> [A-Z][a-z]+)?"
)
_SHE: Final = frozenset(
    ("sister", "mom", "mum", "mother", "wife", "girlfriend", "daughter", "aunt", "niece", "grandmother", "grandma")
)
_HE: Final = frozenset(
    ("brother", "dad", "father", "husband", "boyfriend", "son", "uncle", "nephew", "grandfather", "grandpa")
)
_OPENING_PRONOUN: Final = re.compile(r"^(?P<p>he|she|his|her)\b(?P<clitic>'s|'ll|'d)?", re.IGNORECASE)


def _kin_in(text: str) -> list[tuple[str, str]]:
    return [
        (m["noun"], ("my" if m["whose"].lower() == "your" else m["whose"].lower()) + m.group()[len(m["whose"]) :])
        for m in _KIN.finditer(text[:MAX_SENTENCE_CHARS])
    ]


def _resolved(text: str, kin: Sequence[tuple[str, str]]) -> str:
    """A sentence that opens with "he" or "she", with the one person named just before in the pronoun's place."""
    match = _OPENING_PRONOUN.match(text)
    if not match:
        return text
    pronoun = match["p"].lower()
    wrong = _SHE if pronoun in ("he", "his") else _HE
    fitting = list(dict.fromkeys(phrase for noun, phrase in kin if noun not in wrong))
    if len(fitting) != 1:
        return text
    rest = text[match.end("p") :]
    if match["clitic"] in ("'ll", "'d"):
        rest = {"'ll": " will", "'d": " would"}[match["clitic"]] + text[match.end() :]
    elif match["clitic"]:
        rest = (" has" if re.match(r" (?:been|got|had)\b", text[match.end() :]) else " is") + text[match.end() :]
    phrase = fitting[0][0].upper() + fitting[0][1:]
    return phrase + ("'s" if pronoun in ("his", "her") else "") + rest


def _asked_in(turn_id: str, text: str) -> _Asked:
    return _Asked(question_of(text), turn_id, asks_about_user(text))


def _without_asides(text: str, assistant: str | None) -> str:
    text = _TRAILING_TAG.sub("", text)
    text = _VOCATIVE.sub("", text, count=1)
    text = _LEAD.sub("", text, count=1) or text
    if assistant:
        called = rf"{re.escape(assistant[:3])}[a-z]*"
        text = re.sub(rf"^{called}[,!] |, {called}(?=[,.!]|$)", "", text)
    return text.strip(" ,;:-")


def _whole(text: str) -> str:
    """An elliptical sentence with its subject: "Just moved here" -> "I just moved here"."""
    match = _ELLIPTICAL.match(text)
    if not match:
        return text
    verb = match["verb"].lower()
    rest = text[:1].lower() + text[1:]
    if verb == "been" and " for me" in rest:
        return f"It's {rest}"
    if verb == "been":
        return f"I've {rest}"
    if verb.endswith("ing"):
        if verb in _NOT_PARTICIPLE or _GERUND_SUBJECT.search(text):
            return text
        return f"I'm {rest}"
    return f"I {rest}"


def clauses_of(text: str) -> tuple[str, ...]:
    """A sentence cut where a new statement about the user begins."""
    if _SUBORDINATE.match(text):
        return (text,)
    parts: list[str] = []
    begin = 0
    for match in _SPLIT.finditer(text):
        left = text[begin : match.start()]
        if len(left.split()) < 2 or not _HAS_CLAUSE.search(left) or _CONTINUES.search(left) or _SUBORDINATE.match(left):
            continue
        if match.group() == ", " and _DEPENDS.search(left):
            continue
        if "and" in match.group() and _COMPANION.match(left):
            continue
        parts.append(left)
        begin = match.end()
    parts.append(text[begin:])
    return tuple(part.strip(" ,;") for part in parts if part.strip(" ,;"))


def _ordered(command: Command, turn: Turn, place: int) -> Statement | None:
    text = mended(command.object_text)[:MAX_SENTENCE_CHARS]
    if not text:
        return None
    manner = "reminder" if command.verb == "remind" else "said"
    return Statement(turn, place, text, explicit=True, pinned=command.verb == "pin", manner=manner)


def _statements_of(
    turn: Turn, message: str, asked: _Asked, assistant: str | None, place: int
) -> list[Statement | Forgetting]:
    commands = find_commands(message)
    private = any(command.verb == "private" for command in commands)
    orders = [c for c in commands if c.verb in ("remember", "remind", "pin", "forget")]
    wishes = [c.start for c in commands if c.verb in ("block", "unblock")]
    found: list[Statement | Forgetting] = []
    used: set[int] = set()
    sentences = split_sentences(prose_of(message))
    kin = [_kin_in(asked.question or ""), []]
    for number, sentence in enumerate(sentences):
        end = sentence.start + len(sentence.text)
        hit = next((i for i, c in enumerate(orders) if sentence.start <= c.start < max(end, sentence.start + 1)), None)
        if hit is not None:
            command = orders[hit]
            if hit in used:
                continue
            used.add(hit)
            if command.verb == "forget":
                if command.object_text:
                    found.append(Forgetting(turn, place, command.object_text))
                continue
            statement = _ordered(command, turn, place)
            if statement is None and found and isinstance(found[-1], Statement):
                continue
            if statement:
                found.append(statement)
            continue
        if any(c.start <= sentence.start and end <= c.end for c in orders):
            continue
        if any(sentence.start <= start < end for start in wishes):
            continue
        said = _resolved(sentence.text, [*kin[-2], *kin[-1]] if kin[-1] == [] else kin[-1])
        kin.append(_kin_in(said))
        for command in commands:
            if command.verb == "private" and sentence.start <= command.start < end and command.object_text:
                said = command.object_text
        found += _from_sentence(turn, said, asked if number < 2 else _Asked(), assistant, place, number)
    if private:
        found = [_private(item) for item in found]
    return found


def _private(item: Statement | Forgetting) -> Statement | Forgetting:
    if isinstance(item, Forgetting):
        return item
    return Statement(
        item.turn,
        item.place,
        item.text,
        item.explicit,
        item.pinned,
        True,
        item.answered,
        item.manner,
        item.asked_in,
        item.question,
    )


def _stands(clause: str, asked: _Asked) -> bool:
    judged = relevance_of(clause, after_question=asked.of_user)
    return judged.points >= WORTH_KEEPING - 0.5 and "impersonal" not in judged.reasons


def _answered(turn: Turn, text: str, asked: _Asked, place: int) -> list[Statement | Forgetting] | None:
    """The statement made by answering, None when the sentence answers nothing by itself."""
    if asked.question is None or (answer := answer_of(asked.question, text)) is None:
        return None
    if not answer.reply:
        return []
    manner = "said" if answer.statement else "answer"
    said = mended(answer.statement) if answer.statement else answer.reply
    return [
        Statement(turn, place, said, answered=True, manner=manner, asked_in=asked.turn_id, question=answer.question)
    ]


def _quoted(turn: Turn, text: str, asked: _Asked, reasons: Sequence[str], place: int) -> list[Statement | Forgetting]:
    """A bare answer with its question, unless it only reacts."""
    told = {"name", "number"} & set(reasons)
    if {"reaction", "suggestion", "about_you"} & set(reasons) or ("exclamation" in reasons and not told):
        return []
    return [
        Statement(turn, place, text, answered=True, manner="answer", asked_in=asked.turn_id, question=asked.question)
    ]


def _from_sentence(
    turn: Turn, text: str, asked: _Asked, assistant: str | None, place: int, number: int
) -> list[Statement | Forgetting]:
    if number == 0 and (answered := _answered(turn, text, asked, place)) is not None:
        return answered
    if is_instruction(text):
        return [Statement(turn, place, text, manner="instruction")]
    if turn.source != "chat":
        return [Statement(turn, place, mended(text))] if text[-1] != "?" and len(text.split()) > 2 else []
    judged = relevance_of(text, after_question=asked.of_user)
    if "task" in judged.reasons:
        return []
    if judged.worth_keeping and "bare_answer" in judged.reasons and asked.question is not None:
        return _quoted(turn, _without_asides(text, assistant), asked, judged.reasons, place)
    if judged.worth_keeping and "question" in judged.reasons:
        text = text[: max(text.rfind(", "), text.rfind(" - "), 0)]
    return _clauses(turn, text, asked, assistant, place) if judged.worth_keeping else []


def _clauses(turn: Turn, text: str, asked: _Asked, assistant: str | None, place: int) -> list[Statement | Forgetting]:
    clean = mended(_without_asides(text, assistant))
    bodies = [_whole(_without_asides(clause, assistant)) for clause in clauses_of(_whole(clean))]
    bodies = [body for body in bodies if len(body.split()) > 1 and not _CHITCHAT.match(body)]
    if len(bodies) > 1:
        bodies = [body for body in bodies if _stands(body, asked)] or bodies[:1]
    return [Statement(turn, place, body) for body in bodies]


def statements_of(turns: Sequence[AdmittedTurn], questions: Mapping[str, Question]) -> list[Statement | Forgetting]:
    """All that is worth keeping of some turns, in the order in which it was said.

    A question that the assistant asks, in this turn or in the one before it in the conversation, is answered by
    the user's next words; `questions` are those that earlier batches left, by conversation. Skipped turns and text in
    another language give nothing.
    """
    found: list[Statement | Forgetting] = []
    asked = {conversation: _asked_in(one.turn_id, one.text) for conversation, one in questions.items()}
    for admitted in turns:
        turn = admitted.turn
        assistant = next((m.name for m in turn.messages if m.role == "assistant" and m.name), None)
        mine: list[Statement | Forgetting] = []
        for message in turn.messages:
            if message.role == "assistant":
                asked[turn.conversation_id] = _asked_in(turn.turn_id, message.content)
            if message.role != "user":
                continue
            before = asked.pop(turn.conversation_id, _Asked())
            if before.turn_id == turn.turn_id:
                before.turn_id = None
            if admitted.admission.action is AdmissionAction.SKIP or not is_english(prose_of(message.content)):
                continue
            mine += _statements_of(turn, message.content, before, assistant, len(mine))
        found += mine[:MAX_SENTENCES]
    return found
