"""The command line, `parley`.

`loading` reads the configuration and the adapter table, `serving` starts or joins a daemon, `asking` looks at one,
`configuring` at its configuration, `doctoring` at all of it. The only part of the gateway that knows the adapter
table. Whatever can be wrong ends in one line that says what to do, and an exit code: 0; 1 it cannot be done;
3 no daemon runs (`status`); 75 restart wanted; 78 the configuration is wrong.
"""

import typer

from gateway.cli import asking, doctoring, previewing, serving, trusting
from gateway.cli.configuring import config_app

app = typer.Typer(
    name="parley", help="The gateway between chats and AI agents.", no_args_is_help=True, add_completion=False
)
app.command()(serving.run)
app.command()(serving.chat)
app.command()(doctoring.doctor)
app.command()(asking.status)
app.command()(asking.turns)
app.command()(asking.outbox)
app.command()(asking.requests)
app.command()(asking.sessions)
app.command()(asking.why)
app.command()(previewing.preview)
app.command()(trusting.grants)
app.add_typer(trusting.pair_app, name="pair")
app.add_typer(trusting.audit_app, name="audit")
app.add_typer(trusting.user_app, name="user")
app.add_typer(config_app, name="config")


def main() -> None:
    """The console script."""
    app()
