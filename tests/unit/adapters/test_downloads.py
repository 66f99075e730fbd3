"""Where files of people may be fetched from."""

import pytest

from adapters.downloads import is_at

pytestmark = pytest.mark.req("ADP-8")

API = "https://slack.com/api/"


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("https://files.slack.com/files-pri/T1-F1/notes.txt", True),
        ("https://slack.com/x", True),
        ("http://files.slack.com/x", False),
        ("https://slack.com.evil.test/x", False),
        ("https://evilslack.com/x", False),
        ("https://slack.com@evil.test/x", False),
        ("https://evil.test/?slack.com", False),
        ("http://169.254.169.254/latest", False),
        ("file:///etc/passwd", False),
        ("F0123", False),
        ("", False),
    ],
)
def test_only_the_platforms_own_hosts_are_asked(address: str, allowed: bool) -> None:
    assert is_at(address, API, ("slack.com",)) is allowed


def test_a_local_server_is_its_own_host() -> None:
    assert is_at("http://127.0.0.1:81/files/x", "http://127.0.0.1:81/api/", ())
    assert not is_at("http://127.0.0.1:82/files/x", "http://127.0.0.1:81/api/", ())
