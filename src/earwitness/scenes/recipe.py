"""What a data set of scenes is drawn from: a recipe, seeded and random, that yields frozen scenes.

A recipe is plain data and can be pickled, so that workers draw and render apart. What it draws for a key
depends on its settings and that key alone: more keys change none of the others.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from earwitness.scenes.scene import Scene

MIX = "audio"
"""Role of the scene that answers the prompt."""


class Recipe(Protocol):
    """One family of scenes."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the draw depends on, as plain data: kept beside the data, and compared when a run goes on."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """Columns of ``metadata.csv`` after those that every data set has."""
        ...

    @property
    def card(self) -> str:
        """Markdown for the data set's card: what it is, how it was drawn, what was shared or left out."""
        ...

    def keys(self) -> Sequence[str]:
        """Names of all that is to be drawn, in order; each safe as a file's stem."""
        ...

    def draw(self, key: str) -> Mapping[str, Scene]:
        """The scenes of a key by role, which is also the folder of their mixes.

        :data:`MIX` is always there; ``references`` holds the second alternative of a prompt, ``source`` the
        clip before an edit. Each scene's ``scene_id`` is the key.

        Raises:
            UserError: If there can be no such scene, with the numbers.
        """
        ...

    def row(self, key: str, scenes: Mapping[str, Scene]) -> Mapping[str, str]:
        """The cells of the key's row in ``metadata.csv``, by column."""
        ...
