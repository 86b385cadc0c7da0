"""What a workflow is run with that its file does not say: the server of tools, and the models."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import qualified_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.authoring import FormatOptions, Notes

__all__ = ["OPTIONS", "Settings", "settings_of"]

OPTIONS: Final = frozenset({"server", "model", "vision_model"})
#: What starts the server that Clickweave itself uses.
SERVER: Final = "npx -y native-devtools-mcp"


@dataclass(frozen=True, slots=True)
class Settings:
    """The command that starts the server, and the models of steps and of images; empty for none."""

    command: tuple[str, ...]
    model: str = ""
    vision_model: str = ""

    @property
    def told(self) -> dict[str, Any]:
        """What a run tells at its start: the models that were given."""
        models = {"model": self.model, "vision_model": self.vision_model}
        given = {name: model for name, model in models.items() if model}
        return {"models": given} if given else {}

    @property
    def conversation(self) -> Mapping[str, Any]:
        """What the walk begins with."""
        return {"config": {"model": self.model}} if self.model else {}

    @property
    def server_config(self) -> dict[str, Any]:
        """The config of the node that offers the tools."""
        return {"servers": [{"command": list(self.command)}]}


def settings_of(options: FormatOptions, notes: Notes) -> Settings:
    """Read what was said besides the file."""
    given = options.get("server", SERVER)
    try:
        command = shlex.split(given)
    except ValueError as error:
        command = []
        notes.problem((), f"the option server cannot be read: {error}")
    if not command and not notes.problems:
        notes.problem((), "the option server is empty; expected a command, with its arguments")
    models = (_model(options, name, notes) for name in ("model", "vision_model"))
    return Settings((*command,), *models)


def _model(options: FormatOptions, name: str, notes: Notes) -> str:
    """Return a model with its provider; empty if none is given."""
    if name not in options:
        return ""
    model = qualified_model(options[name])
    if model is None:
        notes.problem((), f"option {name}: expected provider/name, found {options[name]!r}")
    return model or ""
