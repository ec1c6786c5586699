"""No key, nor a part of one, is shown: whatever it is set to, and in whatever form a server repeats it."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import fake_answers as fake
from earwitness.errors import UserError
from earwitness.listeners import llm_ask, llm_models, open_listener
from earwitness.listeners.llm_secrets import Secrets
from fake_answers import REPLIES, times
from fake_llm import FakeLlm
from fake_wires import Answer, Request
from judged import KEY, NAMES, VARIABLES, WIRES, heard, items, judge, keys, run

OTHER = "kx93/very+secret=7f3a91c2d4e8"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "key",
    [
        "“kx93-secret-7f3a”",
        "kx93-sécret-7f3a",
        "kx93-secret\n7f3a",
        "kx93-secret 7f3a",
        "kx93-secret\x7f7f3a",
    ],
)
def test_what_can_be_no_key_is_refused_before_any_work(
    wire: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeLlm() as server, judge(server, wire) as listener:
        monkeypatch.setenv(VARIABLES[wire], key)
        with pytest.raises(UserError, match=VARIABLES[wire]) as first:
            listener.ready()
        with pytest.raises(UserError, match=VARIABLES[wire]) as second:
            list(listener.hear([]))
        for fault in (first.value, second.value):
            assert "kx93" not in str(fault)
            assert "7f3a" not in str(fault)


def test_white_space_around_a_key_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with keys():
        monkeypatch.setenv(VARIABLES["openai"], f" {KEY}\n")
        open_listener(NAMES["openai"]).ready()


def _escaped(text: str, before: str = "\\") -> str:
    return "".join(f"{before}u{ord(sign):04X}" for sign in text)


@pytest.mark.parametrize(
    "told",
    [
        _escaped(OTHER),
        _escaped(OTHER).lower(),
        _escaped(OTHER, "\\\\"),
        "kx93" + _escaped("/very+sec") + "ret=7f3a91c2d4e8",
        OTHER.replace("/", "\\/"),
        OTHER.replace("/", "%2f").replace("+", "%2B").replace("=", "%3D"),
        OTHER[:20] + "...",
        "..." + OTHER[-14:],
        base64.b64encode(OTHER.encode()).decode(),
        base64.urlsafe_b64encode(OTHER.encode()).decode(),
        base64.b64encode(f"u:{OTHER}".encode()).decode(),
        base64.b64encode(f"Bearer {OTHER}".encode()).decode(),
        json.dumps({"headers": json.dumps({"x": OTHER})}),
    ],
)
def test_a_key_is_hidden_in_other_forms(told: str) -> None:
    shown = Secrets([OTHER]).hide_known(f"<<before {told} after>>")
    assert shown.startswith("<<before ")
    assert shown.endswith(" after>>")
    assert "[hidden]" in shown
    for form in (told, OTHER, _escaped(OTHER)):
        assert not any(form[at : at + 24] in shown for at in range(max(1, len(form) - 23)))
    assert "7f3a91c2" not in shown


def test_text_with_escapes_but_no_key_is_left_as_it_is() -> None:
    told = 'a "quoted\\" C:\\new\\table 100% \\u00e9 \\ud83d\\ude00 %zz \\'
    assert Secrets([OTHER]).hide_known(told) == told


def _repeats(request: Request) -> Answer:
    """A valid reply with the key in its texts, written in escapes: they are undone when it is parsed."""
    text = json.dumps(REPLIES[request.question] | {"notes": "KEY", "caption_events": ["a KEY"]})
    return Answer(text.replace("KEY", _escaped(request.key)))


@pytest.mark.parametrize("wire", WIRES)
def test_a_key_in_a_valid_reply_is_hidden_after_parsing(wire: str, tmp_path: Path) -> None:
    with FakeLlm(_repeats) as server, judge(server, wire) as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
    (record,) = heard(tmp_path / "run")["a dog barks"]
    assert record.reply["notes"] == "[hidden]"
    assert record.reply["caption_events"] == ["a [hidden]"]
    for path in (tmp_path / "run").rglob("*"):
        data = path.read_bytes()
        assert KEY.encode() not in data
        assert _escaped(KEY)[:60].encode() not in data


@pytest.mark.parametrize("wire", WIRES)
def test_a_fault_that_nobody_foresaw_shows_no_key_and_keeps_the_cost(
    wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = llm_models.request

    async def breaks(model: Any, messages: Any, *more: Any) -> Any:
        if len(messages) > 1:
            raise RuntimeError(f"headers: {{'x-goog-api-key': '{KEY}'}}")
        return await asked(model, messages, *more)

    monkeypatch.setattr(llm_ask, "request", breaks)
    script = fake.about("cat", fake.prose)
    with FakeLlm(script) as server, judge(server, wire, price=(1.0, 1.0, 1.0)) as listener:
        counts = run(tmp_path / "run", items(tmp_path, ["a dog barks", "a cat meows"]), listener)
        assert len(server.requests) == 2, "what was lost is asked again by the next run, not by this one"
    assert counts.unheard == 1
    (record,) = heard(tmp_path / "run")["a cat meows"]
    assert record.reason == "transport"
    assert "RuntimeError" in record.detail
    assert "listener failed" not in record.detail
    ledger = (tmp_path / "run" / "ledger.sqlite").read_bytes()
    assert KEY.encode() not in ledger
    assert ledger.count(b"cost_usd") == 2


@pytest.mark.parametrize("wire", WIRES)
def test_attempts_are_told_without_the_key(
    wire: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def tells(request: Request) -> Answer:
        return fake.failed(500, f"your key {request.key}", "INTERNAL", "server_error")(request)

    caplog.set_level("INFO")
    with FakeLlm(times(1, tells)) as server, judge(server, wire) as listener:
        run(tmp_path / "run", items(tmp_path, ["a dog barks"]), listener)
    assert "attempt 1 of 3 failed" in caplog.text
    assert "500: your key [hidden]" in caplog.text
    assert KEY not in caplog.text
