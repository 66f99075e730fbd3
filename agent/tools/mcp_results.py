"""What an MCP tool returned → text for the model; everything that is not text becomes a named file.

Blocks when files are written; call it in a thread.
"""

import base64
import binascii
import json
import mimetypes

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from agent.tools.registry import ToolResult
from agent.tools.results import ResultFolder, suffix_of


def to_tool_result(result: CallToolResult, *, folder: ResultFolder, key: str) -> ToolResult:
    """The result in our form; `key` names its files."""
    lines = []
    for number, block in enumerate(result.content, 1):
        match block:
            case TextContent(text=text):
                lines.append(text)
            case ImageContent(data=data, mime_type=kind) | AudioContent(data=data, mime_type=kind):
                lines.append(_kept(data, kind, folder, f"{key}.{number}"))
            case EmbeddedResource(resource=TextResourceContents(text=text)):
                lines.append(text)
            case EmbeddedResource(resource=BlobResourceContents(blob=data, mime_type=kind)):
                lines.append(_kept(data, kind or "", folder, f"{key}.{number}"))
            case ResourceLink(name=name, uri=uri):
                lines.append(f"[link: {name} <{uri}>]")
    if not lines and result.structured_content is not None:
        lines.append(json.dumps(result.structured_content, ensure_ascii=False))
    return ToolResult(text="\n".join(lines), is_error=bool(result.is_error))


def _kept(encoded: str, media_type: str, folder: ResultFolder, stem: str) -> str:
    try:
        data = base64.b64decode(encoded)
    except binascii.Error:
        return f"[{media_type or 'binary data'}: damaged]"
    suffix = mimetypes.guess_extension(media_type) or suffix_of(data)
    name = folder.write(f"{stem}{suffix}", data)
    return f"[{media_type or 'binary data'}, {len(data):,} bytes, kept as {name}]"
