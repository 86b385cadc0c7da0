"""What a call of a server's tool comes to: what the model is told of it, images as they are."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any, TypeAlias

from dataflow import Image

__all__ = ["Content", "content_of", "joined", "shown"]

Content: TypeAlias = str | tuple[str | Image, ...]
"""What a message says: a text, or texts and images."""


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
    """Return what a result says: its texts, joined, else what it has of structure as JSON, and its images."""
    texts: list[str] = []
    images: list[Image] = []
    for part in result.content:
        match part.type:
            case "text":
                texts.append(part.text)
            case "image":
                images.append(Image(part.mime_type, b64decode(part.data)))
            case "resource" if getattr(part.resource, "text", None) is not None:
                texts.append(part.resource.text)
            case "resource_link":
                texts.append(f"[{part.name}]({part.uri})")
            case other:
                texts.append(f"[{other}, which cannot be shown]")
    if not texts and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":")))
    return joined(["\n".join(texts), *images] if texts else [*images])
