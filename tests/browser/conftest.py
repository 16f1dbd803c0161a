"""A real browser before a real service: one of each for the whole session."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, expect

from interfaces.http.pages.sessions import make_link, make_staff_link
from memory.context import MemoryContext, open_memory
from schema import Subject
from tests.e2e.service import Served, served, settings_in

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
)
_STATUS = re.compile(r"(?:responded|failed) with (?:a status of|status) (\d+)")
_REPORT = "addEventListener('securitypolicyviolation', e => console.error('CSP: ' + e.violatedDirective))"
_PATIENCE_MS: Final = 90_000
"""How long a page may take on a machine that does much else."""
_users = count()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pictures", metavar="FOLDER", help="keep pictures of every page, at three widths, there")
    parser.addoption("--picture", metavar="FILE", help="keep the picture that the README shows there")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Find the browser of this machine; there is no test without one."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        missing = "no chromium is found. Debian: apt-get install --no-install-recommends chromium fonts-dejavu-core"
        if os.environ.get("BROWSER_REQUIRED"):
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)
    return {**browser_type_launch_args, "executable_path": found, "args": list(_QUIET)}


@pytest.fixture(scope="session")
def service(browser: Browser, broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service as `make run` has it, whose stores nobody else has: it refuses what comes from pages of elsewhere. It
    asks for the browser, so that nothing starts where there is none."""
    with served(settings_in(tmp_path_factory.mktemp("browser"), broker_url), anonymous=True) as running:
        yield running


@pytest.fixture(scope="session")
def context(service: Served) -> Iterator[MemoryContext]:
    """What writes into the service's stores."""
    opened = open_memory(service.settings)
    yield opened
    opened.close()


@pytest.fixture
def subject() -> Subject:
    """Somebody about whom nothing is known yet."""
    return Subject(tenant_id="acme", subject_id=f"maya{next(_users)}")


@dataclass
class Visit:
    """A person before the pages, and all that went wrong there."""

    page: Page
    url: str
    link: str
    refusals: set[int]
    """Answers that the test asks for, which a browser calls errors."""
    wrong: list[str] = field(default_factory=list)
    clicks: int = 0
    """How often something was pressed or followed."""

    def enter(self) -> None:
        self.open(self.link)

    def open(self, path: str) -> None:
        self.page.goto(f"{self.url}{path}")

    def press(self, name: str) -> None:
        self.clicks += 1
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, name: str) -> None:
        self.clicks += 1
        self.page.get_by_role("link", name=name).first.click()

    def listens(self) -> dict[str, Callable[[Any], None]]:
        """What is to hear the page's events, by their names."""
        return {"console": self._hear, "pageerror": self._fail, "request": self._see}

    def _hear(self, message: ConsoleMessage) -> None:
        status = _STATUS.search(message.text)
        if message.type == "error" and not (status and int(status[1]) in self.refusals):
            self.wrong.append(f"console: {message.text}")

    def _fail(self, error: Error) -> None:
        self.wrong.append(f"script: {error}")

    def _see(self, request: Request) -> None:
        if not request.url.startswith((f"{self.url}/", "data:", "about:")):
            self.wrong.append(f"another host was asked: {request.url}")


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Iterator[dict[bool, Page]]:
    """A page that runs scripts and one that does not, each in a browser context of its own: opening one takes longer
    than most tests."""
    expect.set_options(timeout=_PATIENCE_MS)
    opened = {}
    for runs_scripts in (True, False):
        opened[runs_scripts] = browser.new_context(java_script_enabled=runs_scripts, reduced_motion="reduce").new_page()
        opened[runs_scripts].add_init_script(_REPORT)
        opened[runs_scripts].set_default_timeout(_PATIENCE_MS)
    yield opened
    for page in opened.values():
        page.context.close()


@pytest.fixture
def visit(tabs: dict[bool, Page], service: Served, context: MemoryContext) -> Iterator[Callable[..., Visit]]:
    """Have a person come in by a link. When the test ends, nothing may have gone wrong before them."""
    visits: list[Visit] = []

    def come(
        subject: Subject,
        *,
        runs_scripts: bool = True,
        enters: bool = True,
        refusals: Iterable[int] = (),
        staff: bool = False,
    ) -> Visit:
        page = tabs[runs_scripts]
        page.context.clear_cookies()
        if staff:
            link = f"/admin/enter?link={make_staff_link(subject.tenant_id, 'ann', None, context.redis)}"
        else:
            link = f"/me/enter?link={make_link(subject.tenant_id, subject.subject_id, context.redis)}"
        visiting = Visit(page, service.url, link, set(refusals))
        visits.append(visiting)
        for name, hear in visiting.listens().items():
            page.on(name, hear)  # type: ignore[call-overload]
        if enters:
            visiting.enter()
        return visiting

    yield come
    for visiting in visits:
        visiting.page.goto("about:blank")
        visiting.page.set_viewport_size({"width": 1280, "height": 720})
        for name, hear in visiting.listens().items():
            visiting.page.remove_listener(name, hear)
    assert [wrong for visiting in visits for wrong in visiting.wrong] == []
