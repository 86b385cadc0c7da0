from __future__ import annotations
from tests.typing.examples_agents import newsroom, lead, story, main, files
newsroom.add(lead, prompt=story.out.context)            # E1 context into a data port
newsroom.add(lead, prompt="x", context=story.out.text)  # E2 data into a context port
newsroom.add(lead, prompt="x", tools=main)              # E3 context into a tools port
newsroom.add(lead, prompt="x", context=files)           # E4 tools into a context port
newsroom.add(lead)                                      # E5 no prompt
