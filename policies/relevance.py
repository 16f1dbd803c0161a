"""How much a sentence says about the person who said it, by rules that add up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from policies.sentences import words

WORTH_KEEPING = 1.0
"""Points from which a sentence is worth a memory. Fitted with `POINTS` by logistic regression and rounded to quarters,
on Multi-Session Chat (Xu et al. 2022, did a person write down a fact from it) and checked on LoCoMo (Maharana et al.
2024, is a question asked about it)."""
SURELY = 2.0
"""Points from which a sentence needs no second opinion."""

_WORD = re.compile(r"[a-z0-9$€£'%:]+")

_SELF = frozenset({"i", "i'm", "im", "i've", "ive", "i'd", "i'll", "my", "mine", "me", "myself", "id", "ill"})
_SELF_SUBJECT = frozenset({"i", "i'm", "im", "i've", "ive", "i'd", "i'll"})
_WE = frozenset({"we", "we're", "we've", "we'll", "we'd", "our", "ours", "us"})
_YOU = frozenset({"you", "your", "you're", "you've", "you'll", "you'd", "yours", "u", "ur", "yourself"})
_THIRD = frozenset({"he", "she", "his", "her", "they", "their", "him", "he's", "she's", "they're"})

_RELATION = words(
    "mom mum mother dad father parents parent sister brother siblings sibling son daughter kid kids child "
    "children baby wife husband spouse partner girlfriend boyfriend fiance fiancee fiancé fiancée grandma "
    "grandpa grandmother grandfather grandson granddaughter grandkids grandchildren aunt uncle cousin "
    "cousins niece nephew nieces nephews family friend friends roommate roommates neighbor neighbour boss "
    "coworker coworkers colleague colleagues ex twins dog dogs cat cats pet pets puppy puppies kitten "
    "kittens horse horses bird fish rabbit hamster parrot turtle therapist doctor teacher mentor"
)
_POSSESSION = words(
    "house home apartment flat condo farm car truck bike motorcycle van boat job career business company "
    "shop store restaurant studio office school college university degree major class classes course "
    "salary budget savings debt mortgage rent loan birthday wedding anniversary divorce diet allergy "
    "allergies health surgery hobby hobbies garden guitar piano name age favorite favourite fav goal goals "
    "plan plans dream project book novel blog channel computer laptop phone address number email team band "
    "church hair"
)
_LASTING = words(
    "live lived living relocated based retired switched "
    "upgraded work worked working works own owned love loved loves like liked hate hated prefer "
    "enjoy enjoyed enjoys have had has play played playing plays collect study studied studying teach "
    "taught teaching married divorced retired single pregnant engaged vegan vegetarian allergic diabetic "
    "grew born raised moved moving bought sold adopted started quit graduated volunteer volunteered "
    "volunteering signed joined learned learning cook cooking bake baking paint painting write writing "
    "wrote read reading travel traveled travelled travelling traveling visit visited visiting went going "
    "plan planning hope hoping want wanted need needed trying try tried save saving drive drove run "
    "running hike hiking watch watched watching listen use used using make made making eat ate eating "
    "drink drinking got getting took take taking met lost won passed finished finishing spend spent booked "
    "decided dream afraid scared interested fan favorite favourite attend attended grow growing build "
    "building built train training coach practice practicing sing singing dance dancing ride riding fish "
    "fishing hunt hunting wear dislike miss missed opened opening accepted applied hired fired promoted "
    "earn swim camping surf ski"
)
_TIME = words(
    "yesterday today tomorrow tonight weekend week month year years months weeks monday tuesday wednesday "
    "thursday friday saturday sunday january february march april june july august september october "
    "november december ago last next recently lately birthday soon weekends summer winter fall spring"
)
_REACTION = re.compile(
    r"\b(?:i(?:'m| am|m) (?:so |really |very |just )?(?:glad|sure|sorry|happy (?:to hear|for you|"
    r"you|that you)|here for you|proud of "
    r"you|impressed|jealous|curious|rooting|with you|excited for you|happy to help|always here|inspired by you)|"
    r"i (?:totally |completely |really |just |also |do |can |could |would |will |certainly |definitely |bet |"
    r"always |might |only |still |don't |can't |didn't )*"
    r"(?:hope (?:you|it|that|your|they|he|she|everything|all|to (?:hear|see you))|agree|guess|bet|"
    r"understand|appreciate|"
    r"imagine|suppose|wish you|see(?: what| that| why| how|[.,!]|$)|know (?:what|how|that|right|the|you|it|,)|"
    r"hear (?:you|that|ya)|think (?:you|that|it|so|of|about|your|they|he|she|we)|believe (?:you|in you|it|that)|"
    r"admire|get (?:it|that|you|what)|say|mean|thank|relate|wonder|doubt|feel (?:you|ya)|wait (?:to see|to hear)|"
    r"tell you|ask|suggest|recommend|promise|remember (?:you|that you))\b|"
    r"can(?:no|')?t wait (?:to|for)|let me know|let's|lets|thank(?:s| you)|"
    r"(?:good|best of) luck|congrat\w*|you're welcome|no (?:worries|problem|prob)|sounds? (?:like|"
    r"good|great|fun|amazing|"
    r"awesome|delicious|interesting|cool|nice|lovely)|well done|keep (?:it )?(?:up|going)|take care|"
    r"i'?d love to (?:hear|see|know|try|come|join|help|check)|wish i could|means? (?:a lot|so much|the world)|"
    r"talk (?:to you )?(?:soon|later)|oh my|way to go|sorry (?:i|to|for|about|that)|i(?:'ve| "
    r"have)? (?:heard|thought)|i(?:'ve| have) seen|i(?:'ll| will) (?:definitely|have to|be sure|"
    r"check|look)|i(?: also)? need (?:to hear|one|some of)|see you|have (?:a|fun|you)|how about "
    r"you|what about you)"
)
_EXCLAIM = re.compile(
    r"^(?:oh |ah |aw+ |hey |well |haha\w* |yeah,? |yes,? |no,? )?(?:wow|awesome|that(?:'s| is| "
    r"was| sounds| must| would|s)|this (?:is|looks)|it(?:'s| is|s)|sounds|what an?|how "
    r"(?:cool|nice|great|fun|exciting|sweet|awesome|interesting)|great|nice|cool|good|amazing|"
    r"congrat\w*|thanks|thank|hi|hello|hey|"
    r"those|these|you|your|there|the)\b"
)
_OPENERS = re.compile(
    r"^(?:(?:oh|ah|aw+|hey|hi|hello|well|haha\w*|lol|yeah|yes|yep|yup|nope|no|so|and|but|also|plus|wow|actually|"
    r"honestly|anyway|ok|okay|sure|definitely|absolutely|thanks|thank you|btw|by the way|cool|"
    r"nice|great|true|mostly|"
    r"because|maybe|usually|sometimes|currently|right now|not really|of course|unfortunately|sadly|luckily|just|"
    r"recently|lately|today|yesterday)\b[\s,.!-]*){1,4}"
)
_ELLIPTICAL = re.compile(
    r"^(?:(?:just|recently|also|always|usually|mostly|sometimes|currently|still|really|never|already|even|finally|"
    r"not) )*"
    r"(?:been|got|went|had|made|took|moved|bought|sold|started|finished|adopted|joined|graduated|signed|booked|applied|"
    r"decided|quit|built|wrote|passed|celebrated|played|watched|tried|working|planning|thinking (?:about|of)|"
    r"trying|"
    r"looking (?:for|into|to)|getting|going|loving|love|loved|hate|enjoy|enjoying|like|prefer|want|need|saw|met|won|"
    r"lost|"
    r"living|used to|studying|watching|reading|playing|learning|listening|mine|hoping|gonna|born|grew|visited|spent)\b"
    r"(?! (?:luck|fun|you|a (?:great|good|nice|safe)))"
)
_I_VERB = re.compile(
    r"\b(?:i|we)(?:'m|'ve|'d|'ll|m|ve|'re)? (?:(?:am|was|were|are|have|had|do|did|don't|didn't|"
    r"can't|cannot|can|could|couldn't|"
    r"will|won't|would|wouldn't|should|may|might|must|not|never|always|usually|often|sometimes|"
    r"just|also|really|actually|only|"
    r"still|recently|finally|currently|mostly|already|even|both|been|once|mainly|definitely|absolutely|especially|"
    r"almost|kind of|gonna|going to|used to|trying to|got to|have to) )*([a-z']+)"
)
_NUMBER = re.compile(
    r"\b\d[\d,.]*\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|"
    r"forty|fifty|hundred|thousand|couple)\b"
)
_MONEY = re.compile(r"[$€£]\s?\d|\b\d[\d,.]*\s?(?:dollars|bucks|euros|usd|eur|pounds)\b|\b\d+k\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?])(?<!^) (?!I\b|I'|OK\b|LOL\b|Oh\b|TV\b|Hi\b)[A-Z][a-zA-Z]+")
_MY = re.compile(r"\b(?:my|our) (?:[a-z]+ ){0,2}?([a-z]+)")


_SUGGESTION = re.compile(
    r"\b(?:we should|you should|you could|maybe (?:we|you)|we can|we could|why don't|let me|you "
    r"can|i can (?:help|show|send|bring|teach)|i'll (?:send|bring|let|check|give|show|try|have to|"
    r"be sure|keep|look))\b"
)
_FEELING = re.compile(
    r"\b(?:i'm|im|i am|i was|i feel) (?:so |very |really |just |pretty |feeling |a bit |super "
    r")*(?:excited|tired|good|great|well|fine|happy|okay|ok|sad|doing)\b"
)
_IDENTITY = re.compile(
    r"\b(?:i'm|im|i am|i was|we're|we are|mine is|mine are|i'm not|i am not) (?:also |only |just |actually |"
    r"still |now |currently |more of )*(?:an?|the|from|in|at|not|allergic|married|single|born|"
    r"retired|scared|afraid|into|\d+|[a-z]+ing)\b"
)
_TASK = re.compile(
    r"(?:please |can you |could you )?(?:write|tell|give|show|help|make|create|generate|find|list|explain|translate|"
    r"suggest|recommend|draft|rewrite|summari[sz]e|book|plan|calculate) (?:me|us|a|an|the|some|my|this)\b"
)
_LIFE_EVENT = words("divorced divorcing engaged pregnant diagnosed fired promoted hired died cancer surgery widowed")
_YES_NO = re.compile(r"(?:yes|yeah|yep|yup|no|nope|not|nah|sure|i do|i am|i have)\b")
_OWNING = frozenset({"have", "got", "own", "had"})
_LIKING = frozenset(
    {"love", "like", "hate", "prefer", "favorite", "favourite", "enjoy", "fan", "loves", "into", "rather"}
)
_HABIT = frozenset({"usually", "always", "never", "often", "every", "sometimes", "used", "mostly", "only"})


_INSTRUCTION: Final = re.compile(
    r"^(?:please,? |from now on,? |in (?:the )?future,? |going forward,? |and )*(?:(?:always|"
    r"never|don't|do not|stop|avoid|keep|make sure to|try to) )?"
    r"(?:answer(?:ing)?|reply(?:ing)?|respond(?:ing)?|speak|talk|write|address|us(?:e|ing) "
    r"(?:emojis?|markdown|bullet\w*|lists|jargon|slang|metric|imperial|celsius|fahrenheit|my "
    r"(?:first )?name|simple\w*|formal|informal|exclamation|tables|british|american|\w+ (?:words|"
    r"units|spelling|language))|explain|format|keep (?:your|the) (?:answers?|replies|responses)|"
    r"be (?:more |less )?(?:brief|concise|formal|informal|direct|polite|short)|your (?:answers?|"
    r"replies|responses)|giv(?:e|ing) me|call(?:ing)? me|ask(?:ing)? me|includ(?:e|ing)|"
    r"remind(?:ing)? me)\b",
    re.IGNORECASE,
)
_LASTING_ORDER: Final = re.compile(
    r"\b(?:always|never|from now on|in (?:the )?future|going forward|don't|do not|stop|every time|"
    r"whenever|call me|keep your|your (?:answers|replies|responses)|be (?:more |less )?(?:brief|"
    r"concise))\b",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(r"[^.!?\n]{1,300}\?")
_USER: Final = re.compile(r"\b(?:you|your|yours|you're|you've|u|ur)\b", re.IGNORECASE)


def is_instruction(text: str) -> bool:
    """Whether a sentence tells the assistant how to behave from now on."""
    return _INSTRUCTION.match(text) is not None and _LASTING_ORDER.search(text) is not None and text[-1:] != "?"


def asks_about_user(text: str) -> bool:
    """Whether the other side's text ends by asking something about the user ("Do you have any pets?")."""
    return any(_USER.search(question) for question in _QUESTION.findall(text[-200:]))


@dataclass(frozen=True)
class Relevance:
    """Points and the rules that gave them."""

    points: float
    reasons: tuple[str, ...]

    @property
    def worth_keeping(self) -> bool:
        return self.points >= WORTH_KEEPING


POINTS: Final[Mapping[str, float]] = {
    "instruction": 3.0,
    "possession": 1.5,
    "relation": 1.25,
    "bare_answer": 1.0,
    "life_event": 1.0,
    "first_person": 0.75,
    "answers_question": 0.6,
    "identity": 0.6,
    "my_thing": 0.6,
    "number": 0.6,
    "preference": 0.6,
    "name": 0.5,
    "time": 0.5,
    "yes_no": 0.5,
    "money": 0.5,
    "owns": 0.4,
    "relation_named": 0.3,
    "long": 0.3,
    "personal_verb": 0.25,
    "habit": 0.25,
    "about_oneself": 0.25,
    "elliptical": 0.5,
    "about_us": -0.2,
    "suggestion": -0.25,
    "feeling": -0.3,
    "hypothetical": -0.5,
    "other_verb": -0.5,
    "short": -0.5,
    "reaction": -1.0,
    "about_you": -1.0,
    "pure_question": -1.1,
    "third_person": -1.1,
    "impersonal": -1.5,
    "task": -2.0,
}
"""What each rule counts."""
_BASE = 0.65


def _voice(body: str, bag: set[str]) -> list[str]:
    """Who the sentence is about."""
    found: list[str] = []
    if bag & _SELF_SUBJECT:
        found.append("first_person")
    elif bag & _SELF:
        found.append("about_oneself")
    if bag & _WE:
        found.append("about_us")
    if bag & _YOU:
        found.append("about_you")
    if not (bag & _SELF or bag & _WE):
        if _ELLIPTICAL.match(body):
            found.append("elliptical")
        elif bag & _THIRD:
            found.append("third_person")
        else:
            found.append("impersonal")
    return found


def _manner(text: str, lower: str, body: str, bag: set[str]) -> list[str]:
    """What the sentence does: ask, react, suggest, instruct."""
    found: list[str] = []
    if is_instruction(text):
        found.append("instruction")
    elif _TASK.match(body):
        found.append("task")
    if "?" in text[-4:]:
        found.append("question")
        if not bag & _SELF_SUBJECT and not body.startswith(("my ", "our ")):
            found.append("pure_question")
    if _REACTION.search(lower):
        found.append("reaction")
    if _EXCLAIM.match(lower):
        found.append("exclamation")
    if _SUGGESTION.search(lower):
        found.append("suggestion")
    if bag & {"would", "could", "i'd", "if", "should"}:
        found.append("hypothetical")
    if _FEELING.search(lower):
        found.append("feeling")
    elif _IDENTITY.search(lower):
        found.append("identity")
    return found


def _content(text: str, lower: str, bag: set[str], own: bool) -> list[str]:
    """What of a person's life the sentence touches."""
    found: list[str] = []
    if any(verb in _LASTING for verb in _I_VERB.findall(lower)):
        found.append("personal_verb")
    elif bag & _SELF_SUBJECT:
        found.append("other_verb")
    noun = _MY.search(lower)
    if noun:
        found.append(
            "relation" if noun.group(1) in _RELATION else "possession" if noun.group(1) in _POSSESSION else "my_thing"
        )
    elif own and bag & _RELATION:
        found.append("relation_named")
    if own and bag & _OWNING:
        found.append("owns")
    if own and bag & _LIKING:
        found.append("preference")
    if bag & _LIFE_EVENT and (own or bag & _WE):
        found.append("life_event")
    if bag & _TIME:
        found.append("time")
    if bag & _HABIT:
        found.append("habit")
    if _NUMBER.search(lower):
        found.append("number")
    if _MONEY.search(text):
        found.append("money")
    if _NAME.search(text):
        found.append("name")
    return found


def features(text: str, *, after_question: bool = False) -> tuple[str, ...]:
    """The rules that a sentence meets."""
    lower = text.lower()
    body = _OPENERS.sub("", lower, count=1) or lower
    said = _WORD.findall(lower)
    bag = set(said)
    found = _voice(body, bag)
    found += _manner(text, lower, body, bag)
    found += _content(text, lower, bag, bool(bag & _SELF))
    if after_question:
        found.append("answers_question")
        if _YES_NO.match(lower):
            found.append("yes_no")
        if "question" not in found and ("impersonal" in found or "third_person" in found):
            found.append("bare_answer")
    if len(said) <= 3:
        found.append("short")
    elif len(said) >= 9:
        found.append("long")
    return tuple(found)


def relevance_of(text: str, *, after_question: bool = False) -> Relevance:
    """How much one sentence says about the person who said it.

    `after_question` says that it may answer a question that the other side has just asked.
    """
    reasons = features(text, after_question=after_question)
    return Relevance(_BASE + sum(POINTS.get(reason, 0.0) for reason in reasons), reasons)
