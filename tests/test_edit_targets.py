"""What an instruction or two captions ask an edit to bring in and take away."""

from pathlib import Path

import pytest

from earwitness.manifest import Item
from earwitness.tasks.edit_targets import Targets, of_captions, of_instruction, of_item


@pytest.mark.parametrize(
    ("text", "added", "removed"),
    [
        ("Add a dog barking", ["dog barking"], []),
        ("add: rain", ["rain"], []),
        ("Please add a dog barking and a cat meowing.", ["dog barking", "cat meowing"], []),
        ("Add the sound of a car horn in the background", ["car horn in the background"], []),
        ("Drop the sound of a woman talking", [], ["woman talking"]),
        ("REMOVE the siren", [], ["siren"]),
        ("Delete a sheep bleating", [], ["sheep bleating"]),
        ("Replace laughter with a trumpet", ["trumpet"], ["laughter"]),
        ("Replace the sound of squeak to the sound of clapping", ["clapping"], ["squeak"]),
        ("Replace: clink by thunder", ["thunder"], ["clink"]),
    ],
)
def test_plain_instructions_are_read(text: str, added: list[str], removed: list[str]) -> None:
    assert of_instruction(text) == Targets(tuple(added), tuple(removed))


@pytest.mark.parametrize(
    "text",
    [
        "Make it louder",
        "Do not add a dog",
        "(add; not known) a dog barks, while a cat meows",
        "Add laughter after the speech",
        "Add a dog barking while the man talks",
        "Add a dog barking, but keep the rest",
        "Add a dog. Remove the cat.",
        "Remove the dog and add a cat",
        "Replace the dog",
        "Replace a man with a hat with a cat",
        "Replace a dog barking to a crowd with rain",
        "Add",
        "addition of rain",
        "Add nothing but silence",
    ],
)
def test_anything_else_is_not_guessed(text: str) -> None:
    targets = of_instruction(text)
    assert (targets.added, targets.removed) == ((), ())
    assert "instruction" in targets.why


def test_captions_are_compared_by_what_their_phrases_ask_for() -> None:
    assert of_captions("A dog barks", "dog barking, then a cat meows") == Targets(("cat meows",), ())
    assert of_captions("rain and a man speaking", "rain and a woman speaking") == Targets(
        ("woman speaking",), ("man speaking",)
    )
    assert of_captions("a siren wails", "a siren is wailing").why == "the captions name the same sounds"


def item(**given: str) -> Item:
    return Item("a", "1", Path("e.wav"), given.pop("caption", ""), source_audio=Path("s.wav"), **given)  # type: ignore[arg-type]


def test_columns_come_before_the_instruction_and_that_before_the_captions() -> None:
    every = {"added": "rain; a dog barking", "instruction": "Add wind", "source_caption": "a siren",
             "caption": "a siren and a cat meowing"}  # fmt: skip
    assert of_item(item(**every)) == Targets(("rain", "a dog barking"), ())
    assert of_item(item(**every | {"added": ""})) == Targets(("wind",), ())
    assert of_item(item(**every | {"added": "", "instruction": "do it"})) == Targets(("cat meowing",), ())
    assert of_item(item(removed="rain")) == Targets((), ("rain",))


def test_a_source_caption_alone_tells_no_target() -> None:
    assert of_item(item(source_caption="a dog barks")).why == "there is no instruction"
    assert of_item(item()).why
