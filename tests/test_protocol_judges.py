"""What the paragraph for the paper says of a judge, from recorded facts alone."""

from typing import Any

from earwitness.report.protocol import paragraph
from earwitness.tasks.order import measures
from earwitness.tasks.rows import Measures, Metric, MetricSpec, Summary, SystemRow
from earwitness.tasks.task import Hearer

JUDGE = Hearer("google:gemini-2.5-pro", "1", False, 1.0, frozenset(), 3)
FACTS: dict[str, Any] = {
    "repeats": 3,
    "ask": "blind",
    "listener": {
        "name": "google:gemini-2.5-pro",
        "version": "1",
        "resolution_s": 1.0,
        "detector": False,
        "settings": {"temperature": 0.1, "thinking_tokens": 128, "base_url": ""},
    },
    "prompt_hashes": {"alignment_after_listening": "0123456789abcdef" * 4},
    "served": {"gemini-2.5-pro-002": 900},
    "usage": {"input_audio_tokens": 288000.0},
    "cost_usd": 4.321,
    "generator_encoder": "PE-A-Frame",
}


def said(task: str = "order", of: Measures | None = None, **changed: Any) -> str:
    of = of or measures(JUDGE)
    row = SystemRow("a", 3, 0, 1, 2, 2 / 3, {of.key: Metric(0.5, n=2)}, {}, {"blocked": 1})
    return paragraph(Summary(task, JUDGE.name, of, (row,), (), ()), FACTS | changed)


def test_every_fact_of_a_judge_is_stated() -> None:
    text = said()
    for words in (
        "It is a judge: it hears the clip and reads the caption", "Asked blind", "by rule",
        "onsets closer than 1 s are simultaneous",
        "temperature was 0.1, its thinking budget 128 tokens", "gemini-2.5-pro-002 (900 answers)",
        "288,000 audio tokens: sound arrived", "cost 4.32 USD", "asked 3 times", "by the majority",
        "0123456789abcdef.", "another model family than PE-A-Frame (Meta)", "1 unheard (1 blocked)",
    ):  # fmt: skip
        assert words in text
    assert "base" not in text  # what was left empty is no setting


def test_what_a_provider_does_not_tell_is_not_claimed() -> None:
    text = said(usage={}, cost_usd=None, generator_encoder="", ask="seed", repeats=1)
    assert "that sound arrived is not confirmed" in text
    assert "USD" not in text
    assert "is independent of the systems under test is not known" in text
    assert "may be coloured" in text
    assert "how far its answers vary is not known" in text
    without = dict.fromkeys(("served", "ask", "generator_encoder", "usage", "prompt_hashes"))
    bare = said(**without, listener={"name": "m", "detector": False})
    for word in ("audio tokens", "independent", "family", "Hashes", "temperature", "coloured"):
        assert word not in bare


def test_other_tasks_name_their_key_metric_and_what_is_read() -> None:
    joint = MetricSpec("joint", "Joint success", "share of edits that succeed and preserve", rate=True)
    text = said("edit", Measures((joint,), "joint", ("joint",)))
    assert "The key metric is Joint success: share of edits that succeed and preserve." in text
    assert "reads what the edit was to do" in text
    assert "coloured" not in text
    assert "simultaneous" not in text
    assert "reads nothing about it" in said("label", Measures((joint,), "joint", ("joint",)))
