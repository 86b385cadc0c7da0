"""Contract examples for asks and stores."""
from __future__ import annotations
from typing import Literal
from dataflow import Flow, Store, collect, each
from tests.typing.examples_core import digest, fetch, join, score, split, summarise

# --- the flow of the study ---------------------------------------------------------------------------
async def release_text(text: str, approved: bool) -> str: return text
with Flow("study") as study:
    page = study.add(fetch, url=study.input("url", str))
    with study.loop(limit=3) as rounds:
        doc   = rounds.carry(page.out)
        parts = study.add(split, doc=doc.out)
        brief = study.add(summarise, text=each(parts.out.chunks))
        text  = study.add(join, title=parts.out.title, parts=collect(brief.out))
        grade = study.add(score, text=text.out)
        rounds.until(grade.out.quality, lambda q: q >= 0.8)
        doc.next(text.out)
    best = rounds.result(text.out)
    yes  = study.when(study.ask(bool, "Publish?", show=best).out, lambda yes: yes)
    study.output("url", study.add(release_text, text=best, approved=yes.yes).out)

# --- 5. human approval: pause here, resume in another process -------------------------------------------
async def publish(text: str, approved: Literal[True] | bool) -> str: return text

with Flow("release") as release:
    body = release.input("url", str)
    final = release.add(digest, url=body)                            # a flow is a node
    answer = release.ask(bool, "Publish this?", show=final.out, name="approve", expires=3 * 86400)
    go = release.when(answer.out, lambda yes: yes)
    release.output("published", release.add(publish, text=final.out, approved=go.yes).out)

async def process_one() -> str:
    r = await release.using(store=Store.sqlite("runs.db")).run(url="https://example.org")
    assert r.status == "paused" and r.asks[0].id == "approve"
    return r.run_id
async def process_two(run_id: str) -> None:
    r = await release.using(store=Store.sqlite("runs.db")).resume(run_id, {"approve": True})
    print(r.status, r["published"])

# --- a loop that ends when a person says so
async def minutes(parts: list[str]) -> str: return "\n".join(parts)
with Flow("talk") as conversation:
    with conversation.loop(name="talk", limit=None) as talk:
        line = talk.carry("")
        said = conversation.ask(str, "Say", show=line.out)
        talk.until(said.out, lambda s: s == "bye")
        line.next(said.out)
    conversation.output("minutes", conversation.add(minutes, parts=talk.all(said.out)).out)
async def stored() -> str:
    return await digest.using(store=Store.sqlite("x"))("https://example.org")
