"""What is a command and what is only text; what they do is shown in the flows."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.commands import HELP, Command, Name, parse_command


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/stop", Command(name="stop")),
        ("  /STOP  ", Command(name="stop")),
        ("/stop all", Command(name="stop", argument="all")),
        ("/deny it costs\ntoo much ", Command(name="deny", argument="it costs\ntoo much")),
        ("/nonsense", Command(name="nonsense")),
        ("/etc/hosts", None),
        ("/", None),
        ("/ stop", None),
        ("//stop", None),
        ("please /stop", None),
        ("/1", None),
        ("/stop!", None),
        ("", None),
    ],
)
def test_a_command_is_a_slash_a_word_and_the_rest(text: str, command: Command | None) -> None:
    assert parse_command(text) == command


@given(text=st.text(max_size=50))
def test_text_that_does_not_begin_with_a_slash_is_never_a_command(text: str) -> None:
    assert text.strip().startswith("/") or parse_command(text) is None


@given(name=st.sampled_from(get_args(Name)), argument=st.text(max_size=40))
def test_every_known_command_is_recognised_with_any_argument(name: str, argument: str) -> None:
    assert parse_command(f"/{name} {argument}") == Command(name=name, argument=argument.strip())


def test_help_knows_every_command_and_no_other() -> None:
    assert tuple(HELP) == get_args(Name)
