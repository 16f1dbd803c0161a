"""Sentences of chat cut into whole clauses, without what only greets, reacts or fills."""

from __future__ import annotations

import re
from typing import Final

from policies.language.elliptical import DEED
from policies.language.sentences import words

_LEAD: Final = re.compile(
    r"^(?:(?:oh|ah|u[hm]+|er+m*|aw+|hey|hi|hello|well|ha(?:ha)*|lol|yeah|yes|yep|yup|nope|"
    r"no(?=\s*[,.!;:-]|\s+(?:i|we|it|my|our|that|not|but|actually|he|she|they)\b)|wonderful(?=,)|perfect(?=,)|"
    r"fantastic(?=,)|brilliant(?=,)|basically|"
    r"so(?! (?:many|much|few|far|long(?! story)))|not (?:gonna|going to) lie|ngl|i'm not (?:gonna|going to) lie|"
    r"and|but|plus|wow|actually|"
    r"honestly|anyway|anyways|ok|okay|sure|definitely|absolutely|thanks|thank you(?: so much)?|"
    r"btw|by the way|cool|nice|great|true|"
    r"awesome|i mean|you know|to be honest|tbh|good to know|trust me|whoa|hm+|woo\W?hoo|thank "
    r"goodness|sorry to hear (?:that|it)|like i said|right|because|also|too|omg|unfortunately|"
    r"sadly|luckily|that's (?:great|awesome|cool|nice))\b"
    r"(?: there)?[\s,.!:;-]*){1,4}|^\(?\d{1,2}\)\s",
    re.IGNORECASE,
)
_ANNOUNCED: Final = re.compile(
    r"^(?:(?!(?:I|we|my|our|me|us)\b)[\w'’-]{1,14}[ ,]{1,2}){0,3}(?:news|update|fact|fyi|thing|deal|note|reminder|"
    r"confession|heads[ -]up|announcement|ps|p\.s\.)\s?[:,-]\s*"
    rf"(?=(?:I|we|my|our|{DEED})\b)|"
    r"^(?:long story short|for the record|for what it's worth|guess what|in other news|one more thing|heads[ -]up|"
    r"just so you know)[\s,:!?-]{1,3}(?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
"""What only says that something is told, before it is: "Big news:", "Long story short,"."""
_ERRAND: Final = re.compile(
    r"(?:,|;| -)\s(?:so |and |then )?(?:please |pls )?(?:send|put|use|add|book|show|email|e-mail|forward|note|save|"
    r"deliver|ship) (?:it|that|this|the|them|me|all|any|everything|my|some)\b[^,;.!?]{0,80}[.! ]*$",
    re.IGNORECASE,
)
"""What the other side is to do with what was said: it is done by then."""
_OF_ONESELF: Final = re.compile(r"^(?:I|we|my|our)\b", re.IGNORECASE)
_VOCATIVE: Final = re.compile(r"^(?:hey|hi|hello|thanks|thank you|wow|yeah|yes|no|aw+|oh),? [A-Z][a-z]+[,!.]\s*")
_TRAILING_TAG: Final = re.compile(
    r",? (?:haha\w*|lol|lmao|you know|right|too|though|btw|rip|i'm afraid)\s*(?=[.!]*$)|\s(?:btw|lol)(?=,)|"
    r"\s*[:;]-?[)D(P]+|"
    r"\s*[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+",
    re.IGNORECASE,
)
_SPLIT: Final = re.compile(
    r"(?:,? (?:and|but|plus|and then|and also|but now|so now) |; |, | - | -- )"
    r"(?=(?:(?:since|until|after|from) (?:\w+ ){1,3})?(?:I|we)(?:'m|'ve|'ll|'d|'re)? [\w']+|"
    r"(?:my|our) (?:(?!I\b)[\w']+ ){1,3}(?:is|are|was|were|has|"
    r"have|had|loves?|likes?|works?|lives?|wants?|got|says|just|also)\b)",
    re.IGNORECASE,
)
_RUN_ON: Final = re.compile(
    r" (?=I(?:'m| am) (?:new|an?|the|from|not|so|\d+)\b|I live (?:in|with|on|near|at) (?!is\b|was\b|now\b|has\b)[\w']|"
    r"I work (?:for|at|as|in|with) (?:the|an?|my|[A-Z])|my name is\b)"
)
"""Where a new sentence begins in what was typed without full stops."""
_JOINING: Final = words(
    "and but or so that because cause cuz if when while since as than where what how like think thought know knew say "
    "said says told tell hope guess wish until till before after which who whom whose for with to of in on at by from "
    "whenever although though unless feel felt sure glad happy believe mean means sad afraid worried proud now today "
    "every time place reason way why house flat city town company firm office school"
)
"""Words after which "I" goes on with the sentence."""
_HANGS: Final = re.compile(
    r"(?:I|we)(?:'m|'ve|'ll|'d|'re)?\b[^,;.!?]{0,30}(?:\bto|\bnot|n't|\bdid|\bdo|\beither)[\s.!]*(?:$|[,;])|"
    r"(?:I|we)(?:'ve)? (?:just |only |since )?(?:stopped|quit|gave up)"
    r"(?= (?:when|at|in|because|after|years|last|\d|a)\b|[.!,]|$)",
    re.IGNORECASE,
)
"""A clause that says nothing without the one before it: "but I don't want to"."""
_SHARED_SUBJECT: Final = re.compile(
    r"^(?P<who>I|We|we)(?P<first>(?:'m|'ve| am| have)?(?: now| currently| also| just| both)? "
    r"(?:live|living|work|working|study|studying|moved|drive|own|joined|have|\d{1,3}|an?) [^,;:.!?]{2,200}?),? "
    r"and (?P<second>(?:now |currently |also )?(?:work (?:at|for|as|in)|live in|study|drive an?|moved to|joined)\b"
    r"(?!.{0,200}\b(?:them|it|there|that|this|those)\b).*)$"
)
"""One subject with two things that change each by itself: "I live in Oslo and work at Equinor"."""
_DEPENDS: Final = re.compile(
    r"(?:^|, )(?:\w+ ){0,3}(?:if|when|while|since|although|though|because|as|after|before|once|until|whenever)\b",
    re.IGNORECASE,
)
_COMPANION: Final = re.compile(
    r"^(?:me|my|our)(?: (?!(?:is|are|was|were|has|have|had|got|gets|does|did|can|will|left|broke|quit|came|went|said|"
    r"told|lost|won|died|isn't|aren't|wasn't|[a-z]{3,}ed)\b)[\w']+){1,3}$",
    re.IGNORECASE,
)
"""Who goes with the speaker: "my wife" of "my wife and I", and no clause."""
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
    rf"(?P<verb>{DEED}|(?:gave|sent|lent|showed|brought|sold)(?= [\w']+ (?:to|for) )|"
    r"(?:hurt|cut|left|forgot|retook)(?= (?:my|our)\b)|"
    r"(?:came|fell|woke|ran|broke|gave|moved|stayed)(?= (?:off|back|out|up|home|down|asleep|in|to|with|my)\b)|"
    r"been|[a-z]+ing|got|went|had|made|moved|bought|started|finished|love|"
    r"took(?! (?:me |us )?(?:[\w-]+ ){0,2}(?:minutes|hours|days|weeks|months|years|ages|forever)\b)|loved|hate|enjoy|"
    r"like(?! (?:i|we|you|he|she|they|it|that|this|when|if|a|an|in|on)\b)|prefer|want|need|wish|saw|met|won|lost|"
    r"used to|worked|walked|cleaned|hiked|grew|visited|spent|tried|watched|played|plan|hope|decided|joined|adopted|"
    r"graduated|work|live|study|sold|built|wrote|quit|passed|signed|applied|booked|ate|ran|drove|flew|slept|"
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
        "according",
        "regarding",
        "concerning",
        "depending",
    )
)
_COMPOUND: Final = re.compile(
    r"(?:shopping|reading|watching|packing|wish|waiting) lists?\b|living (?:room|costs?)\b|wedding\b|dining\b",
    re.IGNORECASE,
)
_CHITCHAT: Final = re.compile(
    r"^(?:I(?:'m| am) (?:so |very |really |pretty |just |also |doing |a bit |kinda )?(?:good|fine|well|great|ok|"
    r"okay|alright|not bad|glad|sorry|sure|happy (?:for|to hear)|back|here|bored|hungry|thirsty|tired|sleepy|cold|"
    r"confused|starving|lost|done|ready|listening|waiting|kidding|joking)"
    r"(?: (?:too|now|rn|again|thanks|thank you|today|and you|how are you|for you|that you .*|to hear .*))*|"
    r"I (?:see|agree|know|guess so|think so|hope so|understand|can imagine|bet|do|am|have|will|"
    r"would|can|did|don't know|can't wait|appreciate (?:it|that|you))|"
    r"I(?:'m| am) (?:really )?(?:loving|enjoying) (?:it|this|that)|(?:I|we) (?:really |just |also "
    r"|absolutely |totally )*\w+ (?:it|that|this|them|you|so|one)(?: too| a lot| so much| all| "
    r"now)*|(?:I|we) (?:really |just |also |absolutely |totally |do )*(?:like|love|hate|prefer|enjoy|appreciate) "
    r"(?:your|this|that) (?:[a-z]+ )?(?:answers?|ideas?|repl(?:y|ies)|responses?|suggestions?|versions?|songs?|jokes?|"
    r"poems?|stor(?:y|ies)|style|advice|recipe|explanation|one)|I(?:'ll| will) be (?:right )?back.*|"
    r"(?:I|we) (?:have|'ve got|'ve|want to ask you|need to ask you) (?:an?|another|one more|no|some|some more|a few) "
    r"(?:quick |more |other |last )?(?:questions?|idea|clue|request|favou?r|something)(?: for you)?|"
    r"I(?:'m| am) (?:laughing|dying|crying|speechless|on my phone|just (?:asking|wondering|testing|curious))\b.{0,20}|"
    r"in my (?:humble )?opinion\b.*|"
    r"(?:hang|hold) on\b.*|(?:yeah,? right\b|as if (?:I|we)\b|like (?:I|we)(?:'d| would) ever\b).*|let's .*|"
    r"me too|same here|"
    r"nice to meet you.*|good (?:morning|night|evening|afternoon).*)[\s,.!]*$",
    re.IGNORECASE,
)


def without_asides(text: str, assistant: str | None) -> str:
    """A sentence without openers ("well,"), tags ("lol"), emojis and the name of the one it is said to."""
    text = _TRAILING_TAG.sub("", text)
    text = _VOCATIVE.sub("", text, count=1)
    text = _LEAD.sub("", text, count=1) or text
    text = _ANNOUNCED.sub("", text, count=1)
    if _OF_ONESELF.match(text):
        text = _ERRAND.sub("", text, count=1)
    if assistant:
        called = rf"{re.escape(assistant[:3])}[a-z]*"
        text = re.sub(rf"^{called}[,!] |, {called}(?=[,.!]|$)", "", text)
    return text.strip(" ,;:-")


def whole(text: str) -> str:
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
        if verb in _NOT_PARTICIPLE or _COMPOUND.match(rest) or _GERUND_SUBJECT.search(text):
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
        if _HANGS.match(text, match.end()):
            continue
        parts.append(left)
        begin = match.end()
    *run_on, last = _sentences_run_on(text[begin:])
    parts += run_on
    if shared := _SHARED_SUBJECT.match(last):
        parts += [f"{shared['who']}{shared['first']}", f"{shared['who']} {shared['second']}"]
    else:
        parts.append(last)
    return tuple(part.strip(" ,;") for part in parts if part.strip(" ,;"))


def _sentences_run_on(text: str) -> list[str]:
    """What was typed as one sentence cut where another one plainly begins: "I'm new here I live in Leeds"."""
    parts: list[str] = []
    begin = 0
    for match in _RUN_ON.finditer(text):
        left = text[begin : match.start()]
        if _HAS_CLAUSE.search(left) and left.rsplit(" ", 1)[-1].lower() not in _JOINING and left[-1:] not in ",;:-":
            parts.append(left)
            begin = match.end()
    return [*parts, text[begin:]]


def is_chitchat(text: str) -> bool:
    """Whether a clause says how one is, or reacts, and no more."""
    return _CHITCHAT.match(text) is not None
