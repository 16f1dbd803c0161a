"""Words by which secrets are called, and the words for digits: the labels of the tables of secrets."""

from __future__ import annotations

from typing import Final

from policies.language.lexicon import word_set

EASTERN: Final = ("密码", "密碼", "暗証番号", "パスワード", "비밀번호", "סיסמה", "كلمة السر", "كلمة المرور", "पासवर्ड")
PASSWORDS: Final = (
    "password", "passwords", "passw0rd", "p@ssword", "passcode", "passcodes", "passphrase", "passwd", "passkey",
    "pass word", "pass phrase", "pass code", "pwd",
    "kennwort", "passwort", "contraseña", "contrasena", "mot de passe", "senha", "wachtwoord", "hasło", "haslo",
    "lösenord", "losenord", "adgangskode", "passord", "salasana", "heslo", "jelszó", "parola", "şifrem", "şifre",
    "пароль", *EASTERN, "db_password", "user_password", "root_password", "admin_password", "smtp_password",
)  # fmt: skip
WEAK_PASSWORDS: Final = ("pw", "pass", "wifi", "wi-fi", "wifi key", "wifi code", "wi-fi key", "clave", "schlüssel",
                         "network key")  # fmt: skip
"""Words that also mean other things: what follows must have a digit."""
_SIGNED_BY: Final = (
    "jwt", "client", "shared", "app", "session", "webhook", "hmac", "oauth", "cookie", "consumer", "signing",
    "encryption", "master", "vault", "api", "refresh", "access", "auth", "deploy", "bot", "preshared", "pre-shared",
    "wpa", "wpa2", "wep",
)  # fmt: skip
_LOGGED_INTO: Final = ("db", "database", "mysql", "ftp", "smtp", "imap", "mail", "ssh", "rdp", "sudo", "root", "admin",
                       "user", "bios")  # fmt: skip
KEYS: Final = (
    *(f"{whose.replace('-', ' ')} {what}" for whose in _SIGNED_BY for what in ("secret", "key", "token")),
    *(f"{where} {what}" for where in _LOGGED_INTO for what in ("pass", "pw", "pwd", "login")),
    "psk", "npm auth",
)  # fmt: skip
"""Names in programs of what lets somebody in: `CLIENT_SECRET`, "db pass"."""
PINS: Final = (
    "pin",
    "puk",
    "pin code",
    "pin number",
    "tan",
    "otp",
    "passcode",
    "geheimzahl",
    "código pin",
    "пин",
    "пин код",
    "пинкод",
)
CARD_CODES: Final = (
    "cvv", "cvv2", "cvc", "cvc2", "csc", "security code", "digits on the back", "numbers on the back",
    "number on the back",
)  # fmt: skip
_WHICH: Final = (
    "one-time", "verification", "security", "confirmation", "authentication", "auth", "2fa", "mfa", "access",
    "door", "gate", "alarm", "entry", "unlock", "backup", "recovery", "safe", "lock", "garage", "building", "sms",
    "login", "sign-in", "entrance", "keypad", "elevator", "house", "locker", "bike", "gym", "mailbox", "phone",
    "iphone", "ipad", "card", "sim", "parking", "office", "vault", "suitcase", "front-door", "apartment",
)  # fmt: skip
CODES: Final = (
    *(f"{which.replace('-', ' ')} {noun}" for which in _WHICH for noun in ("code", "codes", "passcode")),
    "combination", "türcode", "alarmcode", "tresorcode", "haustürcode", "code d'accès", "code de l'immeuble",
    "code de la porte", "code du portail", "code de l'alarme", "código de acceso", "código de la puerta",
    "código de la alarma", "código da porta", "código do alarme", "codice del portone", "codice dell'allarme",
    "kod do drzwi", "kod do domofonu", "kod do alarmu", "kod do sejfu", "toegangscode", "code van de deur",
    "code van de kluis", "code van het alarm",
)  # fmt: skip
LOGINS: Final = (
    "login",
    "log in",
    "logs in",
    "logged in",
    "log on",
    "sign in",
    "signed in",
    "signs in",
    "username",
    "user name",
    "user id",
    "credentials",
    "creds",
    "unlock",
    "unlocks",
    "ssid",
    "guest network",
    "home network",
    "zugang",
    "zugangsdaten",
)
LOCKED: Final = ("lock", "padlock", "locker", "safe", "alarm", "keypad", "gate", "garage", "door", "vault", "phone",
    "laptop",
                  "tablet", "ipad", "iphone", "screen", "computer")  # fmt: skip
_NUMBER_WORDS: Final = word_set(
    """zero oh one two three four five six seven eight nine niner null eins zwei drei vier fünf sechs sieben acht neun
    cero uno dos tres cuatro cinco seis siete ocho nueve zéro un deux trois quatre cinq sept huit neuf
    zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć"""
)
DIGIT_WORD: Final = rf"(?:(?:double|triple)\s)?(?:{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))})"
