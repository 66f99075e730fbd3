"""Edits and deletions: what becomes of a turn whose message changes.

Stated rules:
- An edit or a deletion never starts a turn. Only the author's own counts.
- While the message waits, an edit replaces it in its place and a deletion drops it; a turn that loses its last
  message is dropped.
- While its turn runs or waits for a person, the newer text is given to the turn before its next request to the
  model; a turn that makes no more requests says at its end that it did not read the change.
- After the turn, both do nothing. A command in an edit is no command, and leaves the message as it was.
"""

from dataclasses import replace

from gateway.clock import Clock, to_ms
from gateway.commands import parse_command
from gateway.intake import gathering
from gateway.messages import MessageDeleted, MessageEdited, Target
from gateway.store import messages, pending
from gateway.store.tx import Tx


def change(tx: Tx, edit: MessageEdited) -> int | None:
    """Apply an edit; returns the turn that it changed, or None if it changed nothing."""
    found = pending.find(tx, Target.of(edit.source), edit.message_id)
    if (
        found is None
        or found.turn.requester != edit.source.requester
        or parse_command(edit.text) is not None
        or not edit.text.strip()
    ):
        return None
    turn = found.turn
    if turn.state != "queued":
        kept = pending.say_newer(tx, found.heard_by, edit.message_id, edit.text)
        return found.heard_by if kept else None
    parts = [
        replace(part, text=edit.text) if part.message_id == edit.message_id else part
        for part in turn.input.parts
    ]
    pending.rewrite(
        tx, turn.id, turn.input.with_parts(parts), gathers=turn.gathers, not_before_ms=turn.ready_at
    )
    messages.reword(tx, found.line_id, edit.text)
    return turn.id


def take_back(tx: Tx, deletion: MessageDeleted, clock: Clock) -> int | None:
    """Apply a deletion; returns the turn that lost the message, or None if nothing changed."""
    found = pending.find(tx, Target.of(deletion.source), deletion.message_id)
    if found is None or found.turn.state != "queued":
        return None
    turn = found.turn
    pending.forget(tx, Target.of(deletion.source), deletion.message_id)
    parts = pending.without(turn.input, deletion.message_id)
    if parts:
        # The rest of a split text is waited for only as long as its beginning stands.
        has_lost_end = turn.gathers == gathering.TEXT and parts[-1] != turn.input.parts[-1]
        goes_on = None if has_lost_end else turn.gathers
        pending.rewrite(
            tx,
            turn.id,
            turn.input.with_parts(parts),
            gathers=goes_on,
            not_before_ms=turn.ready_at if goes_on else None,
        )
    else:
        pending.drop(tx, turn, "its message was deleted", to_ms(clock()))
    messages.take_back(tx, found.line_id)
    return turn.id
