"""LLM judges that ask the fake server, and small runs with them."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import certifi
import pytest

from earwitness import runner
from earwitness.ledger import Heard, Ledger
from earwitness.listeners import open_listener
from earwitness.listeners.base import Listener
from earwitness.listeners.llm_options import LlmOptions
from earwitness.manifest import Item
from earwitness.questions import QUESTIONS
from earwitness.runner import Ask, Counts
from fake_llm import FakeLlm
from sounds import noise

WIRES = ("google", "openai")
NAMES = {"google": "google:gemini-2.5-pro", "openai": "openai:gpt-audio"}
VARIABLES = {"google": "GOOGLE_API_KEY", "openai": "OPENAI_API_KEY"}
KEY = "not-a-real-key-7f3a91c2d4e8"
_OTHERS = ("GEMINI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "GOOGLE_GENAI_USE_VERTEXAI", "HTTP_PROXY")


def options(server: FakeLlm, wire: str, **more: object) -> LlmOptions:
    """Settings that ask the fake server and lose no time on waiting."""
    quick = {"timeout_s": 20.0, "attempts": 3, "in_flight": 16}
    base_url = f"{server.url}/v1" if wire == "openai" else server.url
    return LlmOptions(**{"base_url": base_url, **quick, **more})  # type: ignore[arg-type]


@contextmanager
def keys() -> Iterator[None]:
    """An environment with keys for both wires and nothing else that clients look at."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _OTHERS:
            patch.delenv(name, raising=False)
        for name in VARIABLES.values():
            patch.setenv(name, KEY)
        patch.setenv("SSL_CERT_FILE", str(_one_certificate()))
        yield


@cache
def _one_certificate() -> Path:
    """Every client reads its certificates, a hundred of them in 60 ms; on loopback none is needed."""
    end = "-----END CERTIFICATE-----\n"
    first, _, _ = Path(certifi.where()).read_text(encoding="utf-8").partition(end)
    path = Path(tempfile.mkdtemp()) / "one.pem"
    path.write_text(first + end, encoding="utf-8")
    return path


@contextmanager
def judge(server: FakeLlm, wire: str, **more: object) -> Iterator[Listener]:
    with keys():
        listener = open_listener(NAMES[wire], llm=options(server, wire, **more))
        listener.ready()
        yield listener


def items(folder: Path, captions: Sequence[str], system: str = "a", seconds: float = 0.5) -> list[Item]:
    """One short clip for every caption, each of another sound."""
    made = []
    for seed, caption in enumerate(captions):
        path = folder / system / f"clip{seed:03d}.wav"
        noise(path, seed, seconds)
        made.append(Item(system=system, sample_id=path.stem, audio=path, caption=caption))
    return made


def alignment(repeats: int = 1) -> runner.Plan:
    """Ask for alignment with the item's caption."""
    return lambda stored: [
        Ask("caption", "alignment", {"caption": stored.item.caption}, repeat) for repeat in range(repeats)
    ]


def run(
    folder: Path, found: Sequence[Item], listener: Listener, plan: runner.Plan | None = None, **more: object
) -> Counts:
    """Hear the items into the ledger of a folder."""
    with Ledger.create(folder / "ledger.sqlite") as ledger:
        ledger.begin({}, found)
        return runner.run(ledger, listener, plan or alignment(), QUESTIONS, seed=0, **more)  # type: ignore[arg-type]


def heard(folder: Path) -> dict[str, list[Heard]]:
    """What the ledger holds, by caption."""
    with Ledger.read(folder / "ledger.sqlite") as ledger:
        return {stored.item.caption: ledger.heard(stored.item_id) for stored in ledger.items()}
