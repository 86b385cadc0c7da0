"""`FORMAT`: recognise Clickweave files and translate them, with the settings that a file lacks."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, get_mappings, qualified_model
from dataflow_formats.clickweave.checks import check_workflow, remark_on
from dataflow_formats.clickweave.file import is_older, read_workflow
from dataflow_formats.clickweave.folders import RunFolder
from dataflow_formats.clickweave.layout import layout_of
from dataflow_formats.clickweave.trace import ClickweaveWords
from dataflow_formats.clickweave.writer import write_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.authoring import FormatOptions, JsonDict, Notes


__all__ = ["FORMAT", "OPTIONS", "Settings", "settings_of"]

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


def recognises(data: Any) -> bool:
    """Tell whether what a file holds is a workflow of Clickweave, of the present form or the older one."""
    return any("node_type" in node for node in get_mappings(data, "nodes")) or is_older(data)


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate a file that has been read into a native document."""
    settings = settings_of(options, notes)
    workflow = read_workflow(data, notes)
    if workflow is None:
        return {}
    check_workflow(workflow, notes)
    if notes.problems:
        return {}
    layout = layout_of(workflow, notes)
    if notes.problems:
        return {}
    remark_on(workflow, layout, settings, notes)
    return write_document(workflow, layout, settings, notes)


FORMAT: Final = Format("clickweave", recognises, translate, OPTIONS, ClickweaveWords, RunFolder)
