"""Recall over phrases and precision over heard events."""

from earwitness.events import Event
from earwitness.scores.presence import event_precision, event_recall

DOG, CAT = {"Dog", "Bark"}, {"Cat", "Meow"}


def heard(*labels: str) -> list[Event]:
    return [Event(label, 0, 1, 0.5) for label in labels]


def test_recall_counts_phrases_not_events() -> None:
    assert event_recall([DOG, CAT], heard("Bark", "Dog", "Dog")) == 0.5
    assert event_recall([DOG, CAT], []) == 0
    assert event_recall([], heard("Dog")) is None


def test_an_ancestor_is_not_an_extra_sound() -> None:
    implied = [DOG | {"Animal"}, CAT | {"Animal"}]
    assert event_precision(implied, {"Dog", "Siren"}, heard("Dog", "Animal")) == 1
    assert event_precision(implied, {"Dog", "Siren"}, heard("Dog", "Siren")) == 0.5


def test_labels_the_listener_does_not_claim_are_not_held_against_a_clip() -> None:
    assert event_precision([DOG], {"Dog"}, heard("Dog", "Inside, small room")) == 1
    assert event_precision([DOG], set(), heard("Dog", "Inside, small room")) == 0.5


def test_precision_over_nothing_is_undefined() -> None:
    assert event_precision([DOG], {"Dog"}, []) is None
