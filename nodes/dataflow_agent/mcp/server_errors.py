"""What goes wrong with tool servers, told so that one knows which server, which tool and why."""

from __future__ import annotations

from dataflow import DataflowError

__all__ = ["ServerDied", "ServerFailed", "ToolFailed"]


class ServerFailed(DataflowError):
    """Raised when a tool server cannot be started or reached, lets nobody in, or does not do its part.

    `text` says what has gone wrong, without the name of the server; `is_lasting` that a further start would
    come to the same.
    """

    def __init__(self, server: str, text: str, *, is_lasting: bool = False) -> None:
        self.server = server
        self.text = text
        self.is_lasting = is_lasting
        super().__init__(f"tool server {server!r} {text}")


class ServerDied(ServerFailed):
    """Raised when a tool server has ended, or cannot be reached any more, while it was in use."""


class ToolFailed(DataflowError):
    """Raised for a call that a tool server has answered with an error, or not in time."""

    def __init__(self, server: str, tool: str, text: str) -> None:
        self.server = server
        self.tool = tool
        self.text = text
        super().__init__(f"tool {tool!r} of server {server!r} {text}")
