"""Looks at every part that the settings name, and says how to mend what is broken: `afterturn doctor`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from multiprocessing import TimeoutError as TookTooLong
from multiprocessing.pool import ThreadPool

from interfaces.doctor.broker import check_broker, check_fleet
from interfaces.doctor.machine import check_folders, check_settings
from interfaces.doctor.models import check_extractor, check_llm
from interfaces.doctor.stores import check_stores
from schema.errors import SettingsError
from schema.health import HealthCheck, failed
from schema.settings import load_settings

_SECONDS = 60.0
"""How long one part may take: millions of vectors are counted, and a model is loaded."""


def run_health_checks(*, call_llm: bool = False, fleet: bool = True, tend: bool = False) -> list[HealthCheck]:
    """Return the health checks of all parts, in the order in which they depend on each other.

    Like the start of a worker it makes what is missing in the data folder and the index. `call_llm` asks the language
    model one cheap question; without `fleet` nobody looks for workers and beat; `tend` builds graphs of large users.
    """
    try:
        settings = load_settings()
    except SettingsError as error:
        return [failed("settings", "cannot be used", str(error))]
    looks: dict[str, Callable[[], Iterable[HealthCheck]]] = {
        "settings": check_settings,
        "data folder": lambda: check_folders(settings),
        "broker": lambda: check_broker(settings),
        "stores": lambda: check_stores(settings, tend=tend),
        "extractor": lambda: check_extractor(settings),
        "language model": lambda: check_llm(settings, call=call_llm),
    }
    if fleet:
        looks["fleet"] = lambda: check_fleet(settings)
    # The pool's threads are daemons: a part that hangs does not hold up the command's end.
    pool = ThreadPool(len(looks))
    asked = [(part, pool.apply_async(_all_of, (part, look))) for part, look in looks.items()]
    return [check for part, answer in asked for check in _heard(part, answer.get)]


def _heard(part: str, answer: Callable[[float], list[HealthCheck]]) -> list[HealthCheck]:
    try:
        return answer(_SECONDS)
    except TookTooLong:
        return [failed(part, f"did not answer within {_SECONDS:.0f} s", "look at its server, its disk and its network")]


def _all_of(part: str, look: Callable[[], Iterable[HealthCheck]]) -> list[HealthCheck]:
    """Return all health checks of a part, up to where the look itself fails."""
    checks: list[HealthCheck] = []
    try:
        checks.extend(look())
    except SettingsError as error:
        checks.append(failed(part, "cannot be used", str(error)))
    except Exception as error:  # noqa: BLE001 - what one part does must not hide the others
        # Its message may hold what a user said.
        checks.append(failed(part, f"the look at it failed ({type(error).__name__})", "please report this as a bug"))
    return checks


__all__ = ["run_health_checks"]
