"""A group of verbs, and how their usage is written."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand


class Verbs(typer.Typer):
    """A group whose verbs show their arguments as documents do: ``TRUTH [NAME=]ESTIMATED...``."""

    def command(self, name: str | None = None, **how: Any) -> Callable[[Any], Any]:
        """As typer has it."""
        return super().command(name, cls=_Verb, **how)


class _Verb(TyperCommand):
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Options, then every argument; one that may be left out is in brackets."""
        arguments = [one for one in self.get_params(ctx) if isinstance(one, TyperArgument)]
        return ["[OPTIONS]", *map(_written, arguments)]


def _written(one: TyperArgument) -> str:
    name = one.metavar or str(one.name).upper()
    return (name if one.required else f"[{name}]") + ("..." if one.nargs != 1 else "")
