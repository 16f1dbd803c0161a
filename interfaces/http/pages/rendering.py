"""Pages as HTML, under a policy that lets nothing in from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from http import HTTPStatus
from itertools import cycle
from typing import Any, Final

from fastapi import Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

import interfaces.http.pages.reasons as reasons
import interfaces.http.pages.wording as wording
from interfaces.http.pages.addresses import as_path
from interfaces.http.pages.language import gettext, language, marked, ngettext
from interfaces.http.pages.sessions import Session, StaffSession
from schema.control_characters import without_control_characters

CSP: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

ENVIRONMENT = Environment(
    extensions=["jinja2.ext.i18n"],
    loader=PackageLoader("interfaces.http.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.policies["ext.i18n.trimmed"] = True
_IN_PLACE: Final = Markup("""hx-boost='select:#main target:#main swap:"outerMorph show:none" push:false'""")
"""Has a form answered where it stands: what did not change stays, with its focus and with what was written. Without a
script it is answered by a page, as every form is."""
_ONWARD: Final = Markup("""hx-boost='select:#main selectOOB:#pages target:#main swap:"outerHTML show:top"'""")
"""Has a form lead to another page without the one that it stands on being loaded anew."""
_REFUSED: Final = "push:false replace:false"
"""Modifiers for the answer to a form that was refused: no page to come back to."""
_FAILED: Final = f"{_REFUSED} selectOOB:null select:.problem:not([hidden]) target:#problem swap:innerHTML"
"""Modifiers for what may be better in a moment: told above the page, which keeps what was written."""
_PART_OF_A_TABLE: Final = re.compile(r"<(tr|td|th)\b")
_MONTHS: Final = (
    marked("January"),
    marked("February"),
    marked("March"),
    marked("April"),
    marked("May"),
    marked("June"),
    marked("July"),
    marked("August"),
    marked("September"),
    marked("October"),
    marked("November"),
    marked("December"),
)


def _token(me: Session | StaffSession) -> Markup:
    """Return the hidden field by which a form shows that it comes from a page of this session."""
    return Markup('<input type="hidden" name="form_token" value="{}">').format(me.form_token)


@pass_context
def _day(context: Context, at: datetime) -> str:
    """Return the day of a moment where the person is."""
    day = at.astimezone(context["zone"])
    named = {"day": day.day, "month": gettext(_MONTHS[day.month - 1]), "year": day.year}
    return gettext("%(day)s %(month)s %(year)s") % named


@pass_context
def _minute(context: Context, at: datetime) -> str:
    """Return the day and the time of a moment where the person is."""
    return f"{_day(context, at)}, {at.astimezone(context['zone']):%H:%M}"


@pass_context
def _second(context: Context, at: datetime) -> Markup:
    """Return the day and the time of a moment to the second, as staff read it; a line may break between them alone."""
    day, clock = at.astimezone(context["zone"]).strftime("%Y-%m-%d %H:%M:%S").split()
    return Markup("<time><span>{}</span> <span>{}</span></time>").format(day, clock)


def _upper_first(text: str) -> str:
    """Return a text that begins with a capital and is otherwise as it is: nouns of some languages have one too."""
    return text[:1].upper() + text[1:]


def _labelled(rows: Markup, columns: Sequence[str]) -> Markup:
    """Return the rows of a table with the name of its column at each cell: on a narrow screen a row is a card, which
    has no head above it. Cards are no table to a browser any more, so each part says what it is."""
    column = 0

    def part(found: re.Match[str]) -> str:
        nonlocal column
        if found[1] == "tr":
            column = 0
            return '<tr role="row"'
        column += 1
        role = "cell" if found[1] == "td" else "rowheader"
        return f'<{found[1]} role="{role}" data-label="{escape(columns[column - 1])}"'

    # The rows are markup already, and what is added is escaped.
    return Markup(_PART_OF_A_TABLE.sub(part, rows))  # nosec B704


def _commands(text: str) -> Markup:
    """Return a text of which what stands between backticks is code: so commands are named on a console."""
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if is_code else escape(piece)
        for piece, is_code in zip(text.split("`"), cycle((False, True)), strict=False)
    )


ENVIRONMENT.install_gettext_callables(gettext, ngettext, newstyle=True)  # type: ignore[attr-defined]
ENVIRONMENT.globals |= {"wording": wording, "reasons": reasons, "token": _token}
ENVIRONMENT.globals |= {"in_place": _IN_PLACE, "onward": _ONWARD, "refused": _REFUSED, "failed": _FAILED}
ENVIRONMENT.filters |= {
    "day": _day,
    "minute": _minute,
    "second": _second,
    "as_path": as_path,
    "upper_first": _upper_first,
    "commands": _commands,
    "labelled": _labelled,
}


def page(
    template: str,
    me: Session | StaffSession | None,
    *,
    is_staff: bool | None = None,
    code: HTTPStatus = HTTPStatus.OK,
    zone: tzinfo = UTC,
    notice: str = "",
    problem: str = "",
    **values: Any,
) -> Response:
    """Return a page made of a template, for whom a session is open, with the headers that every page has.

    `is_staff` says whose pages it looks like where no session is open. `zone` is where the person's clock is, `notice`
    what was done, `problem` why something was not.
    """
    staff = isinstance(me, StaffSession) if is_staff is None else is_staff
    values |= {"me": me, "staff": staff, "language": language(), "layout": "admin/base.html" if staff else "base.html"}
    html = ENVIRONMENT.get_template(template).render(zone=zone, notice=notice, problem=problem, **values)
    headers = {
        "Content-Security-Policy": CSP,
        "Cache-Control": "no-store",
        "Content-Language": language(),
        "Vary": "Accept-Language",
        # With "no-referrer" a browser sends the origin "null" with a form, as if it came from elsewhere.
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }
    return HTMLResponse(without_control_characters(html), code, headers=headers)
