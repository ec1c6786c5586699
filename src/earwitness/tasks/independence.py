"""Is the judge of another model family than what the systems under test listen with?

A generator is trained to please its encoder. A judge of the same family may hear as that encoder does, and
then the systems are measured with their own yardstick. Families go by names alone: names of which nothing
more is known are families of their own.
"""

import re

_FAMILIES = {
    "Google": ("google", "gemini", "gemma", "t5", "flan-t5", "mt5", "mulan", "audiolm", "usm", "soundstream"),
    "OpenAI": ("openai", "gpt", "chatgpt", "whisper", "jukebox"),
    "Qwen": ("qwen", "qwen2", "qwen3"),
    "AudioSet (YAMNet, VGGish)": ("yamnet", "vggish", "audioset"),
    "CLAP": ("clap", "laion-clap", "ms-clap", "msclap", "m2d-clap"),
    "Meta": (
        "meta", "pe-a", "pe-av", "pe-a-frame", "perception-encoder", "imagebind", "encodec", "audiomae",
        "hubert", "wav2vec", "roberta", "llama",
    ),
    "Mistral": ("mistral", "voxtral"),
    "NVIDIA": ("audio-flamingo", "nemotron"),
}  # fmt: skip
"""Families and the names that their models begin with or contain as a part."""

_PROVIDERS = {"google": "Google", "google-gla": "Google", "google-vertex": "Google", "google-cloud": "Google"}
"""Providers that serve their own models alone. Others speak a protocol that many servers share."""


def family(name: str) -> str:
    """The model family of a judge or an encoder, by its name; an unknown name is a family of its own.

    Args:
        name: ``google:gemini-2.5-pro``, ``whisper-large-v3``, ``PE-A-Frame``, ...
    """
    provider, _, model = name.strip().casefold().rpartition(":")
    plain = re.sub(r"[\s_/]+", "-", model)
    best, found = 0, _PROVIDERS.get(provider, plain)
    for title, names in _FAMILIES.items():
        for one in names:  # the longest name that fits tells most: flan-t5 before t5
            if len(one) > best and re.search(rf"(?<![a-z]){re.escape(one)}(?![a-z])", plain):
                best, found = len(one), title
    return found


def statement(listener: str, generator_encoder: str) -> tuple[bool | None, str]:
    """Whether judge and encoder are of one family (None if no encoder was named), and that in words."""
    if not generator_encoder.strip():
        return None, (
            f"Whether {listener} is independent of the systems under test is not known: the encoder they "
            "were built with was not named (--generator-encoder)."
        )
    judge, encoder = family(listener), family(generator_encoder)
    if judge == encoder:
        return True, (
            f"{listener} is of the same model family ({judge}) as {generator_encoder}, the encoder of the "
            "systems under test: the evaluation is circular to that extent. Repeat it with a judge of "
            "another family."
        )
    said = (
        f"{listener} ({judge}) is of another model family than {generator_encoder} ({encoder}), the encoder "
        "of the systems under test, so they are not judged by their own ear."
    )
    unknown = [
        name for name, its in ((listener, judge), (generator_encoder, encoder)) if its not in _FAMILIES
    ]
    if unknown:
        said += f" Of {' and '.join(unknown)} nothing but the name is known."
    return False, said


def warnings(listener: str, generator_encoder: str) -> list[str]:
    """What a reader of the scores must be warned of: a judge of the systems' own family."""
    same, said = statement(listener, generator_encoder)
    return [said] if same else []
