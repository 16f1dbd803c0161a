"""English words that the same-fact test must know: synonyms, rivals, opposites, endings.

Small on purpose: words of daily life, preferences and possessions, not a dictionary. Every word is written as
people write it and stemmed once when `policies.wording` loads.
"""

from __future__ import annotations

from typing import Final


def word_set(words: str) -> frozenset[str]:
    """The words of a text, for lists too long to be written word by word."""
    return frozenset(words.split())


STOP_WORDS: Final = word_set(
    """a an the this that these those there here it its he him his she her hers they them their theirs we us our
    ours i me my mine you your yours who whom whose which what when where why how is am are was were be been being
    do does did doing done have has had having will would shall should can could may might must of in on at to
    from by for with about into onto over up as and or but if then so than too very just also some any each both
    s t d ll m re ve user says said say states stated mentions mentioned currently now really quite own while
    during such more most many much other another get gets got out off through every"""
)

GENERAL_TAGS: Final = word_set(
    """finance budget travel health relationship work hobby security legal entertainment goals education family friends
    home possessions celebration personal other conversation attachment document image recording video"""
)
"""Tags that only name a part of life ("Memory System - Mechanics", section 8: the fixed ones), or what was sent."""

LIGHT_VERBS: Final = word_set(
    """go goes going gone went get getting got gotten make makes making made take takes taking took taken give gives
    giving gave given come comes coming came see sees seeing saw seen feel feels feeling felt think thinks thinking
    thought know knows knowing knew known tell tells telling told talk talks talking talked speak spoke spoken ask asks
    asking asked want wants wanting wanted need needs needing needed hope hopes hoping hoped try tries trying tried
    start starts starting started begin begins beginning began begun keep keeps keeping kept put puts putting let lets
    find finds finding found use uses using used look looks looking looked seem seems seemed become becomes becoming
    became happen happens happened decide decides deciding decided plan plans planning planned mean means meant bring
    brings bringing brought share shares sharing shared"""
)
"""Verbs that say little of what somebody does without their object."""

NEGATIONS: Final = word_set(
    """not no never none nobody nothing neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent
    wont wouldnt shouldnt couldnt hasnt havent hadnt aint hardly nonsense myth hoax untrue"""
)

DENIALS: Final = word_set("wrong false incorrect")
DENIED_BY: Final = word_set("is was are were just simply plain plainly totally completely flatly")
"""Words that deny the rest of a statement, after one of these: "to think so is wrong"."""

ENDINGS: Final = word_set(
    """quit stopped quitting sold selling cancelled canceled former formerly ex previously
    abandoned resigned retired divorced died deceased lost fired ended quits stops"""
)
"""Verbs and adverbs that say that what was so is so no more."""

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
TENS: Final = {word: 10 * n for n, word in enumerate(_TENS.split(), 2)}
NUMBER_WORDS: Final = {word: n for n, word in enumerate(_UNITS.split())} | TENS | {"dozen": 12, "twice": 2}

SYNONYMS: Final = (
    "buy purchase acquire",
    "child kid",
    "home house",
    "car automobile",
    "gray grey",
    "someone somebody",
    "truck lorry",
    "scooter moped",
    "plane airplane aircraft",
    "elder elderly old",
    "job work position employed employment",
    "live reside dwell",
    "begin start commence",
    "big large huge",
    "small little tiny",
    "doctor physician",
    "movie film",
    "favorite favourite",
    "mom mother mum",
    "dad father",
    "city town",
    "earn make",
    "wife spouse",
    "trip journey",
    "cut slice chop",
    "run jog",
    "speak talk",
    "like enjoy love adore fond hobby pastime",
    "hate dislike detest loathe",
    "vacation holiday",
    "apartment flat",
    "company firm",
    "near close",
    "prefer favor",
    "bike bicycle",
    "km kilometer kilometre",
    "kg kilogram kilo",
    "mile mi",
    "hour hr",
    "minute min",
    "year yr",
    "phone telephone",
    "photo picture photograph",
    "person people human individual",
    "lady woman",
    "guy man",
    "quickly fast rapidly",
    "sofa couch",
    "road street",
    "crowd group",
    "marry wed",
    "study learn",
    "plan intend",
    "allergy allergic",
)
"""Words that count as the same one, space-separated."""

ALIASES: Final = {
    "bought": "buy", "went": "go", "gone": "go", "goes": "go", "ate": "eat", "eaten": "eat", "children": "child",
    "older": "old", "oldest": "old", "younger": "young", "youngest": "young", "bigger": "big", "biggest": "big",
    "larger": "large", "largest": "large", "smaller": "small", "smallest": "small", "taller": "tall", "tallest": "tall",
    "shorter": "short", "shortest": "short", "longer": "long", "longest": "long", "faster": "fast", "slower": "slow",
    "warmer": "warm", "hotter": "hot", "colder": "cold", "cheaper": "cheap", "richer": "rich", "poorer": "poor",
    "men": "man", "women": "woman", "people": "person", "left": "leave", "made": "make", "knew": "know",
    "known": "know",
    "took": "take", "taken": "take", "drove": "drive", "driven": "drive", "wrote": "write", "written": "write",
    "taught": "teach", "met": "meet", "wore": "wear", "worn": "wear", "rode": "ride", "ran": "run", "sat": "sit",
    "stood": "stand", "slept": "sleep", "swam": "swim", "spoke": "speak", "gave": "give",
    "thought": "think", "felt": "feel", "kept": "keep", "lost": "lose", "paid": "pay", "grew": "grow", "won": "win",
    "wives": "wife", "knives": "knife", "teeth": "tooth", "feet": "foot", "mice": "mouse", "drank": "drink",
    "sold": "sell", "lent": "lend", "found": "find", "forgot": "forget", "came": "come", "began": "begin",
    "became": "become", "told": "tell", "heard": "hear", "saw": "see", "seen": "see", "understood": "understand",
    "fell": "fall", "lying": "lie", "lay": "lie", "dying": "die", "tying": "tie",
    "flew": "fly", "broke": "break", "built": "build", "sent": "send", "spent": "spend",
    "dollars": "$", "dollar": "$", "usd": "$", "euros": "€", "euro": "€", "eur": "€", "pounds": "£", "gbp": "£",
    "percent": "%", "hat": "headwear", "hats": "headwear", "car": "automobile", "cars": "automobile",
    "plane": "aircraft", "planes": "aircraft", "chose": "choose", "held": "hold", "caught": "catch", "threw": "throw",
}  # fmt: skip

OPPOSITES: Final = (
    ("man boy guy male gentleman", "woman girl lady female"),
    ("safe", "unsafe dangerous"),
    ("correct right", "incorrect wrong"),
    ("possible", "impossible"),
    ("agree", "disagree"),
    ("before", "after"),
    ("like enjoy love adore prefer want favor", "hate dislike detest loathe avoid"),
    ("buy", "sell"),
    ("begin", "end finish stop quit"),
    ("increase raise rise gain", "decrease reduce lower fall drop lose"),
    ("open", "close"),
    ("win", "lose"),
    ("accept", "reject refuse decline"),
    ("allow", "forbid ban"),
    ("alive", "dead"),
    ("hot warm", "cold cool"),
    ("big", "small"),
    ("elder", "young"),
    ("tall", "short"),
    ("long", "short"),
    ("fast", "slow slowly"),
    ("happy glad", "sad unhappy"),
    ("early", "late"),
    ("early", "later"),
    ("good", "bad"),
    ("rich", "poor"),
    ("day", "night"),
    ("indoor inside", "outdoor outside"),
    ("empty", "full"),
    ("clean", "dirty"),
    ("awake", "asleep sleep"),
    ("son", "daughter"),
    ("always", "rarely seldom sometimes"),
    ("owns own", "rent lease"),
    ("introvert", "extrovert"),
    ("able can", "unable"),
    ("cheap", "expensive"),
    ("easy", "difficult hard"),
    ("wet", "dry"),
    ("loud", "quiet"),
    ("alone", "group together friend"),
    ("nobody", "somebody someone"),
    ("push", "pull"),
    ("put", "remove"),
    ("add", "remove"),
    ("arrive", "leave depart"),
    ("give", "take receive"),
    ("smoke", "nonsmoker"),
    ("support back endorse favor favour welcome", "oppose against object criticize"),
    ("succeed success", "fail failure"),
    ("pass", "fail"),
    ("true", "false"),
    ("strong", "weak"),
    ("better", "worse"),
    ("improve", "worsen"),
    ("many", "few"),
    ("everyone everybody", "nobody noone"),
    ("remember", "forget"),
    ("find", "lose"),
    ("save", "spend waste"),
    ("lend", "borrow"),
    ("build create", "destroy demolish"),
    ("attack", "defend"),
    ("approve", "reject"),
    ("guilty", "innocent"),
    ("hit strike", "miss"),
    ("reveal show", "conceal hide"),
    ("blond", "dark brunette"),
    ("war", "peace"),
    ("friend", "enemy"),
    ("high", "low"),
    ("thick", "thin"),
    ("deep", "shallow"),
    ("heavy dark", "light"),
    ("far", "near"),
    ("old", "new"),
    ("best most", "worst least"),
    ("hire", "fire"),
    ("healthy well", "ill sick"),
)
"""Pairs of word groups of which one statement holds the one side and the other the other."""

STANCES: Final = word_set(
    """welcome praise endorse refuse deny reject oppose object doubt criticize criticise condemn avoid fail pretend
    threaten unimpressed disappointed reluctant unwilling"""
)
"""What somebody thinks or makes of a thing: to object to a plan is not to have one."""

PREFIXES: Final = ("un", "dis", "in", "im", "ir", "il", "non", "mis")
"""What makes a word its own opposite."""

RIVALS: Final = {
    "weekday": "monday tuesday wednesday thursday friday saturday sunday",
    "month": """january february march april may june july august september october november december""",
    "season": "spring summer autumn fall winter",
    "day": "today tomorrow yesterday week weekend fortnight",
    "daytime": "morning noon afternoon evening night midnight",
    "color": "red blue green yellow black white brown orange pink purple gray grey gold silver blond brunette",
    "person": "man woman boy girl baby lady guy child toddler adult",
    "relation": """mother father sister brother son daughter wife husband uncle aunt cousin grandmother grandfather
        niece nephew mom dad boyfriend girlfriend grandson granddaughter""",
    "animal": """dog cat horse bird rabbit hamster fish cow sheep goat pig lion tiger monkey elephant bear turtle
        snake panda parrot kitten puppy duck""",
    "drink": "coffee tea beer wine water juice soda milk whiskey lemonade",
    "sport": """football soccer tennis basketball baseball golf volleyball hockey rugby cricket swimming skiing
        snowboarding surfing boxing badminton""",
    "instrument": "guitar piano violin drum flute trumpet cello saxophone harp keyboard",
    "posture": "rest sit stand lie sleep run walk jump swim dance kneel crouch climb",
    "vehicle": "car truck bus bicycle motorcycle train plane boat scooter van",
    "produce": "apple banana orange potato tomato onion carrot cucumber pepper garlic mushroom lemon broccoli egg",
    "meat": "chicken beef pork lamb fish shrimp steak",
    "meal": "breakfast lunch dinner supper brunch",
    "language": "english spanish french german italian portuguese chinese japanese korean russian arabic hindi",
    "family_state": "married single divorced widowed engaged",
    "compass": "north south east west",
    "diet": "vegan vegetarian pescatarian",
    "phone_make": "iphone android",
    "act": "eat drink read write cook sing play paint sew draw cut wash throw catch buy ride drive",
    "profession": """teacher nurse engineer doctor lawyer designer chef accountant developer programmer architect
        dentist plumber electrician journalist pilot farmer firefighter waiter cashier therapist scientist professor
        pharmacist analyst consultant barista carpenter mechanic""",
    "rank": "first second third fourth fifth last",
    "frequency": "daily weekly monthly yearly annually",
}
"""Words of one class of which a thing is usually one: another member in the same place is another statement."""

SINGLE_VALUED: Final = {
    "home": "live reside dwell relocate move based home hometown",
    "work": "work job employ employed hired join position role profession occupation company",
    "name": "name named called nickname",
    "age": "age old aged",
    "birth": "birthday born birthdate",
    "partner": "wife husband married spouse partner fiance fiancee boyfriend girlfriend",
    "favorite": "favorite favourite",
    "pay": "salary earn income wage rent mortgage budget price cost",
    "contact": "phone email address",
    "weight": "weigh weight height",
    "deadline": "deadline due appointment flight wedding exam interview",
    "study": "major school university college",
}
"""Cues for what a person has one of at a time: another value is a changed fact, not a second one."""

STATES: Final = (
    ("vegetarian vegan", "meat steak beef pork chicken carnivore bacon"),
    ("vegan", "cheese dairy"),
    ("married", "single divorced unmarried engaged"),
    ("divorced", "single engaged"),
    ("unemployed jobless", "employed work job"),
    ("retired", "work job"),
    ("sober teetotal", "beer wine whiskey drink"),
    ("pregnant", "birth"),
)
"""Opposites that say all of a person's state by themselves, whatever else the statements hold."""

HOLDING: Final = word_set(
    """own owns use uses drive drives play plays work works live lives smoke attend member subscribe subscribed
    subscription practise practice practices study take takes run runs go goes belong week month year day twice often
    usually regularly always still go-to eat eats drink drinks wear wears"""
)
"""What people say of a thing or habit while they have it, with how often."""

LEAVING: Final = word_set("switch switched switching move moved moving change changed changing migrated went")
"""Verbs whose "from" names what was left."""

RELATED: Final = word_set(
    """friend boss manager colleague coworker neighbor neighbour roommate partner fiance fiancee girlfriend boyfriend
    parent parents grandparents dog cat child kid kids children team company"""
)
"""Besides relatives, whose a statement may be other than the user's own."""

PAST: Final = word_set("lived worked resided studied")
"""Cues that speak of earlier days, so that they say nothing against what is so today."""

PARTICLES: Final = (
    ("up", "down"),
    ("on", "off"),
    ("into", "out"),
    ("behind", "front"),
    ("above", "below"),
    ("over", "under"),
    ("for", "against"),
    ("more", "less"),
    ("with", "without"),
    ("to", "from"),
)
"""Small words of which one statement holds the one and the other the other."""
