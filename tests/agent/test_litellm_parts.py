"""The pure parts of calling litellm: what is sent, and what its errors mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from dataflow import Image, Message, ToolCall
from dataflow_agent import ModelRequest, ModelUnavailable, Options, RateLimited, StreamInterrupted
from dataflow_agent.litellm_errors import retry_after, translated
from dataflow_agent.litellm_requests import arguments_of, options_of


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 0.0),
    ],
)
def test_when_to_come_again_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_time_to_come_again_is_counted_from_now() -> None:
    until = datetime.now(UTC) + timedelta(hours=1)
    found = retry_after({"retry-after": format_datetime(until, usegmt=True)})
    assert found is not None
    assert 3000 < found <= 3600


def test_an_error_that_is_not_of_litellm_stays_as_it_is() -> None:
    error = ValueError("no")
    assert translated("a/b", error, has_begun=True) is error


class RateLimitError(Exception):
    """As litellm's, which may have no response."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.litellm_response_headers = {"Retry-After": "2"}


class APIConnectionError(Exception):
    """As litellm's."""


@pytest.mark.parametrize(
    ("has_begun", "kind", "told"),
    [(False, ModelUnavailable, "gone"), (True, StreamInterrupted, "the answer broke off: gone")],
)
def test_what_breaks_after_the_answer_began_is_an_interruption(
    has_begun: bool, kind: type[Exception], told: str
) -> None:
    found = translated("a/b", APIConnectionError("AException - gone"), has_begun=has_begun)
    assert (type(found), str(found)) == (kind, f"model 'a/b': {told}")


def test_the_headers_may_stand_elsewhere() -> None:
    found = translated(
        "a/b", RateLimitError("litellm.RateLimitError: AException - no\n more"), has_begun=False
    )
    assert isinstance(found, RateLimited)
    assert (str(found), found.retry_after) == ("model 'a/b': no more", 2.0)


def test_images_are_sent_as_data() -> None:
    message = Message("user", ["look", Image("image/png", b"abc")])
    (sent,) = arguments_of(ModelRequest("a/b", (message,)))["messages"]
    assert sent["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,YWJj"}},
    ]


def test_what_is_no_part_of_a_message_is_refused() -> None:
    odd: Any = 3
    with pytest.raises(TypeError, match="a message consists of texts and images, found int"):
        arguments_of(ModelRequest("a/b", (Message("user", [odd]),)))


def test_only_what_is_asked_for_is_sent() -> None:
    assert options_of(ModelRequest("a/b", ())) == {}
    assert options_of(ModelRequest("a/b", (), options=Options(web_search=True))) == {"web_search_options": {}}
    plain = arguments_of(ModelRequest("a/b", (), options=Options(stream=False)))
    assert not plain.keys() & {"stream", "api_base", "temperature"}
    assert (plain["max_retries"], plain["num_retries"]) == (0, 0)


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ("", "{}"),
        ('{"a": 1, ', r'{"unreadable": "{\"a\": 1, "}'),
        ("[1]", '{"unreadable": "[1]"}'),
    ],
)
def test_arguments_that_are_none_are_sent_as_such_as_providers_read_them(written: str, sent: str) -> None:
    message = Message("assistant", "", (ToolCall("c", "add", written),))
    (given,) = arguments_of(ModelRequest("a/b", (message,)))["messages"]
    assert given["tool_calls"][0]["function"]["arguments"] == sent
