"""The check of Lua scripts notices what would otherwise be seen first in Redis."""

from __future__ import annotations

import pytest

from tests.lua_lint import problems


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("local a = = 1", "unexpected symbol"),
        ("if KEYS[1] then return 1", "'end' expected"),
        ("return redis.call('GET', kye)", "nobody declares kye"),
        ("lease = KEYS[1]\nreturn lease", "nobody declares lease"),
        ("local unread = KEYS[1]\nreturn 1", "nothing uses unread"),
    ],
)
def test_what_is_wrong_in_a_script_is_named(code: str, said: str) -> None:
    [problem] = problems(code)
    assert said in problem


def test_a_name_of_the_library_is_declared() -> None:
    library = "local function leased(key) return redis.call('GET', key) end"
    assert list(problems("return leased(KEYS[1])", library)) == []


def test_words_in_comments_and_strings_are_no_names() -> None:
    assert list(problems("-- kye, of a {'table'}\nlocal row = 'kye -- kye'\nreturn string.len(row)")) == []
