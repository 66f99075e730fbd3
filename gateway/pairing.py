"""Lets strangers in: whoever writes to the bot directly gets a code, which an admin or the operator accepts.

A code is 8 characters, good for an hour and for one person; at most 3 are open per account, so that nobody can flood
the admins. Five wrong codes within an hour lock the taking of codes for an hour. A code is kept as its hash only.
Admins who have a direct chat with the bot get a card there; the press of any of them decides. Who is let in may
write to the bot directly; groups still need to be listed.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from gateway.access import Access
from gateway.clock import Clock, to_ms, utc_now
from gateway.delivery import Delivery
from gateway.messages import Target
from gateway.requests import Actor, Desk
from gateway.requests.cards import label
from gateway.requests.offers import DENY, Offer
from gateway.source import SessionSource
from gateway.store import lanes, pairings
from gateway.store.audit import AuditLog
from gateway.store.pairings import Pairing
from gateway.store.requests import Request
from gateway.store.tx import Tx

log = structlog.get_logger()

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""No characters that look alike."""
LENGTH = 8
HOUR_S = 3_600
OPEN_CODES = 3
WRONG_TRIES = 5
TOPIC = "pair"
LET_IN = Offer(label="Let in", choice="once", style="good")

PRIVATE = "This bot is private. Its owner can let you in with your user id, {user_id}."
WITH_CODE = (
    "This bot is private. To be let in, give its owner this code within an hour: {code}"
    " (`parley pair approve {code}`). Your user id is {user_id}."
)
WELCOME = "You have been let in. Write me anything; /help lists the commands."


def new_code() -> str:
    """A random code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What came of a try to let somebody in or out, in words; `done`: it changed something."""

    done: bool
    words: str


class Doorkeeper:
    """See the module; all methods that take a `tx` belong to the caller's transaction."""

    def __init__(
        self,
        *,
        access: Access,
        desk: Desk,
        delivery: Delivery,
        audit: AuditLog,
        admins: Mapping[str, frozenset[str]],
        is_pairing: bool,
        make_code: Callable[[], str] = new_code,
        clock: Clock = utc_now,
    ) -> None:
        """`admins` are the user ids of each platform's admins; `is_pairing`: strangers get codes."""
        self._access = access
        self._desk = desk
        self._delivery = delivery
        self._audit = audit
        self._admins = admins
        self._is_pairing = is_pairing
        self._make_code = make_code
        self._clock = clock
        desk.on_confirmation(TOPIC, self._confirmed)

    def load(self, tx: Tx) -> None:
        """Let those in who were let in before, once, at the start; if pairing is off, nobody."""
        paired = [each for each in pairings.listed(tx, self._now_ms()) if each.state == "paired"]

        def admit() -> None:
            for each in paired if self._is_pairing else ():
                self._access.admit(each.platform, each.account, each.user_id)

        tx.after_commit(admit)

    def greet(self, tx: Tx, source: SessionSource) -> None:
        """Tell a stranger who wrote directly how to get in: once, and again when their code has run out."""
        known = pairings.get(tx, platform=source.platform, account=source.account, user_id=source.user_id)
        now_ms = self._now_ms()
        if self._is_pairing and (known is None or known.state in {"stranger", "asked"}):
            if known is not None and known.state == "asked" and (known.expires_at or 0) > now_ms:
                return
            if (
                pairings.open_codes(tx, platform=source.platform, account=source.account, now_ms=now_ms)
                < OPEN_CODES
            ):
                self._give_code(tx, source)
                return
        if pairings.tell_once(
            tx, platform=source.platform, account=source.account, user_id=source.user_id, now_ms=now_ms
        ):
            self._delivery.post_notice(tx, Target.of(source), PRIVATE.format(user_id=source.user_id))

    def approve(self, tx: Tx, code: str, by: str) -> Decided:
        """Let the holder of a code in; `by` is who says so (platform:user, or the operator)."""
        now_ms = self._now_ms()
        if pairings.locked_until(tx) > now_ms:
            return Decided(done=False, words="Too many wrong codes: none is taken for an hour.")
        found = pairings.by_code(tx, _hash(code), now_ms)
        if found is None:
            pairings.wrong_try(tx, now_ms=now_ms, most=WRONG_TRIES, within_ms=HOUR_S * 1000)
            self._audit.write(tx, actor=by, action="pairing.wrong_code", target="pairing")
            return Decided(done=False, words="No open code reads so; codes are good for an hour.")
        self._let_in(tx, found, by)
        self._desk.withdraw(tx, _call_id(found.platform, found.account, found.user_id))
        return Decided(done=True, words=f"{found.person} is let in.")

    def revoke(self, tx: Tx, person: str, by: str) -> Decided:
        """Forget that a person (platform:user) was let in or refused; they are a stranger again."""
        platform, _, user_id = person.partition(":")
        known = pairings.of_person(tx, platform, user_id)
        if not known:
            return Decided(done=False, words=f"Nobody is known as {person}.")
        pairings.forget(tx, platform, user_id)
        for each in known:
            self._desk.withdraw(tx, _call_id(each.platform, each.account, each.user_id))
        self._audit.write(tx, actor=by, action="pairing.revoked", target=person)
        tx.after_commit(lambda: self._access.dismiss(platform, user_id))
        return Decided(done=True, words=f"{person} is a stranger again.")

    def _give_code(self, tx: Tx, source: SessionSource) -> None:
        code, now_ms = self._make_code(), self._now_ms()
        pairings.hold_code(
            tx,
            Target.of(source),
            user_id=source.user_id,
            code_hash=_hash(code),
            now_ms=now_ms,
            expires_at=now_ms + HOUR_S * 1000,
        )
        self._audit.write(tx, actor=source.requester, action="pairing.asked", target=source.requester)
        self._delivery.post_notice(tx, Target.of(source), WITH_CODE.format(code=code, user_id=source.user_id))
        targets = [
            lane.target
            for user_id in sorted(self._admins.get(source.platform, ()))
            if (
                lane := lanes.direct_with(tx, source.platform, source.account, f"{source.platform}:{user_id}")
            )
        ]
        if targets:
            name = label(source.user_name or "Somebody without a name")
            self._desk.confirm(
                tx,
                call_id=_call_id(source.platform, source.account, source.user_id),
                words=f"{name} (user id {source.user_id}) asks to be let in. Names can be chosen, ids cannot.",
                offered=((LET_IN, DENY),),
                targets=targets,
                lasts_s=HOUR_S,
            )

    def _confirmed(self, tx: Tx, request: Request, choice: str, actor: Actor) -> str:
        platform, account, user_id = json.loads(request.call_id.removeprefix(f"{TOPIC}:"))
        found = pairings.get(tx, platform=platform, account=account, user_id=user_id)
        if found is None or found.state != "asked":
            return "This was settled otherwise already."
        if choice == LET_IN.choice:
            self._let_in(tx, found, actor.id)
            return f"Let in by {actor.name}."
        pairings.decide(tx, found, "denied", actor.id)
        self._audit.write(tx, actor=actor.id, action="pairing.denied", target=found.person)
        return f"Refused by {actor.name}."

    def _let_in(self, tx: Tx, found: Pairing, by: str) -> None:
        pairings.decide(tx, found, "paired", by)
        self._audit.write(tx, actor=by, action="pairing.approved", target=found.person, account=found.account)
        if found.chat_id is not None:
            place = Target(
                platform=found.platform,
                account=found.account,
                chat_id=found.chat_id,
                thread_id=found.thread_id,
            )
            self._delivery.post_notice(tx, place, WELCOME)
        log.info("pairing.approved", person=found.person, by=by)
        tx.after_commit(lambda: self._access.admit(found.platform, found.account, found.user_id))

    def _now_ms(self) -> int:
        return to_ms(self._clock())


def _hash(code: str) -> str:
    return hashlib.sha256(code.strip().upper().encode()).hexdigest()


def _call_id(platform: str, account: str, user_id: str) -> str:
    return f"{TOPIC}:{json.dumps([platform, account, user_id])}"
