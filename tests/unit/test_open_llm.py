"""Opening a language model: what is missing is said by the name of its variable, and a key is never shown."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest
from fakeredis import FakeRedis

from interfaces.cli import configuration
from memory.failures import pause_before_retry
from schema.errors import LLMUnavailable, SettingsError
from schema.settings import Settings, load_settings
from stores.llm import LLM, open_llm
from worker.logs import configure_logging


def opened(settings: Settings) -> LLM | None:
    return open_llm(settings, FakeRedis(), on_call=lambda _call: None, on_breaker=lambda _part, _state: None)


def test_none_is_no_language_model() -> None:
    assert opened(Settings(llm="none")) is None


@pytest.mark.parametrize(("llm", "client"), [("bedrock", "boto3"), ("openai", "httpx")])
def test_a_missing_extra_is_named_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, llm: str, client: str
) -> None:
    for module in ("stores.aws", "stores.openai_endpoint", "stores.llm.bedrock", "stores.llm.openai"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, client, None)
    with pytest.raises(SettingsError, match=rf"AFTERTURN_LLM: .*{client}.* pip install 'afterturn\[{llm}\]'"):
        opened(Settings(llm=llm))


def test_openai_without_a_model_names_the_variable() -> None:
    with pytest.raises(SettingsError, match="AFTERTURN_LLM_MODEL"):
        opened(Settings(llm="openai"))


def test_bedrock_without_a_region_names_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match="AFTERTURN_AWS_REGION"):
        opened(Settings(llm="bedrock"))


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://models", "http://", "http://me:hunter2@models/v1"])
def test_a_url_that_cannot_work_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("AFTERTURN_LLM_URL", url)
    with pytest.raises(SettingsError, match="AFTERTURN_LLM_URL") as refused:
        load_settings()
    assert "hunter2" not in str(refused.value)


def test_the_key_is_never_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("AFTERTURN_LLM_API_KEY", "sk-of-ours")
    settings = load_settings()
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == "sk-of-ours"
    configuration.settings(as_json=True)
    configuration.settings()
    assert "sk-of-ours" not in repr(settings) + settings.model_dump_json() + capsys.readouterr().out


def test_a_pause_is_no_shorter_than_a_provider_asks_for_and_no_longer_than_a_minute() -> None:
    assert pause_before_retry(1, LLMUnavailable("throttled", retry_after=20)) == 20
    assert pause_before_retry(1, LLMUnavailable("throttled", retry_after=86_400)) == 60
    assert pause_before_retry(1, LLMUnavailable("throttled")) <= 0.5
    assert pause_before_retry(20, LLMUnavailable("throttled", retry_after=1)) >= 30


def test_clients_of_models_do_not_log_their_requests_even_at_debug() -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        configure_logging("debug")
        assert not any(
            logging.getLogger(name).isEnabledFor(logging.DEBUG)
            for name in ("botocore.endpoint", "httpcore.http11", "httpx", "urllib3.connectionpool")
        )
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
