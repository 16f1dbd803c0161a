"""The table of personal identifiers, each masked by a placeholder with its name."""

from __future__ import annotations

import re
from typing import Final

from policies.privacy import checks
from policies.privacy.rules import Rule, label_pattern, shape
from policies.privacy.secret_names import DIGIT_WORD
from policies.privacy.secrets import READ_OUT, SPOKEN

_CONTEXT_CHARS: Final = 40
_PHONE_WORDS: Final = (
    "phone", "phones", "mobile", "cell", "cellphone", "tel", "telephone", "fax", "whatsapp", "sms", "call", "calls",
    "called", "text",
    "texted", "dial", "reach", "reached", "registered", "contact", "office", "ring", "handy", "telefon", "teléfono",
    "telefono",
    "téléphone", "celular", "móvil", "movil", "portable", "komórka", "numer", "nummer", "número", "numéro", "номер",
    "телефон",
    "手机", "電話", "电话", "전화", "휴대폰", "my number", "her number", "his number", "our number", "their number",
    "new number", "work number", "home number", "direct number", "old number", "message", "messages", "signal",
    "telegram", "landline",
)  # fmt: skip
_NOT_PHONE: Final = shape(
    r"(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d\d|(?:19|20)\d\d(?:\s?[-/ ]\s?"
    r"(?:19|20)\d\d)+"
)
_NUMBERED: Final = ("passport", "licence", "license", "id", "employee", "staff", "student", "patient", "medical record",
                    "member", "membership", "customer", "client", "policy", "claim", "badge", "case", "insurance",
                    "voter", "military", "service", "pension", "matriculation", "tax", "visa",
                    "account holder")  # fmt: skip
_IDS: Final = (
    *(f"{document} {noun}" for document in _NUMBERED for noun in ("id", "number", "no", "no.", "num", "nr", "#")),
    *(f"{document} {noun}" for document in ("führerschein", "reisepass", "personalausweis", "ausweis",
      "driving licence", "driver's license", "driver's licence", "drivers license", "driving license", "id card",
      "identity card")
      for noun in ("nr.", "no.", "nr", "no")),
    "passport", "driver's license", "driver’s license", "drivers license", "driver license", "driving licence",
    "driving license", "driver's licence", "dl", "dvla", "provisional licence", "führerschein", "führerscheinnummer",
    "permis de conduire",
    "carnet de conducir", "patente", "prawo jazdy", "rijbewijs", "national id", "identity card", "id card", "nhs",
    "nhs number", "vat", "vat id", "vat number", "ust-idnr", "nino", "ni number", "national insurance", "aadhaar",
    "personal number", "medicare", "insurance id", "license plate", "number plate", "plates", "plate", "registration",
    "vin", "green card", "alien number", "a-number", "mrn", "reisepass", "reisepassnummer", "personalausweis",
    "ausweis",
    "ausweisnummer", "steuer-id", "steuernummer", "steueridentifikationsnummer", "sozialversicherungsnummer",
    "kennzeichen", "passeport", "carte d'identité", "sécurité sociale", "insee", "pasaporte", "dni", "nie", "nif",
    "cédula", "cedula", "curp", "cpf", "cnpj", "rfc", "passaporto", "codice fiscale", "partita iva", "paspoort",
    "bsn", "personnummer",
    "fødselsnummer", "pesel", "nip", "dowód", "dowód osobisty", "tfn", "abn", "ein", "tin", "nric", "hkid",
    "tc kimlik", "resident id",
    "cpr", "rut", "身份证", "身份证号", "マイナンバー", "паспорт", "инн", "снилс",
)  # fmt: skip
_NOT_MINE: Final = ("order", "invoice", "tracking", "parcel", "booking", "reference", "ref", "ticket", "flight",
    "model",
                    "part", "serial", "lucky", "account")  # fmt: skip
_AT: Final = r"(?:\s?[(\[{<]\s?at\s?[)\]}>]\s?|\s@\s)"
_DOT: Final = r"(?:\s?[(\[{<]\s?dot\s?[)\]}>]\s?|\sdot\s|\s?\.\s?)"
_TOP: Final = r"(?:com|net|org|edu|gov|dev|app|info|[a-z]{2})"
_LETTERS: Final = (
    "alfa", "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "juliett",
    "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor",
    "whiskey", "xray", "x-ray", "yankee", "zulu",
)  # fmt: skip
"""How letters are told by radio and on the telephone."""
_SIGN: Final = rf"(?:{DIGIT_WORD}|{'|'.join(_LETTERS)}|\d|(?-i:[A-Z]))"


def _is_phone(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if _NOT_PHONE.fullmatch(value) or not 7 <= sum(map(str.isdigit, value)) <= 15 or checks.is_isbn(value):
        return False
    around = text[max(0, start - _CONTEXT_CHARS) : start] + " | " + text[end : end + 12]
    return label_pattern(_PHONE_WORDS).search(around) is not None or checks.is_phone(value)


def _is_ip(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 10) : start].lower().rstrip()
    return not before.endswith(("version", "release", " v")) and checks.is_ip(text[start:end])


RULES: Final = (
    Rule("email", shape(
        r"(?<![\w.+%-])(?P<value>[\w.+%-]{1,64}@(?:[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}|localhost\b))|"
        r"\"[^\"\n@]{1,64}\"@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"),
        ("ana@example.org", "ana.b+c@mail.example.co.uk"), "We met @ noon.", "[email]"),
    Rule("email", shape(
        rf"(?<![\w.+%-])(?P<value>[\w.+%-]{{1,64}}(?:{_AT}[\w-]{{1,63}}(?:{_DOT}[\w-]{{1,63}}){{1,4}}|"
        rf"\sat\s[\w-]{{1,63}}(?:\sdot\s[\w-]{{1,63}}){{0,3}}\sdot\s{_TOP}\b))"),
        ("maya (at) example (dot) org", "maya at example dot cz"), "We are at home dot dot dot.", "[email]"),
    Rule("ssn", shape(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"), ("123-45-6789", "it is 219-09-9999."),
        "The score was 12-45-67.", "[ssn]"),
    Rule("ssn", shape(r"(?P<value>\d[\d .-]{6,12}\d)(?!\d)"), ("My social is 219099999", "SSN: 219 09 9999"),
        "I use social media since 2019.", "[ssn]", reach=24,
        labels=("ssn", "social security", "social security number", "my social", "his social", "her social",
            "social is", "social number")),
    Rule("ip", shape(
        r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)|(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])"),
        ("10.0.0.12", "2001:db8::8a2e:370:7334"), "We use version 1.2.3.4 of it.", "[ip]", check_around=_is_ip),
    Rule("mac", shape(r"(?<![\w:-])[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}(?![\w:-])|"
                      r"(?<![\w.])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?!\w)"),
        ("00:1b:44:11:3a:b7", "mac 001b.4411.3ab7"), "It is 10:20:30 now.", "[mac]"),
    Rule("id_number", shape(
        r"(?<!\w)(?P<value>(?:(?-i:[A-Z]{1,4})[ -]|[A-Z]{1,3}-)?[A-Z]{0,5}\d[A-Z0-9./()-]{0,22}"
        r"(?: (?:(?=[A-Z./()-]{0,6}\d)[A-Z0-9./()-]{1,16}|(?-i:[A-Z]{1,3})\b)){0,8})(?!\w)"),
        ("Ana's passport number is X1234567.", "my driving licence: JONES 710238 HA5YX"),
        "My passport expires on 12 March 2027.", "[id_number]", labels=_IDS, reach=32, check=checks.is_id),
    Rule("id_number", shape(
        r"(?:\s[\w-]{2,16}){1,4}\s?(?:is|was|:)\s{0,2}(?P<value>(?=[A-Z]{0,6}\d)[A-Z0-9](?:-?[A-Z0-9]){5,22})(?!\w|"
        r"[.,]\d)"),
        ("My residence permit number is L01X00T47", "her library card id: 90731556"), "My order number is 1234567890.",
        "[id_number]", labels=("my", "our", "his", "her", "their", "user"), gap=shape(""), check=checks.has_digit,
        check_around=lambda text, start, _: _is_numbered(text[max(0, start - 60) : start])),
    Rule("id_number", shape(r"\s?(?::|number|no\.?|nr\.?|#|is)?\s?(?P<value>[A-Z]{1,2}\d{6,14}|"
        r"[A-Z]\d{3}-\d{3,4}-\d{4})(?!\w)", exact=True),
        ("license D1234567 issued in California", "his licence: S530-4601-2345"),
        "My license fee is 1200000 a year.", "[id_number]", labels=("license", "licence", "permit"), gap=shape("")),
    Rule("id_number", READ_OUT, ("passport number nine two five six six five four one six",
        "My social is two one nine, oh nine, nine nine nine nine"), "My passport is ten years old.", "[id_number]",
        labels=(*_IDS, "ssn", "social security", "social security number", "my social", "his social", "her social",
                "social number"), reach=24, check=lambda value: checks.spoken_digits(value) >= 6),
    Rule("id_number", shape(rf"\b(?P<value>{_SIGN}(?:[ ,-]{{1,2}}{_SIGN}){{5,23}})\b"),
        ("My driving licence says seven kilo four nine two lima", "passport: C zero one X zero zero T four seven"),
        "My passport is in one of five bags at the hotel.", "[id_number]", labels=_IDS, reach=32),
    # Numbers that their shape tells: PAN (India), national insurance (United Kingdom), codice fiscale (Italy), CURP
    # (Mexico), identity cards of Spain, of Singapore, of Brazil, NIR (France), driving licence (United Kingdom).
    Rule("id_number", shape(
        r"(?<![\w-])(?P<value>[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]|[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} "
        r"?\d{2} "
        r"?[A-D]|[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]|[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d|"
        r"\d{8}-?[A-HJ-NP-TV-Z]|"
        r"[XYZ]-?\d{7}-?[A-HJ-NP-TV-Z]|[STFGM]\d{7}[A-Z]|\d{3}\.\d{3}\.\d{3}-\d{2}|[12] \d{2} \d{2} \d{2} \d{3} "
        r"\d{3} \d{2}|"
        r"[A-Z]{2,5}9{0,3}\d{6}[A-Z9]{2}\d[A-Z]{2})(?![\w-])", exact=True),
        ("RSSMRA85T10A562S", "JG 10 37 59 A"), "The code ABC1234 was for a discount.", "[id_number]"),
    Rule("phone", shape(
        r"(?<![\w.$€£/+-])(?<!\d,)(?P<value>\+?(?:\(\d{1,5}\)|\d{1,15})(?:[ .\-/]{0,3}\(\d{1,5}\)[ .\-/]?\d{1,8}|[ "
        r".\-/]{1,3}\d{1,8}){0,6})"
        r"(?![\w%]|[.,:]\d|\s?(?:%|\$|€))"),
        ("+351 912 345 678", "Ana's phone number is 555 123 4567."), "We sold 12 000 000 shares.", "[phone]",
        check_around=_is_phone),
    Rule("phone", SPOKEN, ("Reach me on four one five five five five zero one three seven",
        "my phone is nine one two double three"),
        "Call me in one or two days.", "[phone]", labels=_PHONE_WORDS,
        check=lambda value: len(value.replace("-", " ").split()) >= 5),
)  # fmt: skip


def _is_numbered(before: str) -> bool:
    """Tell whether what stands before a value calls it a number of a person, and not of an order or a parcel."""
    words = re.findall(r"\w+", before.lower())
    return any(word in ("number", "no", "id") for word in words[-3:]) and not any(
        word in _NOT_MINE for word in words[-5:]
    )
