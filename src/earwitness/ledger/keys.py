"""What content is: the key under which an answer is kept, and the hash of a file."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def content_key(
    pcm_hashes: Iterable[str],
    question: str,
    texts: Mapping[str, str],
    listener: str,
    version: str,
    settings: Mapping[str, Any],
    repeat: int,
) -> str:
    """sha256 of everything an answer depends on.

    Args:
        pcm_hashes: Of every clip, in the order in which they are heard.
        question: The question's fingerprint.
        texts: What is shown with it, by name; empty for detectors.
        repeat: Independent repeats are different content.
    """
    parts = [list(pcm_hashes), question, dict(texts), listener, version, dict(settings), repeat]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def file_hash(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
