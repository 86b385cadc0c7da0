"""What a call of a server's tool comes to: what the model is told of it, images as they are."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from typing import Any, Final, TypeAlias

from dataflow import Image

__all__ = ["Content", "content_of", "joined", "shown"]

Content: TypeAlias = str | tuple[str | Image, ...]
"""What a message says: a text, or texts and images."""


_MEDIA_TYPE: Final = re.compile(r"image/[A-Za-z0-9][A-Za-z0-9.+-]*")


def joined(parts: list[str | Image]) -> Content:
    """Return parts as the content of a message: one text, unless there are images."""
    if any(isinstance(part, Image) for part in parts):
        return tuple(part for part in parts if part)
    return "\n".join(str(part) for part in parts)


def shown(content: Content) -> str:
    """Return content as one text, in which each image is only named."""
    if isinstance(content, str):
        return content
    return "\n".join(part if isinstance(part, str) else f"[image, {part.media_type}]" for part in content)


def content_of(result: Any) -> Content:
    """Return what a result says: its texts, joined, else what it has of structure as JSON, and its images.

    Raises ValueError for what is no image.
    """
    texts: list[str] = []
    images: list[Image] = []
    for part in result.content:
        match part.type:
            case "text":
                texts.append(part.text)
            case "image":
                images.append(_image(part))
            case "resource" if getattr(part.resource, "text", None) is not None:
                texts.append(part.resource.text)
            case "resource_link":
                texts.append(f"[{part.name}]({part.uri})")
            case other:
                texts.append(f"[{other}, which cannot be shown]")
    if not texts and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":")))
    return joined(["\n".join(texts), *images] if texts else [*images])


def _image(part: Any) -> Image:
    if _MEDIA_TYPE.fullmatch(part.mime_type) is None:
        raise ValueError(f"an image of the type {part.mime_type!r}; expected one as 'image/png'")
    try:
        data = b64decode("".join(part.data.split()), validate=True)
    except ValueError as error:
        raise ValueError(f"the data of an image are no base64: {error}") from error
    if not data:
        raise ValueError("an image without data")
    return Image(part.mime_type, data)
