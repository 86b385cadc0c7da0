"""A tool server of our own: the archive of a newsroom, and a folder for its stories."""

import sys
from pathlib import Path

from mcp.server import MCPServer

ARCHIVE = {
    "harbour": "1931: the harbour froze over, and the ferry was moved on sledges.",
    "ferry": "2019: the ferry was sold, and bought back a year later.",
}
STORIES = Path(*sys.argv[1:2])

server = MCPServer("archive", log_level="WARNING")


@server.tool()
async def read_archive(word: str) -> str:
    """Find what the paper has once written, by a word."""
    return ARCHIVE.get(word.lower(), f"nothing about {word}; there is something about: {', '.join(ARCHIVE)}")


@server.tool()
def write_story(name: str, text: str) -> str:
    """Save a story under a name."""
    STORIES.mkdir(exist_ok=True)
    file = STORIES / f"{Path(name).stem}.md"
    file.write_text(f"{text}\n", encoding="utf-8")
    return f"saved as {file.name}"


if __name__ == "__main__":
    server.run("stdio")
