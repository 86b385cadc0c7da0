"""What the configs of the node types share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field

from dataflow import Config, Secret
from dataflow_agent.models.model_names import model_name
from dataflow_agent.models.requests import Effort, Options
from dataflow_agent.tools.policies import policy_of

__all__ = ["ModelConfig", "Patterns", "StrictConfig", "check_model"]


def check_model(text: str) -> str:
    """Check the name of a model, if there is one; raises ValueError."""
    if text:
        model_name(text)
    return text


def _check_key(key: Secret) -> Secret:
    if not key.name.isidentifier():
        raise ValueError("expected the name of an environment variable, not a key itself")
    return key


def _check_patterns(given: list[str]) -> list[str]:
    policy_of(None, (), given)
    return given


#: Patterns of calls, as in a `Policy`.
Patterns: TypeAlias = Annotated[list[str], AfterValidator(_check_patterns)]


class StrictConfig(Config):
    """A config that takes its values as they are: no text becomes a number, nor the other way round."""

    model_config = ConfigDict(strict=True)


class ModelConfig(StrictConfig):
    """Which model is called, what it is told besides the conversation, and how it is to answer."""

    model_config = ConfigDict(hide_input_in_errors=True)  # which may be a key

    model: Annotated[str, AfterValidator(check_model)] = Field(
        default="", description="the model, written provider/model; without one that of the context"
    )
    system: str = Field(default="", description="instructions, told behind those of the context")
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False, description="how free it is")
    max_tokens: int | None = Field(default=None, ge=1, description="the longest answer, in tokens")
    reasoning_effort: Effort | None = Field(default=None, description="how much it thinks beforehand")
    web_search: bool = Field(default=False, description="whether the provider may search the web")
    stream: bool = Field(default=True, description="whether the answer comes in pieces")
    base_url: str = Field(default="", description="the address of a server in place of the provider's own")
    key: Annotated[Secret, AfterValidator(_check_key)] | None = Field(
        default=None, description="the secret in place of the provider's own variable"
    )
    max_images: int | None = Field(
        default=2, ge=0, description="the most images of the conversation that are sent, the newest"
    )
    max_result: int | None = Field(
        default=50_000,
        ge=100,
        description="the most characters that are sent of a result of a tool, of a longer one its ends",
    )

    @property
    def options(self) -> Options:
        """How the model is to answer."""
        return Options(
            self.temperature, self.max_tokens, self.reasoning_effort, self.web_search, self.stream,
            self.base_url, self.key,
        )  # fmt: skip
