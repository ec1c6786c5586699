"""What the paragraph for the paper says of a judge, from recorded facts alone."""

import re
from dataclasses import replace
from typing import Any

import pytest

from earwitness.report.protocol import paragraph
from earwitness.tasks import edit, label, order
from earwitness.tasks.rows import Comparison, Measures, Metric, Summary, SystemRow
from earwitness.tasks.task import Hearer, Task

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
    of = of or order.measures(JUDGE)
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
    text = said("edit", edit.measures(JUDGE))
    assert "The key metric is Joint: success and both preservations at least 4 each." in text
    assert "reads what the edit was to do" in text
    assert "coloured" not in text
    assert "simultaneous" not in text
    assert "reads nothing about it" in said("label", label.measures(JUDGE))


HEARERS = {"judge": JUDGE, "detector": replace(JUDGE, detector=True)}
CLUSTERS = {
    order.TASK: "a cluster is a pair of prompts, or one caption",
    edit.TASK: "a cluster is all edits of one source clip",
    label.TASK: "a cluster is one clip",
}
HEARD = {
    (order.TASK, "judge"): "the clip and reads the caption it is asked about",
    (
        order.TASK,
        "detector",
    ): "hears each clip once, reports labelled events with times and never sees a caption",
    (edit.TASK, "judge"): "the source and the edited clip and reads what the edit was to do",
    (
        edit.TASK,
        "detector",
    ): "the source and the edited clip apart.*Distances, levels and lengths were measured",
    (label.TASK, "judge"): "hears each clip and reads nothing about it",
    (label.TASK, "detector"): "never sees a caption. Levels, clipping, silence and bandwidth were measured",
}


@pytest.mark.parametrize("who", HEARERS)
@pytest.mark.parametrize("task", CLUSTERS, ids=lambda task: task.name)
def test_every_task_says_how_it_was_heard_and_what_a_cluster_is(task: Task, who: str) -> None:
    measures = task.measures(HEARERS[who])
    row = SystemRow("a", 3, 0, 0, 3, 1.0, {measures.key: Metric(0.5, 0.4, 0.6, n=3)})
    facts = {"listener": {"name": "ear", "detector": who == "detector"}}
    text = paragraph(Summary(task.name, "ear", measures, (row,), (), ()), facts)
    assert [words for words in CLUSTERS.values() if words in text] == [CLUSTERS[task]]
    told = [key for key, words in HEARD.items() if re.search(words, text)]
    assert (task, who) in told
    assert {one for _, one in told} == {who}


@pytest.mark.parametrize("who", HEARERS)
@pytest.mark.parametrize("task", CLUSTERS, ids=lambda task: task.name)
def test_the_paragraph_can_be_pasted(task: Task, who: str) -> None:
    """Whatever the task: at most 150 words name systems, listener, numbers, method, seed and software."""
    measures = task.measures(HEARERS[who])
    rows = tuple(
        SystemRow(
            name, 60, 3, 2, 55, 55 / 57, {measures.key: Metric(0.5, 0.4, 0.6, n=55)}, {}, {"blocked": 2}
        )
        for name in ("a", "b")
    )
    pair = Comparison(measures.key, "a", "b", 40, 0.1, 0.02, 0.2, 0.01, 0.02, "a", items=55)
    found = Summary(task.name, JUDGE.name, measures, rows, (pair,), ())
    known = {"versions": {"earwitness": "0.4.0", "numpy": "2"}, "date": "2030-01-02", "seed": 7,
             "level": 0.95, "draws": 10_000, "command": "earwitness judge"}  # fmt: skip
    listener = FACTS["listener"] | {"detector": who == "detector"}
    text = paragraph(found, FACTS | known | {"listener": listener})
    short, _, details = text.partition("\n\n## Details\n")
    assert len(short.split()) <= 150
    for words in (
        "Clips of 2 systems", "gemini-2.5-pro (version 1) on 2030-01-02",
        f"{task.name} task of earwitness 0.4.0", "percentile bootstrap", "seed 7",
        "Of 120 items, 110 were scored, 6 not applicable and 4 unheard (4 blocked)",
    ):  # fmt: skip
        assert words in short
        assert words not in details
    for words in ("temperature", "numpy", "earwitness judge", "neither the systems' names nor any path"):
        assert words in details
        assert words not in short


def test_baselines_are_counted_apart_from_systems() -> None:
    def row(name: str, baseline: bool = False) -> SystemRow:
        return SystemRow(name, 3, 0, 0, 3, 1.0, {"joint_success": Metric(0.5, n=3)}, baseline=baseline)

    rows = (row("a"), row("b"), row("identity", True))
    text = paragraph(Summary("edit", "ear", edit.measures(JUDGE), rows, (), ()), {})
    assert "Clips of 2 systems and 1 baseline were heard" in text
    assert "Baselines are shown for scale and were not tested." in text
    alone = paragraph(Summary("edit", "ear", edit.measures(JUDGE), rows[:1], (), ()), {})
    assert "Clips of 1 system were heard" in alone
    assert "aseline" not in alone
