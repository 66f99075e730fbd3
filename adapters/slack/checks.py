"""What `parley doctor` says of an app, from what Slack says of it (pure)."""

from collections.abc import Iterator

from adapters.slack.scopes import NEEDED, WANTED, missing_scopes
from gateway.adapter import Condition, Finding

INSTALL = "add them under OAuth & Permissions at https://api.slack.com/apps and install the app again"


def known(user: str, team: str) -> Finding:
    """The finding of a bot token that Slack takes."""
    return Finding(name="bot token", state="ok", detail=f"{user} in {team}")


def bot_refused(reason: str) -> Finding:
    """The finding of a bot token that Slack does not take, or of no answer."""
    return Finding(
        name="bot token",
        state="failed",
        detail=reason,
        fix="set slack.bot_token (xoxb-…, under OAuth & Permissions); slack.api_base must be reachable from here",
    )


def scope_findings(granted: frozenset[str] | None) -> Iterator[Finding]:
    """Missing scopes by name, with what does not work without them."""
    if granted is None:
        yield Finding(
            name="scopes",
            state="warning",
            detail="the answer names none",
            fix="something between here and Slack drops the header x-oauth-scopes; nothing else can be said",
        )
        return
    missing = missing_scopes(granted)
    if not missing:
        yield Finding(name="scopes", state="ok", detail=f"all {len(WANTED)} are there")
    for scope in sorted(missing):
        state: Condition = "failed" if scope == NEEDED else "warning"
        yield Finding(name=f"scope {scope}", state=state, detail=f"missing: {WANTED[scope]}", fix=INSTALL)


def app_token(refusal: str) -> Finding:
    """Whether a socket can be opened; `refusal` is "" where Slack gave an address for one."""
    if not refusal:
        return Finding(name="app token", state="ok", detail="Socket Mode can be used")
    return Finding(
        name="app token",
        state="failed",
        detail=refusal,
        fix="switch Socket Mode on, make an app-level token (xapp-…) with the scope connections:write,"
        " and set slack.app_token",
    )


def signing_secret(*, is_set: bool, address: str) -> Finding:
    """HTTP mode, of which nothing can be asked: what must be right on Slack's side is said."""
    if not is_set:
        return Finding(
            name="signing secret",
            state="failed",
            detail="missing: nothing that Slack posts could be told from forgeries",
            fix="copy it from Basic Information of the Slack app into slack.signing_secret",
        )
    return Finding(
        name="signing secret", state="ok", detail=f"set; Slack's Request URLs must lead to {address}"
    )
