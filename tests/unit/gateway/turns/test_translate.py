"""The dictionary between what the agent says and what is stored: there and back without loss."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.calls import ToolCall
from agent.events import Checkpoint, Paid, Record, Responded, ToolReturned, ToolStarted, Usage
from gateway.store.turns import StoredEvent
from gateway.turns.translate import encode, from_record, records_of, to_record

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
ARGS = st.none() | st.dictionaries(TEXT, JSON, max_size=3)
CALLS = st.builds(ToolCall, id=TEXT, name=TEXT, server=TEXT, tool=TEXT, args=ARGS, raw_args=TEXT)
RECORDS: st.SearchStrategy[Record] = st.one_of(
    st.builds(Checkpoint, name=st.sampled_from("ABC"), data=st.dictionaries(TEXT, JSON, max_size=3)),
    st.builds(
        Responded,
        message_json=TEXT,
        text=TEXT,
        calls=st.lists(CALLS, max_size=3).map(tuple),
        usage=st.builds(Usage, input_tokens=st.integers(0), output_tokens=st.integers(0)),
    ),
    st.builds(Paid, usage=st.builds(Usage, output_tokens=st.integers(0)), model=st.none() | TEXT),
    st.builds(ToolStarted, call_id=TEXT, effect=st.sampled_from(["read", "idempotent", "external"])),
    st.builds(
        ToolReturned,
        call_id=TEXT,
        outcome=st.sampled_from(["ok", "error", "denied", "unknown"]),
        content=TEXT,
    ),
)


@pytest.mark.req("EVT-3")
@given(records=st.lists(RECORDS, max_size=6))
def test_records_come_back_from_the_store_as_they_were(records: list[Record]) -> None:
    events = tuple(
        StoredEvent(idx=idx, kind=kind, payload=encode(payload))
        for idx, (kind, payload) in enumerate(map(from_record, records))
    )

    assert records_of(events) == tuple(records)


@pytest.mark.parametrize("kind", ["meta", "status", "thinking", "text", "retract", "tool", "request", "done"])
def test_what_only_people_see_rebuilds_nothing(kind: str) -> None:
    assert to_record(StoredEvent(idx=0, kind=kind, payload=json.dumps({"name": "A"}))) is None
