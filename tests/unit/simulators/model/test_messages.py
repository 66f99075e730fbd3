"""What the simulated Anthropic service refuses, as the real one does."""

import pytest

from tests.simulators.model.errors import ModelApiError
from tests.simulators.model.messages import check_request, refusal

TOOLS = [{"name": "echo", "input_schema": {"type": "object"}}]
USER = {"role": "user", "content": "hi"}
CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "echo", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}
SAYS = {"role": "assistant", "content": [{"type": "text", "text": "yes"}]}


def body(*messages, tools=TOOLS, **more):
    return {"model": "m", "max_tokens": 9, "messages": list(messages), "tools": tools, **more}


def test_a_whole_conversation_passes():
    check_request(body(USER, CALL, RESULT, SAYS, USER))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "not valid JSON"),
        (body(), "at least one message"),
        (body(USER, max_tokens=None), "max_tokens"),
        (body(SAYS, USER), "roles must alternate"),
        (body(USER, USER), "roles must alternate"),
        (body(USER, CALL, RESULT, tools=None), "must define tools"),
        (body(USER, CALL), "without `tool_result`"),
        (body(USER, CALL, USER), "without `tool_result`"),
        (body(USER, SAYS, RESULT), "unexpected `tool_use_id`"),
        (body({"role": "user", "content": ""}), "non-empty content"),
        (body({"role": "user", "content": [{"type": "text", "text": ""}]}), "must be non-empty"),
        (
            body(
                USER, CALL, {"role": "user", "content": [{"type": "text", "text": "x"}, *RESULT["content"]]}
            ),
            "must come first",
        ),
        (body(USER, tools=[*TOOLS, *TOOLS]), "must be unique"),
        (body(USER, tools=[{"name": "no such/tool", "input_schema": {"type": "object"}}]), "pattern"),
    ],
)
def test_what_breaks_a_rule_is_refused_in_the_services_words(given, said):
    with pytest.raises(ModelApiError) as caught:
        check_request(given)
    assert said in refusal(caught.value)["error"]["message"]
    assert refusal(caught.value)["error"]["type"] == "invalid_request_error"
