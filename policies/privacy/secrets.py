"""The table of secrets: keys and tokens of machines, cards and accounts, passwords, PINs and codes."""

from __future__ import annotations

from typing import Final

from policies.privacy import checks, dialled_secrets, vendor_keys
from policies.privacy.rules import Rule, shape
from policies.privacy.secret_names import (
    CARD_CODES,
    CODES,
    DIGIT_WORD,
    EASTERN,
    KEYS,
    LOCKED,
    LOGINS,
    PASSWORDS,
    PINS,
    WEAK_PASSWORDS,
)

_LINK: Final = (
    r"(?:\s+(?:for|of|on|to|at|in|used|von|für|de|del|do|da|du|di)\b[^\n.!?:=]{1,48}?|,[^,\n.!?]{1,32},|"
    r"\s(?:everywhere|anywhere))?"
)
IS: Final = shape(
    rf"{_LINK}[\"'’\]>]{{0,2}}(?:\s{{0,3}}(?:(?:is|was|are|equals|reads|remains|stays|will be|used to be|has been|"
    rf"ist|war|goes(?=\s?:)|goes like this(?=\s?:)|"
    r"lautet|es|est|c['’]est|è|é|är|er|on|(?<=hasło\s)to|(?<=haslo\s)to|to je|je|это|has (?:not|n't) changed|hasn['’]t "
    r"changed|starts with|ends with|"
    r"begins with|contains)\b(?:[\s:]{1,2}(?:now|still|always|currently|set to|just|actually|simply)\b){0,2}\s{0,2}:?|"
    r"[:=-]{1,2}>|→|[=:]{1,2}|(?<=[^\x00-\u05ff])[是为為は은는]?)\s{0,3}|\s{1,3}-{1,2}\s{1,3})[\"'“‘`<(]{0,2}"
)
"""From a label to its value: "for the router is now:"."""
_NEXT: Final = shape(r"\s{1,3}(?:number |no\.? |is |: ?|[\"'“‘`(])?")
_TOKEN: Final = shape(r"(?P<value>[^\s\"“”`<>]{2,128})")
_MIXED: Final = shape(
    r"(?<![\w@/.-])(?<!\bfor )(?<!\bof )(?<!\bon )(?<!\bin )(?<!\bto )(?<!\bat )(?<!\bmy )(?<!\bthe )"
    r"(?P<value>(?=[^\s\d]{0,40}\d)[^\s\"“”`<>,;|/]{6,64})(?!\w)"
)
_WORDS: Final = shape(
    r"(?P<value>[a-z]{2,16}(?:[ -][a-z]{2,16}){1,7})(?=[\"'”’`.,;!?)\n]|$)", exact=True
)  # fmt: skip
_DIGITS: Final = shape(
    r"(?<![\w$€£])(?<!\bin )(?<!since )(?P<value>\d(?:[ -]?\d){3,7})(?![\w%]|[.,:]\d|[ \t]+[a-z]{3,16}s\b)"
)
SPOKEN: Final = shape(rf"\b(?P<value>{DIGIT_WORD}(?:[ ,-]{{1,2}}{DIGIT_WORD}){{2,18}})\b")
_COUNT_WORD: Final = (
    rf"(?:{DIGIT_WORD}|{'|'.join(sorted((*checks.TENS, *checks.TEENS, *checks.SCALES), key=len)[::-1])})"
)
READ_OUT: Final = shape(
    rf"\b(?P<value>{_COUNT_WORD}(?:[ ,-]{{1,2}}{_COUNT_WORD}){{1,23}})\b"
    r"(?![ -](?:times|years?|minutes?|hours?|days?|weeks?|months?|people|euros?|dollars?|pounds|percent|"
    r"[a-z]{3,14}s)\b)"
)
"""Numbers read out in words, in pairs too: "forty-one eleven"."""
_CODE: Final = shape(r"(?P<value>(?=[A-Z]{0,8}[ -]?\d)[A-Z0-9](?:[ -]?[A-Z0-9]){3,15})(?!\w)", exact=True)
_CODE_LIST: Final = shape(
    r"\b(?P<value>(?:(?=[a-z]{0,11}\d)[a-z0-9]{4,12}|[A-Z0-9]{4,12})(?:[-\s,;/]{1,3}(?:(?:and|or) )?"
    r"(?:(?=[a-z]{0,11}\d)[a-z0-9]{4,12}|[A-Z0-9]{4,12})\b){0,24})", exact=True
)  # fmt: skip
_BACK: Final = shape(
    r"(?<![\w\[])(?P<value>[^\s\"“”`<>]{3,64}?)[\"'”’`]?,?\s+(?:(?:it|that|which|this)(?:'s|’s|\s)\s?)?(?:is|was|as|"
    r"for)?"
    r"\s?(?:(?:also|still|now)\s)?(?:my|the|our|his|her|their|your)\s+(?:[\w-]{1,20}\s+){0,3}\Z"
)
_OTHER_CODES: Final = ("zip", "area", "error", "postal", "country", "status", "dress", "promo", "discount", "source")
_STARTS_WITH: Final = r"[^\n.!?]{0,40}?\b(?:begins?|starts?|ends?)\s(?:with|in|on)\s"
"""From a label to a part of its value: " stuff of my exchange, it begins with "."""
_PART: Final = (
    r"(?:(?:first|second|third|last|final|other)\s(?:half|part|digits?|numbers?|two|three|four|six|eight)"
    r"(?:\s(?:digits?|numbers?|ones))?)"
)
_IS_PART: Final = rf"[’']?s?,?\s(?:the\s)?{_PART},?(?:\s(?:is|are|being)|\s?[:=])\s{{0,2}}"
"""From a label to a part of its number: "'s first two digits are "."""
_PART_OF: Final = (
    rf"\b{_PART} of (?:my|our|the|his|her|their) (?:[\w-]{{1,16}} ){{0,2}}?"
    r"(?:card|visa|mastercard|amex|maestro|pin|puk|ssn|account|iban|code|combination|combo)(?: number)?\b"
    r"(?:\s(?:is|are|being)|\s?[:=])\s{0,2}"
)
"""Words that announce a part of a number: "the first half of my card number: "."""
_PARTIAL: Final = rf"(?P<value>\d(?:[ -]?\d){{1,11}}|{DIGIT_WORD}(?:[ ,-]{{1,2}}{DIGIT_WORD}){{1,11}})(?![\w%]|[.,:]\d)"
_TYPED: Final = r"\b(?:dial|punch(?:es|ed)?(?:\sin)?|press(?:es)?|types?|taps?|keys?\sin|enters?)\s(?:in\s)?"
_CARD_DIGITS: Final = r"\d(?:[ \t\n._/*-]{0,3}\d){11,18}"

RULES: Final = (
    Rule("private_key", shape(
        r"(?P<value>-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,]{0,8000}"
        r"(?:-----END [A-Z ]{0,40}KEY(?: BLOCK)?-----)?)?|\bPrivate-(?:Lines|MAC): ?[A-Za-z0-9+/=\s]{1,8000})",
        exact=True),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "Private-Lines: 4\nAAAAgQ=="),
        "BEGIN the day with a private key change.", point=True),
    Rule("private_key", shape(r"(?P<value>\b(?:0x)?[0-9a-f]{32,128})\b"),
        ("my wallet key is 0x5f0c2b1a9d8e7f6a5b4c3d2e1f0a9b8c", "private key: 5f0c2b1a9d8e7f6a5b4c3d2e1f0a9b8c"),
        "The private key of the song is D minor.", labels=("private key", "secret key", "wallet key"), point=True),
    Rule("api_key", vendor_keys.SHAPE,
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "AKIAABCDEFGHIJKLMNOP is the one"),
        "The flight pk-123 was late."),
    Rule("authorization", shape(
        r"\b(?:bearer\s{1,3}(?P<bearer>(?=[^\s\d]{0,200}\d)[A-Za-z0-9._~+/=-]{16,2000})|"
        r"authorization[\"']?:\s{0,3}[\"']?basic\s{1,3}[A-Za-z0-9+/]{6,500}={0,2})"),
        ("Authorization: Bearer abcdef0123456789abcdef", "authorization: basic bWF5YTpzZWNyZXQ="),
        "The flag bearer of the team was proud."),
    Rule("connection_string", shape(r"\b[a-z][a-z0-9+]{1,20}://[^\s/:@]{0,64}:(?P<value>[^\s/@\[]{1,128})@"),
        ("https://ana:pa55@db.example.org/x", "postgres://u:p4ss@h/db"), "See https://example.org/a:b for it."),
    Rule("secret_in_link", shape(
        r"[?&;](?:access_?|refresh_?|id_?|auth_?|api_?|client_?|x-amz-)?(?:token|key|secret|sig|signature|password|pwd|"
        r"passwd|auth|otp|security-token)=(?P<value>[^\s&#\"'<>\[\]]{4,2000})"),
        ("https://example.org/reset?user=maya&token=Vq7zebra4", "https://x.org/?api_key=abcd1234"),
        "https://example.org/?page=12&sort=name"),
    Rule("secret_in_context", shape(r"(?<![A-Za-z0-9_/+-])(?P<value>[A-Za-z0-9_/+=-]{20,256})(?![A-Za-z0-9_/+-])"),
        ("The api key: Zx81kQpL0vTr55WmNc27",
         "AWS: AKIAABCDEFGHIJKLMNOP with wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY9"),
        "The key to the pneumonoultramicroscopic essay is patience.",
        labels=("key", "api_key", "token", "secret", "credentials", "credential", "password", "passphrase", "api",
            "auth", "aws", "[secret]"),
        check=checks.is_random),
    Rule("secret_in_context", shape(r"(?<![A-Za-z0-9/+])(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY goes with [secret]",
         "qpXk+0Dz/9sVbN2mLw7RtYcHj4Gf1Ae8Ui3OoP5K, [secret]"),
        "See src/components/very/long/path/of/a/file/x7.", labels=("[secret]",), look="back",
        reach=100, check=checks.is_random),
    Rule("card", shape(rf"(?<![\d.,])(?<!\d[ -])(?P<value>{_CARD_DIGITS})(?![\w]|[.,-]\d)"),
        ("I pay with 4111 1111 1111 1111", "4111.1111.1111.1111 mostly"), "The years 2019 2020 2021 2022 were hard.",
        "[card]", check=checks.is_card),
    Rule("card", shape(rf"(?P<value>{_CARD_DIGITS})(?!\d)"),
        ("My card is 4111 1111 1111 1112", "visa 411111111111111"), "I lost my card 12 days ago.", "[card]",
        labels=("card", "cards", "cc", "visa", "mastercard", "amex", "maestro", "karte", "tarjeta", "carte", "karta"),
        reach=24, check=checks.is_card_length),
    Rule("card", shape(rf"\b(?P<value>{DIGIT_WORD}(?:[ ,-]{{1,2}}{DIGIT_WORD}){{11,18}})\b"),
        ("four two four two four two four two four two four two four two four two",
         "it goes five five, five five, five five, four four, four four, four four"),
        "One two three four, off we go.", "[card]"),
    Rule("card", READ_OUT, ("my card goes forty-one eleven, eleven eleven, eleven eleven, eleven eleven",
        "visa: forty two forty two forty two forty two forty two forty two forty two forty two"),
        "My card game is at eight thirty with twelve.", "[card]", reach=40,
        check=lambda value: checks.spoken_digits(value) >= 12,
        labels=("card", "cards", "credit card", "visa", "mastercard", "amex", "maestro")),
    Rule("card", shape(_STARTS_WITH + r"(?P<value>\d(?:[ -]?\d){5,15})(?![\w%]|[.,:]\d)"),
        ("My card number starts with 4111 1111", "the Visa ends in 424 242"), "My card game ends in 2 rounds.",
        "[card]", labels=("card", "cards", "card number", "visa", "mastercard", "amex", "maestro"), gap=shape("")),
    Rule("iban", shape(
        r"(?<![A-Za-z0-9])(?P<value>[A-Z]{2}\d{2}(?:[ .-]?[A-Z0-9]{4}){2,7}(?:[ .-]?[A-Z0-9]{1,3})?|"
        r"[A-Za-z]{2}\d{2}[A-Za-z0-9]{11,30}|[a-z]{2}\d{2}(?: [a-z0-9]{4}){2,7}(?: [a-z0-9]{1,3})?)(?![A-Za-z0-9])",
        exact=True),
        ("GB82 WEST 1234 5698 7654 32 gets my salary", "DE89370400440532013000"), "ES12 was the bus we took.",
        "[iban]", check=checks.is_iban),
    Rule("iban", shape(r"(?P<value>\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){2,8})(?!\w)", exact=True),
        ("My IBAN is GB82 WEST 1234 5698 7654 33", "IBAN: PT50000201231234567890154"), "My IBAN is long.", "[iban]",
        labels=("iban",), reach=16),
    Rule("account_number", shape(r"\b(?P<value>\d(?:[ -]?\d){5,19})(?![\d,.]*\d|\s*(?:dollars|euros|pounds|usd|eur))"),
        ("The user's account number is 12345678", "routing 021000021"), "My account has 120000 dollars.", "[account]",
        labels=("account", "acct", "a/c", "account number", "routing", "aba", "sort code", "bsb", "swift", "ifsc",
                "clabe", "konto", "kontonummer", "cuenta", "compte", "conto", "rekening", "rekeningnummer")),
    Rule("account_number", shape(r"(?P<value>[\w.-]{2,64}@[a-z]{2,20})\b(?!\.)"),
        ("My Google Pay is maya.reno@okbank", "upi: ana@okhdfc"), "I use Google Pay at the shop.", "[account]",
        labels=("upi", "gpay", "google pay", "phonepe", "paytm", "vpa"), reach=24),
    Rule("account_number", READ_OUT, ("my account number is one two three four five six seven eight",
        "iban: D E eight nine three seven zero four zero zero"), "My account has twelve thousand and ten dollars.",
        "[account]", reach=32, check=lambda value: checks.spoken_digits(value) >= 6,
        labels=("account", "acct", "account number", "routing", "routing number", "aba", "sort code", "iban", "konto",
                "cuenta", "compte")),
    Rule("password", _TOKEN, ("My password is hunter2.", "Mon mot de passe est Vq7zebra4"),
        "My password is not working.", labels=PASSWORDS, gap=IS, check=checks.is_password, point=True),
    Rule("password", _TOKEN, ("password: dragonfly", "My password everywhere: butterfly"), "Password: required",
        labels=PASSWORDS, gap=shape(r"(?:\s(?:everywhere|anywhere))?\s{0,2}[:=]\s{0,2}[\"'“‘`<(]{0,2}"),
        check=checks.is_told_password, point=True),
    Rule("password", _TOKEN, ("My pw is Vq7zebra4", "the wifi: Vq7zebra4"), "The wifi is terrible.",
        labels=WEAK_PASSWORDS, gap=IS, check=checks.is_mixed, point=True),
    Rule("password", _MIXED, ("I have one password for all of it, kettle-River-73", "Мой пароль Vq7zebra4"),
        "My office365 password expired yesterday.", labels=(*PASSWORDS, "pw"), reach=60, check=checks.is_mixed,
        point=True),
    Rule("password", _WORDS, ("My passphrase is wooden kettle flies east", "password: correct-horse-battery"),
        "My password is too easy to guess.", labels=PASSWORDS, gap=IS, check=checks.is_phrase, point=True),
    Rule("secret_in_context", shape(
        r"(?P<value>[^\s\"“”`<>,;]{3,128})(?=[\"'”’`)>]{0,2}[ \t]{0,3}(?:[,;.!?\n]|$))"),
        ("JWT signing secret = kettleriver, it runs in Dublin", "CLIENT_SECRET: 'dragonfly'"),
        "Master key: see the janitor.", labels=KEYS, gap=shape(r"\s{0,2}[:=]{1,2}>?\s{0,2}[\"'“‘`<(]{0,2}"),
        check=checks.is_told_password, point=True),
    Rule("secret_in_context", _TOKEN, ("My client secret is kettle!river", "the api key is q7w8e9r0"),
        "My api key is missing.", labels=KEYS, gap=IS, check=checks.is_odd_password, point=True),
    Rule("password", shape(r"[^\n.!?]{0,40}?\s(?:back\s)?(?:to|a|zu|in|auf)\s[\"'“‘`]?(?P<value>[^\s\"“”`<>]{3,128})"),
        ("I changed the password of the router to Vq7zebra4", "We reset the wifi password to blue.bird"),
        "I changed my password to something better.", labels=(*PASSWORDS, *KEYS), gap=shape(""),
        check=checks.is_odd_password, point=True),
    Rule("password", _BACK, ("Use hunter2 for my wifi password", "Vq7zebra4, it is my mail password"),
        "The new one is my password manager.", labels=PASSWORDS, look="back", reach=100, check=checks.is_odd_password,
        point=True),
    Rule("password", _BACK, ("I picked kestrel99 as the key of the router", "Vq7zebra4 is our wifi key"),
        "C major is the key of the song.", labels=("key", "wifi key", "network key"), look="back", reach=100,
        check=checks.is_mixed, point=True),
    Rule("password", shape(r"[\s:：是为為は은는=]{0,4}(?P<value>[A-Za-z0-9!#$%&*@^_.-]{4,64})"),
        ("我的密码是Vq7zebra4", "パスワードはVq7zebra4です"), "我的密码是错的", labels=EASTERN,
        gap=shape(""), point=True),
    Rule("password", shape(r"(?P<value>(?=\d|[A-Z]*[a-z]*\d)[^\s\"'“”‘’`()]{4,64})"),
        ("the wifi password's bluebird99", "passcode 730591"), "The password \"thing\" again.",
        labels=PASSWORDS, gap=_NEXT, check=checks.is_password, point=True),
    Rule("login", shape(
        r"(?:\s(?:for|of|on|to|at)\s[^\n.!?:=]{1,40}?)?(?:\s*[:=]|\s(?:is|are))\s{0,2}\S{1,64}?\s{0,3}(?:/|,|;|\||\band\b|\n)\s{0,3}(?:pass(?:word|wd|code)?|pwd|pw)?"
        r"\s{0,2}[:=]?\s{0,2}(?P<value>[^\s\"<>]{3,64})"),
        ("login: ana / s3cret!x", "My login for the shop is ana / s3cret!x"),
        "Login: press the green button",
        labels=LOGINS, gap=shape(""), check=checks.is_odd_password, point=True),
    Rule("login", _MIXED, ("I log in to the portal with maya and Vq7zebra4", "To unlock my laptop type Vq7zebra4"),
        "I log in to office365 every day.", labels=LOGINS, reach=60, check=checks.is_well_mixed, point=True),
    Rule("command_line", shape(
        r"(?:\bnet\s{1,3}use\b[^\n]{0,120}?/user:[^\s\"']{1,64}\s{1,3}|\bcurl\b[^\n]{0,200}?\s(?:-u|--user)\s{1,3}[\"']?[^\s:]{1,64}:|\bsshpass\s{1,3}-p\s{0,3}|"
        r"\b(?:mysql|mysqldump|mariadb|psql|mongo|redis-cli|sqlcmd)\b[^\n]{0,120}?\s(?:-p|-a|--password[= ])\s?)"
        r"(?P<value>[^\s\"']{3,128})"),
        ("curl -u maya:Vq7zebra4 https://api.example.org", "mysql -u root -pVq7zebra4 shop"), "I like curl and mysql."),
    Rule("pin", _DIGITS, ("My PIN is 4821.", "My passcode for the tablet is my house number twice 7373"),
        "The user pinned 2000 photos to a board.", labels=(*PINS, *CODES, "password"), reach=48, point=True),
    Rule("pin", SPOKEN, ("My PIN is seven three zero five", "the gate code is one two double four"),
        "The pin broke in two or three places.", labels=(*PINS, *CODES, *PASSWORDS, "code", "combination", "pincode"),
        point=True, unless=_OTHER_CODES),
    Rule("pin", READ_OUT, ("My PIN is forty-eight twenty-one", "my gate code: nineteen eighty four"),
        "My PIN is twenty years old.", labels=(*PINS, *CODES, *PASSWORDS, "combination", "pincode"), gap=IS, point=True,
        check=lambda value: checks.spoken_digits(value) >= 4),
    Rule("pin", shape(
        r"[^\n.!?]{0,40}?\b(?:begins?|starts?|ends?)\s(?:with|in|on)\s(?:an?\s)?(?P<value>\d{1,6})(?!\w|[.,:]\d)"),
        ("My PIN starts with 48", "the PIN of my card ends in a 7"), "My pin collection starts with a 1980s badge.",
        labels=(*PINS, *CODES), gap=shape(""), point=True),
    Rule("pin", shape(_STARTS_WITH + _PARTIAL),
        ("My PIN starts with nine two", "the card number begins with four five"),
        "My card game starts with two decks.", labels=(*PINS, *CODES, "card", "card number", "visa", "mastercard"),
        gap=shape(""), point=True),
    Rule("pin", shape(_IS_PART + _PARTIAL), ("My PIN's first two digits are 92", "my ssn, last four, is 4471"),
        "My pin, the first of two, is blue.", labels=(*PINS, *CODES, "ssn", "social security number", "card number"),
        gap=shape(""), point=True),
    Rule("pin", shape(_PART_OF + _PARTIAL), ("the first half of my card number: 4539 1488",
        "The first two of my bank PIN are nine two"), "The first half of my card collection is from 1994.",
        point=True),
    Rule("code", shape(rf"{_TYPED}(?P<value>\d(?:[ -]?\d){{3,7}}[#*]?)\s(?:at|on|into|for)\s"
        r"(?:the|my|our|his|her|their)\s(?:[\w-]{1,20}\s){0,2}\Z"),
        ("dial 4-8-1-2 on the alarm", "You punch in 4812 at our gate"), "I typed 4812 words on my laptop.",
        labels=LOCKED, look="back", reach=72, point=True),
    Rule("code", shape(r"\b(?:gets?|got|comes?|came|lets? (?:him|her|them|me|us)|letting (?:him|her|them)) in "
        r"(?:with|by|using) (?P<value>\d(?:[ -]?\d){3,7}(?:[#*]|(?=\s*(?:[.,;!?\n]|$))))"),
        ("The nanny gets in with 5512#", "He got in with 7305."), "They came in with 1200 guests.", point=True),
    Rule("code", shape(r"\b(?:texted|sent|messaged) me (?:a |the )?(?P<value>\d{3}[ -]?\d{3})(?!\w|[ .,-]?\d|"
        r"\s(?:euros?|dollars?|pounds|[a-z]{3,16}s\b))"),
        ("The bank texted me 493021 to log in", "they sent me 493-021"), "They sent me 250000 euros.", point=True),
    Rule("code", shape(r"(?P<value>\d(?:[ -]{1,2}?\d){3,7}|\d{1,2}(?:[ -]\d{1,2}){2,3})(?![\w%]|[.,:]\d|"
        r"[ \t]+[a-z]{3,16}s\b)"),
        ("Locker combo 12-34-08", "The combo to the shed lock: 7-7-1-9"), "The combo meal costs 1200 yen.",
        labels=("combo",), point=True, gap=shape(
            r"(?:\s(?:to|for|of|on)\s[^\n.!?:=\d]{1,32}?(?:\s?[:=]|\s(?:is|was))|\s?(?:[:=]|is|was)?)\s{0,2}")),
    Rule("code", SPOKEN,
        ("our gate opens with star four eight one two hash", "The door opens to seven three zero five"),
        "The gate opens with one of two keys.", labels=LOCKED, point=True,
        gap=shape(r"\s(?:opens?|unlock(?:s|ed)?)\s(?:with|to|at|by)\s(?:star\s|hash\s|pound\s)?")),
    Rule("seed_phrase", shape(_STARTS_WITH + r"(?P<value>[^\n.!?]{3,160})"),
        ("My seed phrase starts with ocean, then violet", "the recovery phrase of my wallet ends in hammer brave"),
        "My seed collection starts with tomatoes.", gap=shape(""), point=True,
        labels=("seed phrase", "recovery phrase", "seed words", "secret recovery phrase", "mnemonic phrase")),
    Rule("password", _TOKEN, ("Casa is the wifi and the key is Tr0ub4dor&3", "the key: Vq7zebra4"),
        "The key is under the mat.", labels=("key",), gap=IS, check=checks.is_well_mixed, point=True),
    Rule("code", _CODE, ("The entry code is A4 77 B2", "My door code is 77B21"), "The dress code is BLACK TIE.",
        labels=CODES, gap=IS, check=checks.has_digit, point=True),
    Rule("code", shape(
        r"(?:\s(?:to|for|of|from)\s(?:the|my|our|his|her|their)(?:\s[\w'-]{1,20}){1,3}?)?(?:\s(?:is|was|are|"
        r"now))?[\s:=]{1,3}"
        r"(?P<value>\d{4,8})(?![\w%]|[.,:]\d|[ \t]+[a-z]{3,16}s\b)"),
        ("The code to my building is 7305", "I got the code 730591."), "I got a discount code 20261122.",
        labels=("code",), gap=shape(""), point=True,
        unless=("zip", "area", "error", "postal", "country", "status", "dress", "promo", "discount", "source", "exit",
            "voucher", "product")),
    Rule("code", _BACK, ("7305 is our gate code", "B-730591 is your sign-in code"), "2048 is the name of my game.",
        labels=(*PINS, "code", "otp", "codes"), look="back", reach=60, point=True,
        check=lambda value: sum(map(str.isdigit, value)) >= 4,
        unless=("zip", "area", "error", "postal", "country", "status", "promo", "discount", "post")),
    Rule("code", shape(
        r"\s(?:(?:is|are|opens?|unlock(?:s|ed)?|code|set|combination|wants|takes)\s){1,3}(?:with|to|at)?\s?"
        r"(?P<value>\d(?:[ -]?\d){3,7}[#*]{0,2})(?=\s*(?:[.,;!?\n]|$))"),
        ("The door opens with 2580#", "My phone unlocks with 730591"), "My alarm is at 0630.",
        labels=LOCKED, gap=shape(""), point=True, check_around=checks.is_no_time_of_day),
    Rule("code", shape(r"\b(?P<value>[A-Z2-7]{16,64})\b", exact=True),
        ("my 2FA secret is MZXW6YTBOI7DKNRW", "totp seed MZXW6YTBOI7DKNRW"), "I set up 2FA today.",
        labels=("2fa", "mfa", "totp", "otp", "authenticator"), point=True),
    Rule("code", _CODE_LIST, ("backup codes: 7305-9182 6473-1029", "Recovery code: QWMX-RTYV-ZXCB"),
        "I printed my backup codes in 2024 and hid them.", reach=24, point=True,
        labels=tuple(f"{which} {noun}" for which in ("backup", "back-up", "recovery", "2fa", "mfa", "scratch", "rescue",
                     "emergency") for noun in ("code", "codes", "key", "keys")),
        check=lambda value: any(map(str.isdigit, value)) != value.isdigit() or len(value) > 5),
    Rule("code", READ_OUT, ("The safe opens with twelve, thirty, forty-four", "my locker: nineteen twenty two"),
        "My locker is twelve years old.",
        labels=("safe", "padlock", "locker", "vault", "bike lock", "suitcase", "keypad"),
        gap=shape(r"\s?(?:[:=]|is|(?:opens?|unlock(?:s|ed)?) (?:with|to|at|by))\s"), point=True,
        check=lambda value: checks.spoken_digits(value) >= 4),
    Rule("code", _DIGITS, ("house alarm: 9 9 2 1", "my safe: 7305"), "My locker: 2 shelves and a hook.", point=True,
        labels=("house alarm", "safe", "keypad", "garage", "padlock", "locker", "vault", "bike lock"),
        gap=shape(r"\s?[:=]\s{0,2}")),
    Rule("code", _CODE_LIST, ("GitHub recovery: a1b2c-d3e4f\n5g6h7-i8j9k", "2fa backup: x7k2-99qp m3b8-41zz"),
        "My backup: a box of papers.", gap=shape(r"\s?[:=]\s{0,2}"), labels=("recovery", "backup", "backups"),
        point=True, check=lambda value: checks.is_mixed(value) and checks.changes(value) >= 2),
    Rule("code", shape(_STARTS_WITH + r"(?P<value>[^\s\"“”`<>]{6,64})"),
        ("The recovery stuff of my exchange begins with 9f3k-22lm-x0pq", "my backup code starts with 7k2m9q"),
        "My recovery starts with swimming.", gap=shape(""), check=checks.is_well_mixed, point=True,
        labels=("recovery", "backup", "backups", "recovery code", "recovery codes", "backup code", "backup codes")),
    Rule("card_code", SPOKEN, ("cvv is nine one three", "the security code on it: four four two"),
        "The CVV is one of two.", labels=CARD_CODES,
        reach=24, point=True),
    Rule("card_code", shape(r"\b(?P<value>\d(?:[ -]?\d){2,3})(?!\d|[.,:]\d)"),
        ("My CVV is 9 1 3", "digits on the back: 730"),
        "The CVV is on the back.", labels=CARD_CODES,
        reach=24, point=True),
    Rule("security_answer", shape(
        r"[^\n.!?]{0,80}?(?:\?\s{0,2}|\bis\b|:|=)\s{0,3}(?P<value>(?!\s|\b(?:a|an|the|not|too|what|about|how|who|where|"
        r"when|why|same|asked|used|if|which|wrong|so|required|needed|hard|easy)\b)[^\n.!?]{3,80})"),
        ("My security question: first pet? Rover", "the secret answer is Lisbon"),
        "I answered the security questions wrong.", gap=shape(""), point=True,
        labels=("security question", "security questions", "security answer", "security answers",
                "secret question", "secret questions", "secret answer", "secret answers")),
    Rule("security_answer", shape(
        r"[^\n.!]{0,80}?(?:\s(?:is|was|ist|war|es|est|era|c['’]est|é|to|use|put)|[:=])\s{0,2}[\"'“‘„]?"
        r"(?P<value>(?-i:[^\W\d_a-zß-öø-ÿ])[\w'’-]{1,24})"),
        ("My mother's maiden name is Kowalski", "mother's maiden name: Delacroix"),
        "My mother's maiden name was a mystery to us.", gap=shape(""), point=True,
        labels=("mother's maiden name", "mothers maiden name", "mum's maiden name", "mom's maiden name",
                "maiden name of my mother", "mädchenname meiner mutter", "nom de jeune fille de ma mère",
                "nombre de soltera de mi madre", "apellido de soltera de mi madre", "nome de solteira da minha mãe",
                "nazwisko panieńskie mamy", "nazwisko panieńskie matki")),
    *dialled_secrets.RULES,
    # Last, so that what one of the rules above knows by name is called by it.
    Rule("secret", shape(r"(?<![A-Za-z0-9_/.=+-])(?P<value>[A-Za-z0-9_+=-]{24,256})(?![A-Za-z0-9_/.+-])"),
        ("Qm7Rt2Yw9Ze4Xc6Vb1Nn8Kj3Hg5Fd0Sa", "we use Qm7Rt2Yw9Ze4Xc6Vb1Nn8Kj3 there"),
        "My AntidisestablishmentarianismAndMore post went well.", check=checks.is_key),
    Rule("secret", shape(r"(?<![A-Za-z0-9/+])(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "we use qpXk+0Dz/9sVbN2mLw7RtYcHj4Gf1Ae8Ui3OoP5K there"),
        "It lies in src/Components/UserProfile/Index2/View3A now.", check=checks.is_base64_key),
)  # fmt: skip
