"""What an MCP tool returned → text for the model; everything that is not text becomes a named file, for people.

Blocks when files are written; call it in a thread.
"""

import base64
import binascii
import json
import mimetypes
from urllib.parse import unquote, urlsplit

from mcp_types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from agent.calls import ResultFile
from agent.tools.registry import ToolResult
from agent.tools.results import ResultFolder, suffix_of


def to_tool_result(result: CallToolResult, *, folder: ResultFolder, key: str) -> ToolResult:
    """The result in our form; `key` names its files."""
    lines: list[str] = []
    files: list[ResultFile] = []
    for number, block in enumerate(result.content, 1):
        match block:
            case TextContent(text=text):
                lines.append(text)
            case ImageContent() | AudioContent():
                _keep(block.data, block.mime_type, folder, f"{key}.{number}", lines, files, block.annotations)
            case EmbeddedResource(resource=TextResourceContents(text=text)):
                lines.append(text)
            case EmbeddedResource(resource=BlobResourceContents() as blob):
                place, mime_type = unquote(urlsplit(str(blob.uri)).path), blob.mime_type or ""
                stem = f"{key}.{number}"
                _keep(blob.blob, mime_type, folder, stem, lines, files, block.annotations, place)
            case ResourceLink(name=name, uri=uri):
                lines.append(f"[link: {name} <{uri}>]")
    if not lines and result.structured_content is not None:
        lines.append(json.dumps(result.structured_content, ensure_ascii=False))
    return ToolResult(text="\n".join(lines), is_error=bool(result.is_error), files=tuple(files))


def _keep(
    encoded: str,
    mime_type: str,
    folder: ResultFolder,
    stem: str,
    lines: list[str],
    files: list[ResultFile],
    annotations: Annotations | None,
    place: str = "",
) -> None:
    """Write one block's bytes to a file, and say so in `lines` and, if people are to have it, in `files`."""
    try:
        data = base64.b64decode(encoded)
    except binascii.Error:
        lines.append(f"[{mime_type or 'binary data'}: damaged]")
        return
    suffix = mimetypes.guess_extension(mime_type) or suffix_of(data)
    kept = folder.write(f"{stem}{suffix}", data)
    lines.append(f"[{mime_type or 'binary data'}, {len(data):,} bytes, kept as {kept}]")
    audience = annotations.audience if annotations is not None else None
    if data and (not audience or "user" in audience):
        name = place.rstrip("/") or f"{mime_type.partition('/')[0] or 'file'}-{len(files) + 1}{suffix}"
        files.append(ResultFile(kept=kept, name=name, mime_type=mime_type, size_bytes=len(data)))
