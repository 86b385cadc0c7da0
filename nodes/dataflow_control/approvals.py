"""`control.approval`: a human-in-the-loop request, and a switch on its answer."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationInfo, field_validator

from dataflow import SKIP, ArgumentInvalid, Flow, Maybe, NodeOutput, Port, Ports, flow, node
from dataflow_control.config import StrictConfig
from dataflow_control.diagnostics import EXPIRES_MISSING

__all__ = ["Approval", "Approved", "approval"]

T = TypeVar("T")

Word: TypeAlias = Literal["approve", "reject"]


class Decision(BaseModel):
    """A decision, with a note."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Word
    note: str = ""


Answer: TypeAlias = Decision | Word | bool


def _kind_of(answer: object) -> str:
    if isinstance(answer, bool):
        return "<bool>"
    return "<word>" if isinstance(answer, str) else "<decision>"


class Approval(StrictConfig):
    """Config of `control.approval`."""

    prompt: str = Field(default="Approve?", description="what is asked; the input `prompt` goes before it")
    expires: float | None = Field(
        default=None,
        gt=0,
        le=100 * 365 * 86_400,  # the limit of every ask
        allow_inf_nan=False,
        description="seconds after which the ask takes its default, or fails without one",
    )
    default: (
        Annotated[
            Annotated[Decision, Tag("<decision>")]
            | Annotated[Word, Tag("<word>")]
            | Annotated[bool, Tag("<bool>")],
            Discriminator(_kind_of),
        ]
        | None
    ) = Field(default=None, description="the answer if there is none in time; it needs `expires`")

    @field_validator("default")
    @classmethod
    def _check_default(cls, default: Answer | None, info: ValidationInfo) -> Answer | None:
        if default is not None and info.data.get("expires", 0) is None:
            raise ArgumentInvalid(EXPIRES_MISSING())
        return default


class Approved(NamedTuple, Generic[T]):
    """The outputs of an approval: the value on one of two branch outputs, and the note of the answer."""

    approve: Maybe[T]
    reject: Maybe[T]
    note: str


@node(
    name="ask",
    ports=Ports(
        {"value": Any, "prompt": Port(str, default=""), "show": Port(Any, default=None)}, {"out": Answer}
    ),
)
async def _ask(inputs: dict[str, Any], config: Approval) -> NodeOutput:
    """Ask for a decision on a value; shows `show`, or the value if it is null."""
    shown = inputs["value"] if inputs["show"] is None else inputs["show"]
    asked: dict[str, Any] = {"prompt": inputs["prompt"] or config.prompt, "show": shown}
    asked["expires"] = config.expires
    if config.default is not None:
        asked["default"] = config.default
    return NodeOutput(status="paused", metadata={"ask": asked})


@node(name="switch")
async def _switch(value: T, answer: Answer) -> Approved[T]:
    """Pass the value to the branch output that the answer names."""
    match answer:
        case Decision(decision=decision, note=note):
            is_approved = decision == "approve"
        case _:
            is_approved, note = answer in ("approve", True), ""
    return Approved(value, SKIP, note) if is_approved else Approved(SKIP, value, note)


@flow
def approval(
    f: Flow,
    value: T,
    prompt: str = "",
    show: Any = None,
    *,
    config: Approval = Approval(),  # noqa: B008 - frozen
) -> Approved[T]:
    """Ask whether a value may go on, and pass it on to `approve` or to `reject`.

    The answer is `{"decision": "approve", "note": "..."}` with `approve` or `reject`, the word alone, or true
    or false; `note` is the note of the answer, or empty. The ask shows the value, or `show`. Its id is the
    path of the node and `/ask`.
    """
    answer = f.add(_ask, value=value, prompt=prompt, show=show, config=config)
    decided = f.add(_switch, value=value, answer=answer.out)
    return Approved(decided.out.approve, decided.out.reject, decided.out.note)
