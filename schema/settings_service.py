"""Settings of the service: HTTP, keys, and the Model Context Protocol."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings

from schema.principal import Capability
from schema.urls import http_url

MOST_PROCESSES: Final = 256
"""Of the service on one machine: each holds 300 MB, and a digit too many would take the machine down."""


class ServiceSettings(BaseSettings):
    """Settings of how the service is reached, and of what one key may ask of it."""

    http_host: str = Field(
        "127.0.0.1", description="address on which the service listens; others than this machine's need keys"
    )
    http_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        8000, description="port on which the service listens; 0: `afterturn run` starts none"
    )
    http_processes: Annotated[int, Field(ge=1, le=MOST_PROCESSES)] = Field(
        1, description="processes of the service, which share its port: as many as cores are its own"
    )
    http_max_body_bytes: Annotated[int, Field(ge=1024)] = Field(
        1024 * 1024, description="bytes that a request to the service may have"
    )
    http_reads_per_minute: Annotated[int, Field(ge=0)] = Field(
        600, description="requests a minute that one key may make to read; 0: no limit"
    )
    http_writes_per_minute: Annotated[int, Field(ge=0)] = Field(
        60, description="requests a minute that one key may make to change something, turns apart; 0: no limit"
    )
    http_llm_per_minute: Annotated[int, Field(ge=0)] = Field(
        30,
        description="requests a minute of one key for which the language model may be asked, where there is one; "
        "0: no limit",
    )
    http_turns_per_minute: Annotated[int, Field(ge=0)] = Field(
        0, description="turns a minute that one key may send; 0: no limit beside AFTERTURN_MAX_PENDING_TURNS"
    )
    http_cors_origins: tuple[str, ...] = Field(
        (),
        description="pages that may ask the service from a browser, by their origins, as a JSON list such as "
        '["https://chat.example.com"], or ["*"]; unset: none',
    )
    http_access_log: bool = Field(
        True, description="whether the service logs a line a request: its route, outcome, time and key, and no content"
    )
    http_metrics_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        0, description="port on which the service shows its metrics, as a worker does on its own; 0: none"
    )
    mcp_tools: tuple[str, ...] = Field(
        ("search_memory", "create_memory", "get_memory", "update_memory", "delete_memory"),
        description="the tools that clients of the Model Context Protocol are offered, as a JSON list",
        min_length=1,
    )
    mcp_key: SecretStr | None = Field(
        None, description="key for whom `afterturn mcp` asks; unset: for whom its options name; never shown"
    )
    pages_catalogues: Path | None = Field(
        None,
        description="folder with translations of the pages, `LANGUAGE/LC_MESSAGES/pages.mo`, beside those that come "
        "with Afterturn; a reader's browser says which language they like; unset: none",
    )
    oidc_issuer: str | None = Field(
        None,
        description="an OpenID provider whose tokens are taken beside keys, as their `iss` names it; unset: none are",
    )
    oidc_audience: str | None = Field(None, description="what a token's `aud` must name, with AFTERTURN_OIDC_ISSUER")
    oidc_jwks_url: str | None = Field(
        None, description="where the provider's public keys are; unset: as its discovery document says"
    )
    oidc_claims: dict[Literal["user_id", "tenant_id", "agent_id", "capabilities"], str] = Field(
        {"user_id": "sub"},
        description="which claims say who asks, as a JSON object; without `capabilities` a token may do all that "
        "AFTERTURN_OIDC_CAPABILITIES names",
    )
    oidc_capabilities: tuple[Capability, ...] = Field(
        (Capability.READ,), description="what a token may do at most, whatever it claims, as a JSON list"
    )
    oidc_tenant: str = Field(
        "default", min_length=1, description="the tenant of tokens, where AFTERTURN_OIDC_CLAIMS names no claim for it"
    )
    oidc_client_id: str | None = Field(
        None,
        min_length=1,
        description="the client as which AFTERTURN_OIDC_ISSUER knows the pages; with it people sign in to their own by "
        "the provider, to read, correct and delete; unset: by links alone",
    )
    oidc_client_secret: SecretStr | None = Field(
        None, description="the secret of that client; unset: it has none, and PKCE alone binds a code; never shown"
    )
    hot_path: Literal["rules", "model"] = Field(
        "rules",
        description="what says on the hot path whether a message is worth a memory: rules, or the language model, with "
        "the rules where it is late",
    )
    hot_path_model_ms: Annotated[float, Field(ge=10, le=5_000)] = Field(
        250.0, description="how long the hot path waits for the language model, in milliseconds"
    )
    webhook_networks: tuple[str, ...] = Field(
        (),
        description="networks beside the public ones to which webhooks may be sent, as a JSON list such as "
        '["10.1.0.0/16"]; plain http goes to these alone',
    )
    webhook_timeout_seconds: Annotated[float, Field(ge=1, le=30)] = Field(
        15.0, description="how long one try to deliver a webhook may take, from the look-up of its host on"
    )
    webhook_log_days: Annotated[int, Field(ge=1, le=365)] = Field(
        30, description="days for which it is kept what was delivered to webhooks, and what was not"
    )

    @field_validator("http_cors_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if origin != "*" and any(urlsplit(http_url(origin))[2:]):
                raise ValueError(f"{origin} is no origin: it ends with the host, or its port")
        return origins

    @field_validator("oidc_issuer", "oidc_jwks_url")
    @classmethod
    def _is_a_server(cls, url: str | None) -> str | None:
        return None if url is None else http_url(url)

    @model_validator(mode="after")
    def _tokens_are_for_somebody(self) -> Self:
        if self.oidc_issuer is not None and not self.oidc_audience:
            raise ValueError("AFTERTURN_OIDC_ISSUER: set AFTERTURN_OIDC_AUDIENCE too, or tokens for others would open")
        if self.oidc_client_id is not None and self.oidc_issuer is None:
            raise ValueError("AFTERTURN_OIDC_CLIENT_ID: set AFTERTURN_OIDC_ISSUER too: nobody is asked otherwise")
        if self.oidc_client_secret is not None and self.oidc_client_id is None:
            raise ValueError("AFTERTURN_OIDC_CLIENT_SECRET: set AFTERTURN_OIDC_CLIENT_ID too: it is that client's")
        return self

    @field_validator("webhook_networks")
    @classmethod
    def _are_networks(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            ip_network(name)
        return names
