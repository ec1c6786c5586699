"""The network on a backbone's features, and its training with torch.

Conventions
-----------
Features of a clip, one row every 0.25 s, are standardised, mapped to ``hidden`` numbers row by row, seen
together with their neighbours by a convolution in time, and read as one logit a class; the loss is binary
cross-entropy at the cells' centres (see :mod:`.targets`). The backbone is frozen: it is not here at all.
Training stops early: after each epoch the mean average precision on mixtures of held recordings is taken, and
the weights of the best epoch are kept. The same features, settings and seed give the same weights on one
machine. What comes out needs no torch: listeners.trained_model runs it in numpy.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UserError
from earwitness.listeners.trained_model import Weights
from earwitness.scores import average_precision
from earwitness.training.targets import CENTRES

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Settings:
    """How a head is trained.

    Attributes:
        hidden: Units of its layers; 0 for a linear layer alone, as the paper trains.
        kernel: Rows that the convolution sees, odd.
        dropout: Share of units left out at each step.
        epochs: Most passes over the mixtures; the learning rate rises and falls over them.
        patience: Epochs without a gain on held recordings after which training ends.
        batch: Mixtures a step.
        rate, decay: AdamW's greatest learning rate and its weight decay.
    """

    hidden: int = 128
    kernel: int = 5
    dropout: float = 0.3
    epochs: int = 16
    patience: int = 4
    batch: int = 32
    rate: float = 1.5e-3
    decay: float = 1e-2


@dataclass(frozen=True, slots=True)
class Fitted:
    """A trained head.

    Attributes:
        history: mAP on held recordings after each epoch.
        epoch: The one kept, from 1.
    """

    weights: Weights
    history: tuple[float, ...]
    epoch: int


def torch() -> Any:
    """The module.

    Raises:
        MissingExtra: Naming the extra that brings it.
    """
    try:
        return importlib.import_module("torch")
    except ImportError as fault:
        raise MissingExtra("PyTorch, which training needs,", "torch") from fault


def fitted(
    rows: NDArray[np.float16],
    truth: NDArray[np.bool_],
    held_rows: NDArray[np.float16],
    held_truth: NDArray[np.bool_],
    classes: Sequence[str],
    *,
    counted: Sequence[str],
    settings: Settings,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Fitted:
    """Train a head.

    Args:
        rows: (mixtures, rows, features), read a batch at a time.
        truth: (mixtures, cells, classes).
        held_rows, held_truth: The same of mixtures of held recordings.
        counted: The classes whose average precision decides when to stop.
        progress: Called with epochs done and epochs in all.

    Raises:
        UserError: If torch is not installed, or no class can be told apart on the held recordings.
    """
    t = torch()
    t.manual_seed(seed)
    centre, scale = _standard(rows)
    net = _network(t, rows.shape[-1], len(classes), settings)
    steps = -(-len(rows) // settings.batch)
    optimiser = t.optim.AdamW(net.parameters(), lr=settings.rate, weight_decay=settings.decay)
    schedule = t.optim.lr_scheduler.OneCycleLR(
        optimiser, settings.rate, total_steps=settings.epochs * steps, pct_start=0.15
    )
    wanted = t.from_numpy(truth.astype(np.float32))
    rng = np.random.default_rng(seed)
    best, weights, history = -1.0, None, []
    for epoch in range(1, settings.epochs + 1):
        net.train()
        shuffled = rng.permutation(len(rows))
        for start in range(0, len(rows), settings.batch):
            picked = np.sort(shuffled[start : start + settings.batch])
            seen = t.from_numpy((rows[picked].astype(np.float32) - centre) / scale)
            said = net(seen)[:, CENTRES][:, : truth.shape[1]]
            loss = t.nn.functional.binary_cross_entropy_with_logits(said, wanted[picked])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        now = _weights(net, centre, scale)
        reached = average_precision.mean(
            average_precision.by_class(held_truth, cell_logits(now, held_rows, held_truth.shape[1]), classes),
            counted,
        )
        if reached is None:
            raise UserError(
                "No class can be measured on the held recordings.", "Use a bank with more of them."
            )
        history.append(reached)
        if reached > best:
            best, weights = reached, now
        if progress is not None:
            progress(epoch, settings.epochs)
        if epoch - 1 - int(np.argmax(history)) >= settings.patience:
            break
    assert weights is not None
    return Fitted(weights, tuple(history), int(np.argmax(history)) + 1)


def cell_logits(weights: Weights, rows: NDArray[np.float16], cells: int) -> Floats:
    """(mixtures, cells, classes) logits at the cells' centres."""
    return np.stack([weights(one.astype(np.float32))[CENTRES][:cells] for one in rows])


def _standard(rows: NDArray[np.float16], most: int = 500) -> tuple[Floats, Floats]:
    """Mean and scale of every feature, of the first mixtures; features that hardly vary are not blown up."""
    some = rows[:most].astype(np.float32).reshape(-1, rows.shape[-1])
    spread = some.std(axis=0) + 1e-3
    scale = np.maximum(spread, 0.05 * np.median(spread))
    return some.mean(axis=0), scale.astype(np.float32)


def _network(t: Any, features: int, classes: int, settings: Settings) -> Any:
    nn = t.nn
    if not settings.hidden:
        return nn.Sequential(nn.Linear(features, classes))

    class Head(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(features, settings.hidden)
            self.second = nn.Conv1d(
                settings.hidden, settings.hidden, settings.kernel, padding=settings.kernel // 2
            )
            self.last = nn.Linear(settings.hidden, classes)
            self.dropout = nn.Dropout(settings.dropout)

        def forward(self, rows: Any) -> Any:
            hidden = self.dropout(t.relu(self.first(rows))).transpose(1, 2)
            hidden = t.relu(self.second(hidden)).transpose(1, 2)
            return self.last(self.dropout(hidden))

    return Head()


def _weights(net: Any, centre: Floats, scale: Floats) -> Weights:
    state = {name: value.detach().numpy().copy() for name, value in net.state_dict().items()}
    arrays = {"centre": centre, "scale": scale}
    if "0.weight" in state:
        return Weights({**arrays, "last": state["0.weight"].T.copy(), "last_bias": state["0.bias"]})
    return Weights(
        {
            **arrays,
            "first": state["first.weight"].T.copy(),
            "first_bias": state["first.bias"],
            "second": state["second.weight"].transpose(2, 1, 0).copy(),  # (kernel, in, out)
            "second_bias": state["second.bias"],
            "last": state["last.weight"].T.copy(),
            "last_bias": state["last.bias"],
        }
    )
