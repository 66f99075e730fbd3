"""The check that the gateway knows no platform finds what it should."""

import textwrap

from tests.borders import platform_names


def test_names_and_texts_are_found_and_comments_and_docstrings_are_not():
    source = '''
    """Of Telegram."""
    import adapters.telegram.settings
    LIMIT = 4096
    """As Telegram counts."""
    def send(slack, *, x=1):  # Discord
        """To Slack."""
        if x.platform == "telegram":
            return f"to {x} on Discord"
        return x.discord(Slack=2)
    '''

    assert sorted(platform_names(textwrap.dedent(source))) == [
        (3, "adapters.telegram.settings"),
        (6, "slack"),
        (8, "telegram"),
        (9, " on Discord"),
        (10, "Slack"),
        (10, "discord"),
    ]
