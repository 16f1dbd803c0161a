"""Check every part that the settings name, and say how to mend what is broken: `afterturn doctor`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from interfaces.doctor.broker import check_broker, check_fleet
from interfaces.doctor.machine import check_folders, check_settings
from interfaces.doctor.models import check_extractor, check_llm
from interfaces.doctor.stores import check_stores
from interfaces.timeouts import ask_all
from schema.errors import SettingsError
from schema.health import HealthCheck, failed
from schema.settings import load_settings

_SECONDS = 60.0
"""How long one part may take: millions of vectors are counted, and a model is loaded."""


def run_health_checks(*, call_llm: bool = False, fleet: bool = True, optimizes: bool = False) -> list[HealthCheck]:
    """Return the health checks of all parts, in the order in which they depend on each other.

    Without `fleet` nobody looks for workers and beat, and like the start of a worker it makes what is missing in the
    data folder and the index. `call_llm` asks the language model one cheap question; `optimizes` builds graphs of large
    users.
    """
    try:
        settings = load_settings()
    except SettingsError as error:
        return [failed("settings", "cannot be used", str(error))]
    checks: dict[str, Callable[[], Iterable[HealthCheck]]] = {
        "settings": check_settings,
        "data folder": lambda: check_folders(settings),
        "broker": lambda: check_broker(settings),
        "stores": lambda: check_stores(settings, optimizes=optimizes, makes_catalog=not fleet),
        "extractor": lambda: check_extractor(settings),
        "language model": lambda: check_llm(settings, call=call_llm),
    }
    if fleet:
        checks["fleet"] = lambda: check_fleet(settings)
    answers = ask_all({part: partial(_checked, part, check) for part, check in checks.items()}, _SECONDS)
    # Whatever else a part raises is a check of its own: what is no list took too long.
    return [found for part, answer in answers for found in (answer if isinstance(answer, list) else [_slow(part)])]


def _slow(part: str) -> HealthCheck:
    return failed(part, f"did not answer within {_SECONDS:.0f} s", "look at its server, its disk and its network")


def _checked(part: str, check: Callable[[], Iterable[HealthCheck]]) -> list[HealthCheck]:
    """Return all health checks of a part, up to where the look itself fails."""
    found: list[HealthCheck] = []
    try:
        found.extend(check())
    except SettingsError as error:
        found.append(failed(part, "cannot be used", str(error)))
    except Exception as error:  # noqa: BLE001 - what one part does must not hide the others
        # Its message may hold what a user said.
        found.append(failed(part, f"the look at it failed ({type(error).__name__})", "please report this as a bug"))
    return found
