"""What an MCP tool returned, as text for the model and files for people."""

import base64
from pathlib import Path

import pytest
from mcp_types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
)

from agent.calls import ResultFile
from agent.tools.mcp_results import to_tool_result
from agent.tools.registry import ToolResult
from agent.tools.results import ResultFolder

pytestmark = pytest.mark.req("TOL-4", "ADP-8")

PDF = base64.b64encode(b"%PDF-1.7 page").decode()


def given(*content: object, folder: Path) -> ToolResult:
    return to_tool_result(
        CallToolResult(content=list(content)), folder=ResultFolder(folder), key="call_1_0_0"
    )


def test_a_resource_keeps_the_name_its_address_ends_with(tmp_path: Path):
    blob = BlobResourceContents(uri="file:///out/Annual%20report.pdf", mime_type="application/pdf", blob=PDF)
    result = given(EmbeddedResource(resource=blob), folder=tmp_path)
    assert result == ToolResult(
        text="[application/pdf, 13 bytes, kept as call_1_0_0.1.pdf]",
        files=(
            ResultFile(
                kept="call_1_0_0.1.pdf",
                name="/out/Annual report.pdf",
                mime_type="application/pdf",
                size_bytes=13,
            ),
        ),
    )
    assert (tmp_path / "call_1_0_0.1.pdf").read_bytes() == b"%PDF-1.7 page"


def test_what_has_no_name_gets_one_by_its_kind(tmp_path: Path):
    data = base64.b64encode(b"OggS sound").decode()
    result = given(
        TextContent(text="two"),
        ImageContent(data=data, mime_type="image/png"),
        AudioContent(data=data, mime_type="audio/ogg"),
        EmbeddedResource(resource=BlobResourceContents(uri="memory://", blob=data)),
        folder=tmp_path,
    )
    names = [file.name for file in result.files]
    assert names[0] == "image-1.png"
    assert names[1].startswith("audio-2.og")
    assert names[2] == "file-3.ogg"


def test_what_is_meant_for_the_model_alone_is_kept_and_not_handed_to_people(tmp_path: Path):
    data = base64.b64encode(b"\x89PNG").decode()
    audiences = (["assistant"], ["user"], ["user", "assistant"], None)
    pictures = [
        ImageContent(data=data, mime_type="image/png", annotations=Annotations(audience=audience))
        for audience in audiences
    ]
    result = given(*pictures, folder=tmp_path)
    assert [file.kept for file in result.files] == [f"call_1_0_0.{number}.png" for number in (2, 3, 4)]
    assert result.text.count("kept as") == 4


def test_damaged_data_is_said_to_be(tmp_path: Path):
    result = given(ImageContent(data="A", mime_type="image/png"), folder=tmp_path)
    assert result == ToolResult(text="[image/png: damaged]")
