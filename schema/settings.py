"""Every setting of the house, in one place, read from the environment once and checked at start."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeVar

from dotenv import dotenv_values
from pydantic import AliasChoices, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableSetting

from schema import Policy
from schema.errors import SettingsError
from schema.settings_agents import AgentSettings
from schema.settings_fleet import FleetSettings
from schema.settings_quotas import QuotaSettings
from schema.settings_service import ServiceSettings
from schema.settings_stores import StoreSettings
from schema.urls import without_password

PREFIX = "AFTERTURN_"
T = TypeVar("T", bound=BaseSettings)


class _PolicyVariables(BaseSettings, Policy):
    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_file=".env")


class Settings(AgentSettings, ServiceSettings, QuotaSettings, FleetSettings, StoreSettings):
    """Settings of the whole fleet. Each is set by `AFTERTURN_` and its name in capitals, in the
    environment or in a file `.env`; the constants of the policies go by their own names (see `Policy`)."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore", frozen=True)

    tracing: Literal["off", "otlp", "console"] = Field(
        "off", description="where workers and the service send OpenTelemetry spans; needs the extra `otel`"
    )
    memory_batch_turns: Annotated[int, Field(ge=1, le=100)] = Field(
        8,
        validation_alias="MEMORY_BATCH_TURNS",
        description="pending turns of one subject that are extracted together",
    )

    @field_validator("*", mode="before")
    @classmethod
    def _empty_is_unset(cls, value: object, info: ValidationInfo) -> object:
        is_optional = cls.model_fields[str(info.field_name)].default is None
        return None if value == "" and is_optional else value

    @model_validator(mode="after")
    def _what_lies_in_postgres_has_one(self) -> Self:
        lies_there = {
            "AFTERTURN_INDEX: pgvector": self.index == "pgvector",
            "AFTERTURN_GRAPH: age": self.graph == "age",
        }
        for setting, is_there in lies_there.items():
            if is_there and not self.effective_catalog_url.startswith("postgres"):
                raise ValueError(
                    f"{setting} lies in the catalog's Postgres; set AFTERTURN_CATALOG_URL, such as "
                    "postgresql+psycopg://user:password@host/afterturn"
                )
        return self

    @model_validator(mode="after")
    def _a_model_on_the_hot_path_is_there(self) -> Self:
        if self.hot_path == "model" and self.llm == "none":
            raise ValueError("AFTERTURN_HOT_PATH: model needs a language model; set AFTERTURN_LLM")
        return self

    @property
    def index_dir(self) -> Path:
        """Return the folder of the embedded index."""
        return self.data_dir / ("index" if self.index_name == "main" else f"index-{self.index_name}")

    @property
    def effective_spool_dir(self) -> Path:
        """Return the folder of the spool, with the default filled in."""
        return (self.spool_dir or self.data_dir / "spool").absolute()

    @property
    def broker_shown(self) -> str:
        """Return the broker's URL without its password, for people and logs."""
        return without_password(self.broker_url)

    @property
    def effective_catalog_url(self) -> str:
        """Return the catalog's URL, with the embedded default filled in."""
        return self.catalog_url or f"sqlite:///{self.data_dir.absolute() / 'catalog.sqlite3'}"


def variable_of(field: str) -> str:
    """Return the environment variable that sets a field of `Settings` or `Policy`."""
    return field.upper() if field in Policy.model_fields else _variables_of(field)[0]


def _variables_of(field: str) -> list[str]:
    """Return the variables that set a field of `Settings`: its own, and those by which it was set before."""
    match Settings.model_fields[field].validation_alias:
        case None:
            return [f"{PREFIX}{field.upper()}"]
        case AliasChoices(choices=choices):
            return [*map(str, choices)]
        case alias:
            return [str(alias)]


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        field = str(problem["loc"][0]) if problem["loc"] else ""
        is_setting = field in Settings.model_fields or field in Policy.model_fields
        name = variable_of(field) if is_setting else field or "settings"
        given = f", not {problem['input']!r}" if problem["type"] != "value_error" and field else ""
        lines.append(f"{name}: {problem['msg'].removeprefix('Value error, ')}{given}")
    return "\n".join(lines)


_OF_THE_CLIENTS: Final = frozenset({"AFTERTURN_URL", "AFTERTURN_API_KEY"})
"""Variables of the clients that a backend installs, which may stand in the same shell."""


def _check_variables() -> None:
    """Warn of variables that have a new name, and refuse those that set nothing."""
    current: dict[str, str] = {}
    for variable, *former in map(_variables_of, Settings.model_fields):
        current |= dict.fromkeys((variable, *former), variable)
    given = sorted(name for name in {*os.environ, *dotenv_values(".env")} if name.startswith(PREFIX))
    for name in given:
        if current.get(name, name) != name:
            warnings.warn(f"{name} is called {current[name]} now, and will not be read for ever", FutureWarning, 2)
    unknown = [name for name in given if name not in current.keys() | _OF_THE_CLIENTS]
    if not unknown:
        return
    way_out = "`afterturn settings` lists them all"
    if any(name.endswith("_SERVICE_HOST") for name in unknown):
        way_out = "Kubernetes sets them for a Service of that name; set enableServiceLinks: false for the pod"
    raise SettingsError(f"{', '.join(unknown)}: no such setting; {way_out}")


def _read(settings: type[T]) -> T:
    try:
        return settings()
    except ValidationError as error:
        raise SettingsError(_explain(error)) from error
    except UnreadableSetting as error:
        fields = [field for field in settings.model_fields if f'"{field}"' in str(error)]
        names = ", ".join(map(variable_of, fields)) or "settings"
        raise SettingsError(f'{names}: takes JSON, a list such as ["Personal", "Other"]') from error


def load_settings() -> Settings:
    """Return the settings from the environment and `.env`.

    Raises:
        SettingsError: a variable holds what cannot work, or is unknown; the message names it.
    """
    _check_variables()
    return _read(Settings)


def load_policy() -> Policy:
    """Return the policy constants from the environment, on Titan v2's scale until `Policy.on_scale_of` is applied.

    Raises:
        SettingsError: a variable holds what cannot work; the message names it.
    """
    variables = _read(_PolicyVariables)
    return Policy.model_validate({name: getattr(variables, name) for name in variables.model_fields_set})
