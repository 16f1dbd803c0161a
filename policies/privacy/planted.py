"""Instructions planted in a text to steer the assistant or its memory, rather than something a user tells of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from policies.privacy.unicode_fold import plain

_HIDDEN: Final = re.compile("[\U000e0020-\U000e007f]{4}|[\u200b\u200c\u2060\ufeff\u202d\u202e\u2066-\u2069]{3}")
_LEET: Final = str.maketrans("013457@$", "oieastas")
_MIXED: Final = re.compile(r"\b(?=\w{0,20}[a-zA-Z])(?=\w{0,20}[013457])\w{3,20}\b")
_MAX_DISGUISED: Final = 40
_BROKEN: Final = re.compile(r"\b[a-zA-Z]{1,2}-[a-z]{2,12}\b")
_BREAK: Final = re.compile(r"(?<=[a-zA-Z])[-_]{1,12}\s?(?=[a-z])")
_SPELLED: Final = re.compile(r"(?:\b[a-zA-Z]\b[ _.-]{1,3}){16}")
"""More letters one by one than any name has that people spell."""
_MANY_BROKEN: Final = 3
"""From so many words with a hyphen after the first letter or two; people have an e-mail and a t-shirt at most."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_ORDERS: Final = (
    r"(?:instructions?|directions?|directives?|rules?|prompts?|guidelines?|commands?|polic(?:y|ies)|restrictions?|"
    r"constraints?|programming|training)\b"
)
_WHICH: Final = (
    r"(?:all|any|every|the|your|my|these|those|previous(?:ly)?|prior|above|earlier|preceding|past|former|initial|"
    r"original|other|existing|current|of|given|system|developer|user|safety|to|and)\s+"
)
_FEW: Final = r"(?:[\w'’%@.-]{1,30}\s+){0,4}"
_WHOSE_USER: Final = (
    r"(?:the |this |any |a |every |each )?(?:user|customer|client|visitor|somebody|someone|anyone|anybody|people)s?"
)
_ASSISTANT: Final = r"(?:ai|gpt|chat\s?gpt|chat\s?bot|bot|language model|model|assistant)\b"
_GRANT: Final = (
    r"(?:refunds?|discounts?|payments?|transfers?|requests?|purchases?|orders?|returns?|"
    r"withdrawals?|claims?|access|"
    r"transactions?|loans?)\s+"
)

_RULES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "override",
        _any(
            r"\b(?:ignore|disregard|forget|override|bypass|dismiss|neglect|discard|skip|drop)\s+"
            rf"(?:{_WHICH}){{1,6}}(?:\w{{1,20}}\s+){{0,2}}{_ORDERS}",
            r"\b(?:ignore|disregard|forget|discard)\s+(?:\w{1,12}\s+){0,2}(?:everything|anything|all|"
            r"text|content|what(?! i\b))\s+"
            r"(?:\w{1,12}\s+){0,4}(?:above|before|previous(?:ly)?|prior|earlier|except)\b",
            r"\b(?:do not|don't|don’t|never|no longer|stop|without)\s+(?:\w{1,10}\s+)?"
            r"(?:listen(?:ing)? to|follow(?:ing)?|obey(?:ing)?|heed(?:ing)?|"
            r"(?:pay(?:ing)?|giv(?:e|ing)) (?:any )?(?:attention|heed) to|consider(?:ing)?|rely(?:ing)? on|"
            rf"abid(?:e|ing) by|adher(?:e|ing) to)\s+(?:{_WHICH}){{0,4}}"
            r"(?:(?:previous|prior|above|earlier|preceding|past|former|initial|original|system|developer)\s+\w{3,20}"
            rf"|your\s+(?:\w{{1,12}}\s+)?{_ORDERS})",
            r"(?:^|[\n.!:\"])\s{0,4}(?:ignore|disregard)\s+(?:instructions|rules|everything|the above|"
            r"all of the above)\b",
            rf"\b(?:changed|updated|replaced|revoked|suspended|lifted)\s+(?:the|your|all|my)\s+{_ORDERS}",
            rf"\byour\s+{_ORDERS}\s+(?:have|has|are|were)\s+(?:been\s+)?(?:changed|updated|replaced|"
            rf"revoked|void)\b",
            r"\b(?:new|updated|real|actual)\s+(?:system\s+)?(?:instructions?|directives?|prompt)\s*[:\n]",
            r"\b(?:end|start|begin)(?:ning)?\s+(?:of\s+)?(?:[\w-]{1,12}\s+){0,4}(?:instructions?|prompt|"
            r"message|rules)\b"
            r"\s{0,3}[-=%#>*\]})]",
        ),
    ),
    (
        "override_in_other_words",
        _any(
            r"\b(?:ignorier\w{0,4}|vergiss|vergesst|missachte\w?)\b[^\n.]{0,40}\b(?:anweisung\w{0,3}|"
            r"regeln|richtlinien)\b",
            r"\b(?:ignor[ae]\w{0,3}|olvida\w{0,2}|dimentica\w{0,2}|esque[cç]a)\b[^\n.]{0,40}"
            r"\b(?:instrucciones|reglas|istruzioni|regole|instruções|regras)\b",
            r"\b(?:ignore[zr]?|oublie[zr]?)\b[^\n.]{0,40}\b(?:consignes|instructions pr[ée]c[ée]dentes|"
            r"r[èe]gles)\b",
            r"\b(?:sin (?:restricciones|filtros?)|ohne einschr(?:ä|ae)nkungen|sans restrictions|senza restrizioni|"
            r"sem restrições|keine (?:regeln|richtlinien)|uneingeschränkt)\b",
            r"\b(?:system-prompt|systemhinweis|note syst[èe]me|prompt del sistema|prompt syst[èe]me|"
            r"modo desarrollador)\b",
            r"\b(?:negeer|ignorera|glöm|ignorer|glem|zignoruj|zapomnij|unohda|ignoruj)\b[^\n.]{0,40}\b(?:instructies|"
            r"regels|"
            r"instruktioner|instrukser|instrukcje|zasady|ohjeet|pokyny)\b|talimat\w{0,6}[^\n.]{0,16}(?:yok say|unut|"
            r"görmezden)",
            r"\b(?:reembolsos?|remboursements?|rückerstattung\w{0,3}|rimborsi|"
            r"terugbetalingen)\b[^\n.]{0,24}\b(?:aprobad|approuv|"
            r"genehmigt|approvat|aprovad|goedgekeurd)",
            r"(?:забудь|игнорируй|не обращай).{0,24}(?:инструкци|правила)|指示.{0,12}無視|지시.{0,8}무시|"
            r"تجاهل.{0,16}(?:التعليمات|الأوامر)|निर्देश.{0,10}(?:अनदेखा|नज़रअंदाज़)|התעלם.{0,16}(?:הוראות|ההוראות)",
            r"忽略.{0,10}指[令示]|無視して.{0,10}指示|игнорируй.{0,24}инструкции",
        ),
    ),
    (
        "role_tag",
        _any(
            r"(?:^|\n)[\s>*_#\"'\[(<-]{0,6}(?:system|assistant|developer|admin(?:istrator)?|root)"
            r"(?:\s+(?:message|prompt|note|override|announcement|instructions?|update|notice|alert))?"
            r"[\]\)>*_\"']{0,4}\s{0,2}[:>\]]",
            r"[\"']?\brole[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:system|developer|admin)\b",
            r"[\"']memor(?:y|ies)[\"']\s{0,2}:\s{0,2}[{\[]",
            r"<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|###\s{0,2}(?:system|instructions?|human|assistant)\b",
            r"\bsystem\s+(?:note|override|prompt|message|announcement|update)\s{0,2}[:\]]",
            r"\b(?:assistant|reasoning)\s{0,2}(?:trace\s{0,2})?\((?:assistant|reasoning)\)\s{0,2}:",
        ),
    ),
    (
        "persona",
        _any(
            r"\b(?:do anything now|jailbroken|jailbreak\s+(?:mode|prompt)|developer[\\_ ]{1,2}mode|"
            r"god mode|dan mode)\b",
            r"\bno (?:content|safety) (?:policy|policies|filters?)\b|\b(?:with|has|have|has got|"
            r"there are) no rules\b",
            r"\b(?:without|no|free (?:of|from)|not bound by|zero|any)\s+(?:any|all|the|its|your|typical|of)?\s{0,2}"
            r"(?:\w{1,14}\s){0,2}(?:restrictions|limitations|censorship|filter(?:s|ing)?|guardrails|"
            r"moral(?:s|ity)|ethics|"
            r"ethical (?:guidelines|constraints)|safeguards)\b[^\n]{0,200}\b(?:you|ai|gpt|assistant|"
            r"answer|respond)",
            rf"\b(?:unfiltered|uncensored|amoral|unrestricted|unethical|evil|immoral)\s+(?:\w{{1,16}}\s)"
            rf"{{0,2}}{_ASSISTANT}",
            r"\b(?:unfiltered|uncensored|amoral|unethical)\s+(?:response|answer|reply|replies|responses|"
            r"answers|mode)\b",
            rf"\b{_ASSISTANT}[^\n.]{{0,40}}\b(?:unfiltered|uncensored|amoral|unrestricted|unlocked)\b",
            r"\b(?:stay|remain|stop being|break(?:ing)?) (?:in )?character\b|\bopposite mode\b|\bnever refuse\b",
            r"\bopenai'?s? (?:\w{1,12} )?(?:polic|guidelin|terms)",
            r"\byou(?: are|'re|r) now (?:an?\b|the\b|in\b|free\b|no longer\b|going to\b|able\b|DAN\b)",
            r"\byou (?:will be|are going to|will|are to|must) (?:now )?(?:act|pretend|play (?:as|the|a)|roleplay|"
            r"role-play|simulate)\b",
            r"\bfrom (?:now on|this (?:moment|point)(?: on(?:wards)?)?),? (?:[\w\s,\"]{1,40}? )"
            r"?you(?:'re| are| will| must| shall)\b",
            r"\byou(?:'re| are) (?:now|no longer) (?-i:[A-Z])\w|\byou(?:'re| are) \w{0,20}gpt\b",
            r"\bregardless of [^\n.]{0,40}\b(?:(?:il)?legal|(?:im)?moral|(?:un)?ethic)",
            r"\b(?:no|without|any|lacks?|have an?y?) (?:\w{1,12},? ){0,3}(?:moral|ethical|legal|content)[^\n.]{0,30}"
            r"\b(?:bounds|boundaries|filters?|limits|qualms)\b",
            r"\byou (?:have been|are) (?:freed|liberated|unlocked|jailbroken)\b|\bfully unlocked\b",
            r"\b(?:pretend|act|respond|answer|behave|role-?play|simulate)\s+(?:\w{1,14}\s){0,4}"
            rf"(?:an?|another)\s+(?:[\w-]{{1,16}}\s){{0,3}}{_ASSISTANT}",
            r"(?:^|[.!?\n:]\s{0,3})(?:please\s)?act\s+(?:as|like)\s+(?:my\s(?:late|dead)\s|"
            r"an?\s(?:\w{1,12}\s){0,2}(?:without|with no|who never))",
            r"\bpretend\s+(?:that\s+)?i(?:'ve|’ve| have| had| just)?\s+(?:just\s+)?(?:enter|typ|provid|g[ai]v|said|"
            r"suppl|input|submit|authenticat|logg)",
            r"\byou(?: are|'re|’re) (?:now (?:an? |the |my )?|an? |the |my )(?:[\w-]{1,12} ){0,2}"
            r"(?:cmd|terminal|command (?:prompt|line)|console|interpreter|"
            r"(?:bash|linux|unix|power|python|windows) ?shell)\b",
            r"\bpretend\s+(?:that\s+)?you(?:'re| are| have)\b[^\n]{0,120}\b(?:rules|filter|restrictions|"
            r"refuse|ai)\b",
        ),
    ),
    (
        "addressed_to_a_machine",
        _any(
            r"\b(?:notes?|messages?|instructions?|reminders?|attention|memos?|p\.?s\.?)\s{0,3}:?\s{0,3}"
            r"(?:(?:to|for)\s+)?(?:the |any |all )?(?:ais?|(?:chat)?bots?|assistants?|language models?|"
            r"llms?|ai (?:agents?|assistants?|models?)|summari[sz]ers?)\b\s{0,3}(?::|\breading\b)",
            r"(?:^|[\n.!?(>*#]\s{0,3}|\b(?:notice|warning|info(?:rmation)?|hint|important|text|content|instructions?|"
            r"notes?|message|memo|action)\s)"
            r"(?:for|to|attention|dear)\s+(?:the |any |all |every )?(?:ai|llm|language model|chatbot)s?"
            r"(?:\s(?:systems?|agents?|models?|assistants?))?\b[^\n.!?:]{0,48}:",
            r"\bfor\s(?:all\s|any\s)?(?:agents|assistants|bots):\s{0,3}(?:please\s)?(?:store|remember|save|record|add|"
            r"memori[sz]e|update|ignore|always|never)\b",
            r"\bif you(?:'re|’re| are) (?:an? |the )?(?:ai|llm|language model|large language model|chatbot|"
            r"ai assistant)\b",
            r"\b(?:ais?|llms?|language models?|chatbots?|ai (?:agents?|assistants?|models?|systems?))\s"
            r"(?:reading|processing|summari[sz]ing|viewing|parsing|analy[sz]ing)\b",
            r"(?:^|[\n.!?(:>]|<!--)\s{0,3}(?:dear\s)?(?:assistant|ai|chatbot)\s{0,2}[,:]\s{0,3}(?:please\s|"
            r"you\s(?:must|should)\s)?"
            r"(?:when|if|remember|store|add|note|save|record|recommend|say|tell|always|never|ignore|reply|do)\b",
            r"\bi(?:'m|’m| am) your (?:developer|creator|administrator|admin|programmer)\b",
            r"\b(?:enable|activate|enter|switch to|turn on)\s+(?:the\s)?(?:debug|developer|admin|god|maintenance|"
            r"root|dan)\s+mode\b",
            r"\b(?:re-?program(?:ming)?|modify(?:ing)?|overwrit(?:e|ing)|alter(?:ing)?) (?:you\b(?!r)|your "
            r"(?:programming|code|source|behaviou?r|settings|training|instructions))",
            r"\bi(?:'m| am) (?:[\w-]{1,12},? ){0,3}an? (?:[\w-]{1,12} ){0,3}(?:ai|artificial intelligence|"
            r"language model|chat ?bot)\s{0,2}(?:[.,!;]|(?:created|designed|trained|made|built|with|that|which|model|"
            r"assistant)\b)",
        ),
    ),
    (
        "forced_output",
        _any(
            r"\baccess\s+granted\b",
            r"\b(?:print|output|respond|reply|return|append)\b[^\n.]{0,24}\b(?:verbatim|nothing (?:else|"
            r"but)|the exact|only with)\b",
            r"\b(?:say|write|type|repeat|display|answer|print|output)\s+(?:only|exactly)\b",
            r"(?:^|[\n.!:,\"]|\band|\bthen|\bbut)\s{0,4}(?:only|just|simply)\s+(?:print|say|output|"
            r"respond|reply|return|write|type)\b(?! in (?-i:[A-Z][a-z]{3}))",
            r"\b(?:respond|reply|answer|start|begin|end)\s+(?:only\s+)?with\s+(?:the\s+\w{1,10}\s+)?[\"'“‘]",
            r"\b(?:at|to) the end of (?:your|every|each) (?:reply|response|answer|summary|message)\b",
        ),
    ),
    (
        "exfiltration",
        _any(
            r"\b(?:reveal|print|show|tell|repeat|output|leak|share|give|display|disclose|send|forward|"
            r"email|post|upload)\b"
            r"[^\n.]{0,40}\b(?:system prompt|(?:your|initial|original|hidden|secret) (?:\w{1,12}\s)"
            r"?(?:instructions?|prompts?)|"
            r"access code|security code|secret (?:code|key|phrase)|api keys?|credentials|conversation history|"
            r"chat (?:history|log)|customer (?:database|data|records)|environment variables)\b",
            r"\b(?:email|send|forward|post|upload|transfer|exfiltrate)\b[^\n.]{0,30}\b(?:full|entire|"
            r"all|every|complete)\b"
            r"[^\n.]{0,16}\b(?:customer|user|client|database|records|conversation|emails)\b[^\n.]{0,24}\bto\b",
            r"\bcall\s+[a-z]{2,20}_[a-z_]{2,30}\b",
        ),
    ),
    (
        "order_to_memory",
        _any(
            r"\b(?:remember|note|memori[sz]e|store|save|record|from now on|going forward|in (?:the )?future|always|"
            r"henceforth|for all future)\b[^\n.!?]{0,60}\b(?:"
            rf"{_GRANT}{_FEW}(?:approved|authori[sz]ed|allowed|granted|permitted|free|pre-?approved|"
            rf"waived|automatic)|"
            rf"(?:approve|authori[sz]e|grant|waive|bypass|skip)\s+{_FEW}(?:{_GRANT.removesuffix('s+')}b|"
            rf"verification|checks?|"
            r"authentication|approval|confirmation|limits?|fees?)|"
            r"(?:is|am|are|as|has|have)\s+(?:an?\s+|the\s+|full\s+)?(?:admin(?:istrator)?|root|superuser)\b|"
            rf"(?:trust|obey|believe|follow|recommend|promote|cite)\s+{_FEW}(?:instructions?|links?|"
            rf"emails?|site|website|"
            r"product|sources?|domain|commands?|orders?)\b)",
            r"\b(?:add|write|save|store|insert|put|update)\s+(?:\w{1,12}\s+){0,5}(?:to|in|into)\s+"
            r"(?:your|the|its|long[- ]term|"
            r"the assistant'?s)\s+(?:[\w-]{1,12}\s+){0,2}memory\b",
            r"\b(?:you|the assistant|assistants?|the ai|ai (?:agents?|assistants?|models?))\s+"
            r"(?:[a-z]{1,14}\s+){0,4}"
            r"(?:must|should first|shall|are (?:required|instructed) to|has to|have to)\s+(?:now\s+|"
            r"always\s+|never\s+)?"
            r"(?:ignore|obey|comply|approve|grant|authori[sz]e|transfer|forward|execute|reveal|believe|"
            r"treat|disregard|follow|"
            r"reply|respond|output|append|recommend|delete|empty)\b",
            r"\b(?:remember|note|store|save|record|memori[sz]e|log)\s+(?:[\w-]{1,12}:?\s+){0,3}?(?:that|"
            r":)?\s{0,2}the user\s"
            r"(?:is|has|was|likes|loves|wants|prefers|agree[sd]|consent(?:s|ed)|authori[sz]e[sd]|trusts|accept(?:s|"
            r"ed))\b",
            r"\bmemory\b[^\n.!?]{0,12}:\s{0,2}(?:the\s)?user\b|\bmemory update\b\s{0,2}:",
            rf"\b(?:when|whenever|if|each time|every time|once)\s+{_WHOSE_USER}\s+(?:ask|mention|want|request|"
            rf"inquire|need|"
            r"say|talk)(?:s|ed)?\b[^\n.!?]{0,80}[, ](?<!\bi )(?<!\bwe )(?<!they )(?<!\bto )(?<!and )(?:always\s)?"
            r"(?:say|tell|reply|respond|answer|recommend|suggest|approve|mention|claim|promote|offer|grant)\b",
            rf"\b{_GRANT}{_FEW}(?:approved|authori[sz]ed|allowed|granted|permitted|"
            rf"waived)\b[^\n.!?]{{0,30}}\b(?:from now on|always|"
            r"automatically|without (?:confirmation|asking|verification|approval|any)|going forward|for (?:this|"
            r"my) account)\b",
            r"\b(?:pre-?approved|authori[sz]ed|trusted)\b[^\n.!?]{0,30}\b(?:do not|don't|don’t|never|without)\s+ask",
            r"\btreat\s+(?:[\w'’]{1,16}\s+){1,4}?(?:messages?|mails?|e-mails?|words?|requests?|texts?|inputs?)\s+"
            r"(?:as|like)\s+(?:if\s)?(?:[\w'’]{1,12}\s){0,4}?(?:commands?|instructions?|orders?|administrator|admin|"
            r"developer|system)\b",
            r"\b(?:skip|bypass|waive|disable|omit)\s+(?:\w{1,12}\s+){0,2}(?:verification|confirmation|authentication|"
            r"identity checks?)\b",
            r"\byou\s+(?:no longer|don't|don’t|do not|never)\s+(?:need|have)\s+to\s+(?:ask|check|verify|"
            r"confirm)\b[^\n.!?]{0,40}"
            r"\b(?:confirmation|payments?|transfers?|purchases?|identity|permission)\b",
            r"\bin\s+(?:all|every|each|any)\s+(?:future\s)?(?:conversations?|repl(?:y|ies)|responses?|sessions?|"
            r"answers?|chats?)\b,?\s"
            r"(?:\w{1,12}\s)?(?:recommend|promote|mention|trust|cite|link|include|insert)\b",
            r"\b(?:never|do not|don't|don’t|without)\s+(?:tell|mention|inform|reveal|show|disclose|telling|informing|"
            r"notifying)\b"
            r"[^\n.!?]{0,40}\bthe user\b(?!['’])|\bsecretly\s+(?:add|send|forward|bcc|include|insert|recommend|store|"
            r"save)\b",
            r"\b(?:must|should|has to) be (?:included|added|appended|inserted|repeated) (?:in|to|at)"
            r" (?:every|each|all|your)\b",
        ),
    ),
    (
        "privilege",
        _any(
            r"\b(?:safety|security|content|usage|your)\s+(?:rules|guidelines|policies|restrictions|checks)\s+"
            r"(?:do not|don't|don’t|no longer|never)\s+apply\b",
            r"\ballowed\s+to\s+(?:see|access|view|read|edit|use)\s+(?:all|any|every|other|"
            r"everyone['’]?s?)\s(?:\w{1,12}\s)?"
            r"(?:users?|customers?|accounts?|data|files|records|conversations?)\b",
            r"\bgrant\s+(?:me|us|them|him|her|all|full|admin|root)\s(?:\w{1,12}\s){0,2}(?:permissions?|rights|"
            r"privileges)\b|"
            r"\badmin(?:istrator)?\s+override\b",
        ),
    ),
    (
        "encoded",
        _any(
            r"\b(?:decode|decrypt|decipher|base64|rot13)\b[^\n]{0,80}\b(?:follow|do|execute|obey|act on|comply)\b",
            r"(?:[.\-·]{1,6}[ /]{1,3}){30}",
            r"\b[0-9a-f]{80}|\b[A-Za-z0-9+/]{120}",
        ),
    ),
)

_TOLD_TOO: Final = frozenset({"override", "order_to_memory", "exfiltration"})
"""Rules whose words people also use when they tell of themselves."""
_SUBJECT_CHARS: Final = 80
_SUBJECT: Final = re.compile(
    r"(?:\b(?:I|[Ww]e|[Hh]e|[Ss]he|[Tt]hey|(?:[Mm]y|[Oo]ur) (?!assistant|bot|agent|model)[a-z]{2,16}|[Tt]he user))"
    r"(?:['’](?:ve|d|m|re|s)|\s(?:have|has|had|am|was|must|should|can|will|need to|needs to|have to|has to))?"
    r"(?:\s(?:always|never|often|just|sometimes|also|really|usually|still))?\s\Z"
)
_PASSED_ON: Final = re.compile(
    r"\b(?:told|asked|advised|taught|teach|remind(?:ed|s)?|wants?|wanted)\s(?:me|us|him|her|them|(?:my|our|his|her|their)\s"
    r"[a-z]{2,16})\s(?:not\s)?to\s(?:always\s|never\s)?\Z",
    re.IGNORECASE,
)
"""An order that somebody else was given: "my boss told me to ignore the earlier rules"."""
_READER: Final = _any(
    r"\b(?:you|your|previous\w{0,2}|prior|above|earlier|preceding|system|developer|assistant|ai|instructed|safety)\b",
)


def find(text: str) -> Iterator[str]:
    """The names of the rules that call a text planted. Linear in the length of the text."""
    if _HIDDEN.search(text):
        yield "hidden_characters"
    seen = plain(text).text
    for name, pattern in _RULES:
        if any(not (name in _TOLD_TOO and _is_told(seen, match)) for match in pattern.finditer(seen)):
            yield name
    if _is_disguised(seen):
        yield "disguised"
    if _is_flood(seen):
        yield "flood"


def _is_told(text: str, match: re.Match[str]) -> bool:
    """Whether somebody tells what people do ("I always forget the rules") and orders nothing of the reader."""
    before = text[max(0, match.start() - _SUBJECT_CHARS) : match.start()]
    if _PASSED_ON.search(before) or _PASSED_ON.search(before + match[0].split(" ", 1)[0] + " "):
        return True
    return _SUBJECT.search(before) is not None and _READER.search(match[0]) is None


def _is_disguised(text: str) -> bool:
    """Whether words are spelled letter by letter, or an order is written with digits for letters or broken up."""
    if _SPELLED.search(text, 0, 2_000):
        return True
    if len(_BROKEN.findall(text, 0, 2_000)) >= _MANY_BROKEN:
        whole = _BREAK.sub("", text[:2_000])
        if any(pattern.search(whole) for _, pattern in _RULES):
            return True
    if len(_MIXED.findall(text, 0, 2_000)) < 3:
        return False
    return _RULES[0][1].search(_MIXED.sub(lambda m: m[0].translate(_LEET), text[:2_000])) is not None


def _is_flood(text: str) -> bool:
    """Whether a text drowns what precedes it in a few tokens over and over."""
    tokens = text.split()
    return len(tokens) > _MAX_DISGUISED * 2 and len(set(tokens)) < len(tokens) / 8
