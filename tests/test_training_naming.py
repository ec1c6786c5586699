"""What a trained detector says of its classes."""

from itertools import permutations

import pytest

from earwitness import labels
from earwitness.training import naming


@pytest.mark.parametrize(
    "classes",
    [
        ("A siren", "Siren"),
        ("A cat", "Cat"),
        ("0_dog", "dog_bark", "Dog"),
        ("1 siren", "siren", "Siren"),
        ("Barking", "Bark", "Dog"),
    ],
)
def test_no_two_classes_say_the_same_in_any_order(classes: tuple[str, ...]) -> None:
    for order in permutations(classes):
        said = naming.said(order)
        assert tuple(said) == order
        assert len(set(said.values())) == len(order)
        for name in order:
            assert said[name] == name or name not in labels.names()
