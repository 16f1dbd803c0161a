"""The table of secrets that are told in free words: what opens a thing, words agreed upon, answers to questions of a
bank. What makes a word or a number a secret stands beside it, anywhere in its sentence."""

from __future__ import annotations

from typing import Final

from policies.privacy import checks
from policies.privacy.rules import Rule, shape
from policies.privacy.secrets import LOGINS, PASSWORDS, PINS, WEAK_PASSWORDS

_LOCKED: Final = (
    "lock", "padlock", "locker", "safe", "alarm", "keypad", "gate", "garage", "door", "vault", "shed", "till", "barn",
    "cellar", "entry", "entrance", "building", "barrier", "car park", "storage", "intercom", "key box", "mailbox",
    "bike", "cabin", "flat", "apartment", "office", "house", "voicemail", "phone", "laptop", "tablet", "computer",
    "lockbox", "tool chest", "money box", "alexa", "parental controls", "cupboard", "drawer",
    "pool", "clubhouse", "studio", "workshop", "suitcase",
    "shop",
)  # fmt: skip
_SHORT_LOCKED: Final = (
    "suitcase", "briefcase", "luggage", "bike lock", "padlock", "cable lock", "combination lock", "trolley", "diary",
    "lockbox", "cash box", "combination", "tool chest",
)  # fmt: skip
"""What is opened with three digits."""
_KEYED: Final = (
    "key safe", "key box", "lockbox", "keypad", "padlock", "bike lock", "combination lock", "gun cabinet",
    "intercom", "gate", "alarm",
)  # fmt: skip
"""What is opened by a number and nothing else."""
_OPENED: Final = (
    "code", "codes", "combination", "combo", "pin", "passcode", "digits", "opens", "unlock", "unlocks",
    "to open", "in with", "arm", "get in", "gets in", "get into", "gets into",
    "lets you in", "let yourself in", "lets me in", "turn it to", "turn",
    "dial", "punch in", "punch", "type", "key in", "press", "enter", "disarm", "disarms", "takes", "wants", "hash",
    "wheels",
)  # fmt: skip
_ABROAD_CODES: Final = (
    "code", "digicode", "código", "codigo", "clave", "codice", "kod", "kodem", "pin", "kombination", "combinación",
    "combinaison", "combinação", "combinazione", "szyfr", "koodi", "kode", "geht mit", "öffnet", "öffnen", "s'ouvre",
    "ouvrir", "se abre", "abrir", "otwiera", "otworzyć", "si apre", "aprire",
)  # fmt: skip
_ABROAD_LOCKED: Final = (
    "porte", "portail", "immeuble", "alarme", "coffre", "cadenas", "interphone", "portal", "puerta", "alarma", "garaje",
    "caja fuerte", "candado", "portão", "porta", "prédio", "cofre", "portone", "cancello", "cassaforte", "lucchetto",
    "allarme", "drzwi", "bramy", "bramki", "domofonu", "alarmu", "sejfu", "kłódki", "klatki", "tür", "haustür", "tor",
    "hoftor", "alarmanlage", "tresor", "garage", "schloss", "fahrradschloss", "koffer", "deur", "voordeur", "poort",
    "kluis", "fietsslot", "secret", "secreto", "segreto", "secreta", "segreta", "tajny", "geheim", "tarjeta", "carte",
    "karte", "karty",
)  # fmt: skip
_AGREED: Final = (
    "safe word", "safeword", "code word", "codeword", "code phrase", "magic word", "secret word", "secret phrase",
    "family word", "memorable word", "memorable place", "memorable name", "memorable answer", "security word",
    "security phrase", "collection word", "pick-up word", "pickup word", "emergency word", "duress word",
    "panic word", "watchword",
    "codewort", "losungswort", "sicherheitswort", "mot de code", "mot secret", "palabra clave", "palabra secreta",
    "palabra de seguridad", "parola d'ordine", "parola segreta", "palavra secreta", "tajne hasło", "codewoord",
)  # fmt: skip
_ONE_PASSWORD: Final = (
    *(name for name in PASSWORDS if name not in ("passwords", "passcodes", "hasło", "haslo", "parola")),
    "hasło do", "haslo do",
)  # fmt: skip
_MADE_UP: Final = (
    "film", "movie", "book", "novel", "story", "show", "series", "episode", "game", "escape room", "play", "song",
    "podcast", "quiz", "riddle", "chapter", "character", "sketch", "proverb", "happiness", "success", "love", "life",
    "película", "libro", "roman", "livre", "buch", "spiel", "książce", "filmie",
)  # fmt: skip
"""Where a password is nobody's: in a story, a game or a saying."""
_ASKED_BY_NAME: Final = (
    "security question", "security questions", "secret question", "secret questions", "recovery question",
    "recovery questions", "security check", "sicherheitsfrage", "pregunta de seguridad", "pregunta secreta",
    "question secrète", "question de sécurité", "domanda di sicurezza", "pergunta de segurança", "pytanie pomocnicze",
    "beveiligingsvraag",
)  # fmt: skip
_ASKED: Final = (
    *_ASKED_BY_NAME, "question", "answer", "answer to", "password hint", "account", "bank", "i put", "verify",
    "to reset", "recovery",
)  # fmt: skip
_BY_WHICH: Final = (
    "maiden name", "first pet", "first car", "first school", "first teacher", "favourite teacher", "favorite teacher",
    "grow up", "grew up", "childhood friend", "childhood nickname", "place of birth", "were you born", "first job",
    "first boss", "honeymoon", "favourite film", "favorite movie", "first concert", "primary school", "middle name",
    "mädchenname", "erstes haustier", "nom de jeune fille", "premier animal", "nombre de soltera", "primera mascota",
    "primo animale", "nome de solteira", "nazwisko panieńskie", "pierwsze zwierzę", "meisjesnaam", "eerste huisdier",
)  # fmt: skip
"""What banks and sites ask to know somebody by."""
_OF_A_MOTHER: Final = (
    "mother's maiden name", "mothers maiden name", "mum's maiden name", "mom's maiden name", "mam's maiden name",
    "maiden name of my mother", "mädchenname meiner mutter", "nom de jeune fille de ma mère",
    "nombre de soltera de mi madre", "apellido de soltera de mi madre", "nome de solteira da minha mãe",
    "nazwisko panieńskie mamy", "nazwisko panieńskie matki", "nazwisko panieńskie mojej mamy",
)  # fmt: skip
_ANCESTRY: Final = (
    "genealogy", "family tree", "ancestor", "ancestors", "ancestry", "parish", "register", "census", "grave", "archive",
    "archives", "stammbaum", "village", "surname", "surnames",
)  # fmt: skip
_VERB: Final = (
    r"(?:has (?:always |only )?been|stays|remains|used to be|is|was|are|it['’]?s|were|ist|war|lautet|es|era|fue|"
    r"siempre fue|est|était|c['’]est|è|é|brzmi|heet)"
)
_OF_IT: Final = (
    r"(?:\s(?:for|of|to|on|at|in|by|from|with|everywhere|von|für|de|del|da|do|der|pour|para|voor|van|per|na)\b"
    r"[^\n.!?:=]{0,56}?|\s?[,(][^\n.!?:=]{0,56}?[,)])?"
)
"""What a secret is for, between its name and the verb; a name that goes on as a noun is that of another thing."""
_TO: Final = (
    rf"{_OF_IT}(?:\s{_VERB}\b(?:\s(?:now|still|just|always|called|only)\b)?|['’]s\b|\s?[:=]|\?\s(?:it['’]?s|it is)?)"
    r"\s?:?\s{0,2}"
)
"""From the name of a secret to its value: " for the bank is "."""
_ASIDE: Final = rf"{_OF_IT}(?:,|\s{_VERB}|['’]s)\s[^\n.!?,:]{{3,40}}[,:]\s(?:so\s|is\s|i mean\s)?"
"""The same with what the value is: " is my grandfather's ship, "."""
_END: Final = (
    r"(?=[\"'”’]?\s*(?:[.,;!?)\n]|$|\s(?:and|but|so|in case|if|when|since|because|tell|please|without|y|et|und|i|e)\b))"
)
_QUOTED: Final = r"[\"'“‘„«`](?P<value>[^\s\"“”„«»`][^\"“”„«»`\n]{1,47}?)[\"'”’“»`](?!\w)"
_UP_TO_QUOTE: Final = shape(r"[^\n.!?\"“„'‘«`]{0,80}")
_WORD: Final = r"[^\W\d_][\w'’-]{1,24}"
_FEW_WORDS: Final = rf"(?P<value>{_WORD}(?:\s{_WORD}){{0,3}}){_END}"
_CAPITAL: Final = r"(?-i:[^\W\d_a-zß-öø-ÿ])[\w'’-]{1,24}"
_NAME: Final = rf"(?P<bare>{_CAPITAL}(?:\s{_CAPITAL}){{0,2}})"
_TO_ANSWER: Final = (
    rf"[^\n.!]{{0,80}}?(?:\s(?:{_VERB}|used?|put|answer(?:ed)?|typed?|wrote|gave|said|say)\b|[:=?,])\s{{0,2}}[\"'“‘„]?"
)
_TURN: Final = r"(?:(?:right|left|clockwise|anticlockwise)\s\d{1,2}|\d{1,2}\s(?:right|left|clockwise|anticlockwise))"
_NUMBER: Final = (
    r"(?<![\w$€£.,:/-])(?<!\bin )(?<!\bsince )(?<!\bfrom )(?<!\buntil )(?<!\babout )(?<!\bover )(?<!\bcost )"
    r"(?<!\bpaid )(?<!\bof )(?<!\bfor )(?P<value>[*#]?(?:\d{1,2}(?:[ ,/-]{1,2}\d{1,2}){2,4}|\d(?:[ -]?\d){3,7}|"
    r"(?-i:\d{1,4}[A-Z]\d{0,3}|[A-Z]\d{2,5}[A-Z]?))[#*]{0,2})"
    r"(?![\w%$€£°]|[.,:/-]\d|\s?(?:am|pm|kg|km|cm|mm|m|iu|kwh|[kmgt]b|[mg]?hz|watts?|eur|usd|zł|percent|degrees|uhr|"
    r"people|men|women|feet|a (?:month|year|week|day))\b|\s[a-z]{3,16}s\b)"
)
"""A number that counts nothing: no year, price, measure or time of day."""
_ENDS: Final = r"(?=\s?(?:[,;.!\n]|$|(?:then|and then|plus|hash|star|by the way|btw)\b))"

RULES: Final = (
    Rule("code", shape(_NUMBER), ("You get into the shed with 4491", "To open the bike lock turn it to 3-8-2-2."),
        "The garage opened with 1200 guests.", beside=(_LOCKED, _OPENED), without=_MADE_UP, point=True, numeric=True,
        check_around=checks.is_no_moment),
    Rule("code", shape(_NUMBER), ("El código del portal es 4827 y luego la llave", "le code de la porte c'est 45B12"),
        "Le code de la route a changé en 2023.", beside=(_ABROAD_CODES, _ABROAD_LOCKED), without=_MADE_UP, point=True,
        numeric=True, check_around=checks.is_no_moment),
    Rule("code", shape(r"(?<=[,:(–-]\s)(?P<value>\d(?:[ -]?\d){3,7}[#*]?)(?=\s?(?:[,;)\n]|[.](?!\d)|$|then\b))"),
        ("Key safe by the back door, 7734, in case you come early", "The side gate: 2580"),
        "We bought a padlock and a lamp, 1200 crowns.", labels=_KEYED, reach=60, point=True, numeric=True,
        check_around=checks.is_no_moment),
    Rule("code", shape(rf"(?P<value>\d(?:[ -]?\d){{3,7}}[#*]?){_ENDS}"),
        ("gate's 2580 then the hash key", "the till is 0417."), "The gate is 4000 km away.", labels=_LOCKED,
        gap=shape(r"(?:\s(?:in|on|at|by|of|to|for)\s[^\n.!?:=,\d]{1,32}?)?(?:(?<='s)|(?<=’s)|\sis|\s?[:=])\s"),
        point=True, numeric=True, check_around=checks.is_no_moment),
    Rule("code", shape(r"[^\n.!?]{0,32}?(?:\s(?:opens?|unlocks?|turns?|set|code|is)\b(?:\s(?:at|with|to|on|is))?|[:=])"
        r"\s(?P<value>\d(?:[ -]?\d){2})(?=\s?(?:[,;.!?\n]|$|and\b))"),
        ("suitcase opens at 909", "the bike lock is set to 4-1-7"), "My suitcase was number 112 on the belt.",
        labels=_SHORT_LOCKED, gap=shape(""), point=True, numeric=True),
    Rule("code", shape(rf"(?P<value>{_TURN}(?:[ ,;]{{1,3}}(?:then\s|and\s)?{_TURN}){{1,4}})"),
        ("Combination for the gym locker: right 12, left 30, right 8", "the vault is 34 left, 7 right, 19 left"),
        "We rowed 3 right, 4 left.", beside=((*_LOCKED, "combination", "combo", "dial"),), point=True, numeric=True),
    Rule("pin", shape(_TO + rf"(?P<value>(?:three|four|five|six)\s(?:{'|'.join(checks.UNITS)}|zero)e?s)\b"),
        ("Pin for the tablet is just four zeros", "the alarm code is four nines"),
        "My pin cushion has three nines on it.", labels=(*PINS, "alarm code", "door code", "gate code", "code"),
        gap=shape(""), point=True),
    Rule("agreed_word", shape(_QUOTED), ("our safe word is 'pineapple'", "say the magic word \"rhubarb\" to her"),
        "The safe word in that film was 'banana'.", labels=_AGREED, gap=_UP_TO_QUOTE, without=_MADE_UP, point=True),
    Rule("agreed_word", shape(_TO + _FEW_WORDS), ("If the bank asks, my memorable word is saffron.",
        "The kids know the family word: marmalade"), "The magic word is please, as we say.", labels=_AGREED,
        gap=shape(""), without=_MADE_UP, check=checks.is_told_word, point=True),
    Rule("agreed_word", shape(_QUOTED), ("The word our daughter has to hear before she goes is 'kangaroo'",
        "the agreed phrase was \"blue kite\""), "The word he has to learn is hard.", labels=("word", "phrase"),
        gap=_UP_TO_QUOTE, without=_MADE_UP, point=True,
        beside=(("has to hear", "has to say", "must hear", "must say", "before", "agreed", "to tell", "to give",
                 "nobody else"),)),
    Rule("agreed_word", shape(_QUOTED + r"[^\n.!?]{0,24}\Z"),
        ("If I text you \"umbrella\" it's our emergency word", "'heron' is our code word"),
        "The magic word is one that our emergency team knows.", labels=_AGREED, look="back", reach=80, without=_MADE_UP,
        point=True),
    Rule("agreed_word", shape(r"\bwe say (?P<value>[^\n.!?,]{3,40}?),? (?:so|and then|so that) (?:they|she|he) know"),
        ("When the alarm people call, we say blue lagoon so they know it's us",
         "the bank rings, we say heron, so they know"),
        "We say grace so they know when to sit down.", without=_MADE_UP, point=True,
        beside=(("call", "calls", "ring", "rings", "alarm", "security", "bank", "pick up"),)),
    Rule("agreed_word", shape(rf"(?:{_QUOTED}|{_NAME})"), ("They ask for our password and you say Gladiolus",
        "at the pickup say \"blue mitten\""), "At the pick-up I say hello.", labels=("say", "says", "tell them"),
        gap=shape(r"\s"), beside=((*_ONE_PASSWORD, "pickup", "pick-up", "alarm company", "security company"),),
        without=_MADE_UP, point=True),
    Rule("agreed_word", shape(_TO + r"(?P<value>[^\n.!?]{0,24}\d[^\n.!?]{0,16})"),
        ("memorable date for my broker: 12 June 1988", "my memorable year is 1988"),
        "A memorable date with Tom in 2019.", gap=shape(""), point=True,
        labels=("memorable date", "memorable year", "memorable day", "memorable number")),
    Rule("password", shape(_TO + _QUOTED),
        ("the password for the shop is just 'tealight'", "passphrase? it's \"kite\""),
        "They said \"friend\" and had guessed the password.", labels=_ONE_PASSWORD, gap=shape(""),
        without=_MADE_UP, point=True),
    Rule("password", shape(_TO + _FEW_WORDS), ("netflix password? it's swordfish", "our passphrase has been bluekite"),
        "She guessed the password in the game at once.", labels=_ONE_PASSWORD, gap=shape(""), without=_MADE_UP,
        check=checks.is_told_word, point=True),
    Rule("password", shape(rf"[^\n.!?:=]{{1,40}}?\s(?:to|brzmi)\s{_FEW_WORDS}"),
        ("Hasło do wifi to truskawka", "hasło do banku brzmi poziomka"), "Hasło do wifi trudno zapamiętać.",
        labels=("hasło do", "haslo do"), gap=shape(""), check=checks.is_told_word, point=True),
    Rule("password", shape(_ASIDE + rf"(?P<value>{_WORD}(?:\s{_WORD}){{0,3}}|\S{{4,64}}){_END}"),
        ("The password is my grandfather's ship, Endeavour.", "my password is the usual, OtterPond"),
        "My password is hard to guess, says the site.", gap=shape(""), without=_MADE_UP, point=True,
        labels=(*_ONE_PASSWORD, "password hint", "secret answer", "security answer", "memorable word"),
        check=checks.is_told_aside),
    Rule("password", shape(_ASIDE + _FEW_WORDS), ("Our wifi key is the dog's name twice, rexrex",
        "the passphrase is three words, copper lantern drift"), "My password is my dog's name, as everybody knows.",
        labels=(*_ONE_PASSWORD, *WEAK_PASSWORDS), gap=shape(""), beside=(("name", "names", "words", "word", "usual"),),
        without=_MADE_UP, check=checks.is_told_word, point=True),
    Rule("password", shape(r"(?P<value>[^\s\"“”,;]{3,64})(?=[\"'”’]?\s*(?:[.;!?](?:\s|$)|\n|$))"),
        ("Guest network is Attic, passphrase tealight", "user joe, password bluekite"),
        "I lost my keys, password managers too.", labels=(*_ONE_PASSWORD, "pass", "pw"), gap=shape(r"\s(?:is\s)?"),
        check=checks.is_told_word, check_around=checks.is_listed, point=True),
    Rule("password", shape(_TO + _FEW_WORDS), ("my login is joe, pw is bluekite", "user is joe and the pass: bluekite"),
        "The mountain pass is closed.", labels=("pass", "pw", "key"), gap=shape(""), check=checks.is_told_word,
        beside=((*LOGINS, "user", "email", "mail"),), point=True),
    Rule("password", shape(_QUOTED), ("Type 'open sesame 9' when the server asks for its passphrase.",
        "enter \"blue kite\" as the password"), "I say hello to my password group.", point=True,
        labels=("type", "types", "enter", "use", "wants"), gap=shape(r"\s(?:in\s)?"), without=(*_MADE_UP, "manager"),
        beside=((*_ONE_PASSWORD, "boot", "laptop", "computer"),)),
    Rule("password", shape(
        r"\b(?:gets? on|log(?:s|ged)? (?:in|on)|sign(?:s|ed)? (?:in|on)|connects?|joins?|unlocks?)\b[^\n.!?]{0,40}?\s"
        r"(?:with|using|by typing)\s[\"'“‘]?(?P<value>[^\s\"“”,;]{6,64})"),
        ("our wifi is Kestrel and you get on with bluewhale77", "I log in to the portal using kestrel99"),
        "I log in to the portal with a card.", check=checks.is_mixed, without=("office365", "365"), point=True,
        beside=((*WEAK_PASSWORDS, "network", "router", "hotspot", "laptop", "computer", "portal", "tablet"),)),
    Rule("password", shape(r"(?<![\w@/.-])(?P<value>(?=[^\s\d]{3,40}\d)[^\s\"“”`<>,;|/]{6,64})(?!\w)"),
        ("I use my cat's name plus 1987 for everything, so Mittens1987", "it is Otter2019 on all my accounts"),
        "We play Minecraft2 for everything but money.", check=checks.is_mixed,
        without=("play", "app", "365"), point=True,
        beside=(("for everything", "everywhere", "on every site", "for every site", "all my accounts", "for all sites",
                 "all my logins", "for most sites"),)),
    Rule("password", shape(rf"\b(?:types?|enters?|says?|put in|key in)\s(?:in\s)?[\"'“‘]?(?P<value>{_WORD}){_END}"),
        ("my laptop unlocks when you type moonraker", "To unlock the tablet enter bluekite."),
        "My phone unlocks when I say nothing.", beside=(_LOCKED, ("unlock", "unlocks", "opens", "get into")),
        without=_MADE_UP, check=checks.is_told_word, point=True),
    Rule("seed_phrase", shape(_QUOTED), ("Recovery phrase begins 'ribbon anchor'", "my seed words: \"velvet cactus\""),
        "The seed catalogue's phrase was 'grow'.", gap=_UP_TO_QUOTE, without=_MADE_UP, point=True,
        labels=("seed phrase", "recovery phrase", "seed words", "recovery words", "mnemonic phrase", "wallet phrase")),
    Rule("security_answer", shape(_TO_ANSWER + _NAME), ("My mother's maiden name is Kowalski",
        "mother's maiden name: Delacroix"), "My mother's maiden name was a mystery to us.", labels=_OF_A_MOTHER,
        gap=shape(""), without=_ANCESTRY, point=True),
    Rule("security_answer", shape(rf"(?:{_QUOTED}|(?P<bare>{_WORD}(?:\s{_WORD}){{0,3}}){_END})"),
        ("For the security question (first pet) I used Biscuit.", "the secret question is my car, answer: Polo"),
        "I never answer security questions truthfully.", beside=(_ASKED_BY_NAME,), check=checks.is_told_word,
        point=True,
        labels=("i use", "i used", "i put", "answer is", "answer", "i said", "i typed", "antwort ist", "respuesta es",
                "réponse est", "odpowiedź to", "risposta è", "antwoord is"),
        gap=shape(r"(?:(?<=used)|(?<=\buse)|(?<=put)|(?<=said)|(?<=typed)|(?<=\sis)|\s?(?::|is|was|with))\s")),
    Rule("security_answer", shape(
        rf"[^\n.!]{{0,48}}?(?:\s(?:is|was|as|that['’]s|ist|es|est|è|é)|\s?[:=])\s(?:{_QUOTED}|{_NAME})"),
        ("Answer to 'what street did you grow up on' is Tannery Row", "the bank has my first pet as Biscuit"),
        "The bank asked where I grew up.", labels=_BY_WHICH, gap=shape(""), beside=(_ASKED,), without=_ANCESTRY,
        point=True),
)  # fmt: skip
