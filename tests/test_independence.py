"""Families of judges and encoders, and what is said of them."""

import pytest

from earwitness.tasks.independence import family, statement, warnings


@pytest.mark.parametrize(
    ("name", "its"),
    [
        ("google:gemini-2.5-pro", "Google"),
        ("google-vertex:gemini-2.5-flash", "Google"),
        ("Gemma-3n", "Google"),
        ("FLAN-T5", "Google"),
        ("openai:gpt-audio", "OpenAI"),
        ("whisper-large-v3", "OpenAI"),
        ("openai:Qwen/Qwen2.5-Omni-7B", "Qwen"),  # OpenAI's wire format, Qwen's model
        ("laion/clap-htsat-fused", "CLAP"),
        ("PE-A-Frame", "Meta"),
        ("Perception Encoder", "Meta"),
        ("yamnet", "AudioSet (YAMNet, VGGish)"),
        ("VGGish", "AudioSet (YAMNet, VGGish)"),
        ("Eclapse", "eclapse"),  # holds the letters of CLAP, and is not it
        ("our-encoder", "our-encoder"),
    ],
)
def test_a_name_tells_its_family(name: str, its: str) -> None:
    assert family(name) == its


def test_the_protocols_own_case_is_independent() -> None:
    same, said = statement("google:gemini-2.5-pro", "PE-A-Frame")
    assert same is False
    assert "gemini-2.5-pro (Google) is of another model family than PE-A-Frame (Meta)" in said
    assert "nothing but the name" not in said
    assert warnings("google:gemini-2.5-pro", "PE-A-Frame") == []


def test_a_judge_of_the_systems_own_family_is_warned_of() -> None:
    same, said = statement("google:gemini-2.5-pro", "flan-t5-large")
    assert same is True
    assert "same model family (Google)" in said
    assert warnings("google:gemini-2.5-pro", "flan-t5-large") == [said]
    assert statement("openai:homemade", "Homemade")[0] is True


def test_what_is_not_known_is_not_claimed() -> None:
    same, said = statement("openai:gpt-audio", " ")
    assert same is None
    assert "not known" in said
    assert "--generator-encoder" in said
    assert warnings("openai:gpt-audio", "") == []
    same, said = statement("openai:gpt-audio", "SecretNet")
    assert same is False
    assert "Of SecretNet nothing but the name is known." in said
