"""A haiku and a verdict on it: two turns with a model, the second of them typed.

With OPENAI_API_KEY set the model answers; without it a script does, and nothing is sent anywhere.
"""

import os
import sys
from contextlib import nullcontext

from pydantic import BaseModel

from dataflow import Flow
from dataflow_agent import Chat, chat, scripted


class Verdict(BaseModel):
    is_good: bool
    reason: str


with Flow("haiku") as haiku:
    poet = haiku.context("poet", system="You write haiku.", model="openai/gpt-5-mini")
    draft = haiku.add(chat, prompt=haiku.input("topic", str), context=poet)
    judged = haiku.add(
        chat.with_(retries=2), prompt="Judge it.", context=draft.out.context, config=Chat(answer=Verdict)
    )
    haiku.output("draft", draft.out.text)
    haiku.output("verdict", judged.out.answer)

SCRIPT = (
    "Rain on the tin roof,\nthe cat counts every drop twice,\nthen sleeps through the rest.",
    Verdict(is_good=True, reason="the cat"),
)


def main() -> None:
    topic = sys.argv[1] if len(sys.argv) > 1 else "rain"
    with nullcontext() if os.environ.get("OPENAI_API_KEY") else scripted(*SCRIPT):
        result = haiku.run_sync(topic=topic)
    print(result["draft"])
    print(f"good: {result['verdict'].is_good}, because: {result['verdict'].reason}")


if __name__ == "__main__":
    main()
