"""What `parley doctor` says of a bot, from what Telegram says of it (pure)."""

from collections.abc import Iterator, Sequence

from telegram import BotCommand, User, WebhookInfo

from adapters.commands import COMMANDS
from adapters.telegram.settings import TelegramSettings
from gateway.adapter import Finding
from gateway.errors import AdapterError

PRIVACY = "privacy mode"


def refused(error: AdapterError, settings: TelegramSettings) -> Finding:
    """The finding of a bot that Telegram does not answer, or not as a bot."""
    return Finding(
        name="token",
        state="failed",
        detail=str(error),
        fix=f"set telegram.token to what @BotFather gives; {settings.api_base} must be reachable from here",
    )


def findings(
    me: User, webhook: WebhookInfo, menu: Sequence[BotCommand], settings: TelegramSettings
) -> tuple[Finding, ...]:
    """All findings of a bot whose token is good."""
    return (
        Finding(name="token", state="ok", detail=f"@{me.username}, id {me.id}"),
        _privacy(me),
        *_groups(me),
        *_webhook(webhook, settings),
        *_menu(menu, settings),
    )


def _privacy(me: User) -> Finding:
    # https://core.telegram.org/bots/features#privacy-mode (2026)
    if me.can_read_all_group_messages:
        return Finding(name=PRIVACY, state="ok", detail="off: in groups it hears everything")
    return Finding(
        name=PRIVACY,
        state="warning",
        detail="on: in groups it hears only what is addressed to it, so that groups: always has no effect",
        fix="if that is not wanted: @BotFather, /setprivacy, Disable; then take it out of the group and add it again",
    )


def _groups(me: User) -> Iterator[Finding]:
    if not me.can_join_groups:
        yield Finding(
            name="groups",
            state="warning",
            detail="it cannot be added to groups",
            fix="if that is not wanted: @BotFather, /setjoingroups, Enable",
        )


def _menu(menu: Sequence[BotCommand], settings: TelegramSettings) -> Iterator[Finding]:
    wanted = {command.name for command in COMMANDS} if settings.commands else set()
    if {command.command for command in menu} != wanted:
        yield Finding(
            name="commands",
            state="warning",
            detail="the menu that people see is not as it should be",
            fix="the daemon sets it when it connects",
        )


def _webhook(webhook: WebhookInfo, settings: TelegramSettings) -> Iterator[Finding]:
    if settings.mode == "webhook":
        yield _own_webhook(webhook, settings)
    elif webhook.url:
        yield Finding(
            name="webhook",
            state="warning",
            detail=f"Telegram sends what comes in to {_host(webhook.url)}, not here",
            fix="the daemon removes that webhook when it polls; if another program of yours set it, stop that one",
        )


def _own_webhook(webhook: WebhookInfo, settings: TelegramSettings) -> Finding:
    if webhook.url != settings.webhook_url:
        there = f"leads to {_host(webhook.url)}" if webhook.url else "is not set"
        return Finding(
            name="webhook",
            state="warning",
            detail=f"at Telegram it {there}",
            fix="the daemon sets it when it connects",
        )
    if webhook.last_error_message:
        return Finding(
            name="webhook",
            state="warning",
            detail=f"Telegram's last failure to deliver: {webhook.last_error_message}",
            fix=f"{_host(webhook.url)} must lead to {settings.http_host}:{settings.http_port}{settings.http_path}",
        )
    return Finding(name="webhook", state="ok", detail=f"{webhook.pending_update_count} updates wait")


def _host(url: str) -> str:
    """The part of an address that gives no secret away; paths of webhooks often hold one."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"
