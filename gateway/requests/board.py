"""Puts requests on cards, and changes the cards: what the desk decides, people see by this.

A card is an outbox row of kind `card`; a request may have several (repeated, sent on), each in its own place and
with buttons of its own. A change without buttons takes them away.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from gateway.delivery import Delivery
from gateway.document import Document, document, paragraph, text_document
from gateway.messages import Button, Target
from gateway.requests import offers
from gateway.requests.cards import Asking, Card, Prompt, always_card
from gateway.requests.faces import Face, Settling, face_of
from gateway.requests.granting import granted_words
from gateway.store import cards, grants, outbox
from gateway.store import requests as rows
from gateway.store.outbox import Draft
from gateway.store.requests import Request
from gateway.store.tx import Tx

Buttons = tuple[tuple[Button, ...], ...]


class Board:
    """See the module; all methods belong to the caller's transaction."""

    def __init__(self, delivery: Delivery, *, new_token: Callable[[], str]) -> None:
        self._delivery = delivery
        self._new_token = new_token

    def open(self, tx: Tx, request: Request, target: Target, card: str) -> None:
        """Show a request on the turn's part `card`; the calls of a round share one."""
        assert request.turn_id is not None
        shown = outbox.live_card(tx, request.turn_id, card)
        if shown is not None:
            outbox.point_card(tx, shown, request.id)
        made = self._open_card(tx, request, target)
        self._delivery.post(
            tx,
            Draft(
                target=target,
                kind="edit" if shown is not None else "card",
                body=made.body,
                buttons=self._first_buttons(tx, request, made),
                idem_key=self._delivery.draft_key(),
                turn_id=request.turn_id,
                part=None if shown is not None else f"{card}:{request.id}",
                request_id=request.id,
                edits=shown,
            ),
        )

    def post_confirmation(
        self,
        tx: Tx,
        request_id: int,
        target: Target,
        words: str,
        offered: tuple[offers.Row, ...],
        reply_to: str | None,
    ) -> None:
        """Ask in a chat for something that blocks no lane."""
        self._post(tx, target, request_id, text_document(words), offered, reply_to=reply_to)

    def repeat(self, tx: Tx, request: Request, target: Target, *, kept: int, reply_to: str | None) -> None:
        """The request once more, for somebody who wrote instead of answering."""
        capabilities = self._delivery.capabilities(target)
        face = _face(request)
        body = face.reminder(kept=kept, measure=capabilities.measure, limit=capabilities.limit)
        offered = face.first_offers(needed=request.needed, show_all=False)
        self._post(tx, target, request.id, body, offered, reply_to=reply_to)

    def send_on(self, tx: Tx, request: Request, target: Target, place: Target) -> None:
        """The request's card in another chat than `place`, where nobody answered."""
        made = self._open_card(tx, request, target, sent_on_from=place_words(place))
        offered = _face(request).first_offers(needed=request.needed, show_all=made.hidden > 0)
        self._post(tx, target, request.id, made.body, offered)

    def ask_what_for(self, tx: Tx, request: Request, token: str, held: Sequence[offers.Held]) -> bool:
        """Change the card that shows this button to the second one; False if it is not there any more."""
        place = self._place_of(tx, request, token)
        if place is None:
            return False
        row_id, target = place
        capabilities = self._delivery.capabilities(target)
        prompt = Prompt.from_json(request.prompt)
        made = always_card(
            prompt, self._asking(tx, request), measure=capabilities.measure, limit=capabilities.limit
        )
        buttons = self._buttons(tx, request.id, offers.always_offers(prompt, held))
        self._edit(tx, target, row_id, made.body, request, buttons)
        return True

    def ask_again(self, tx: Tx, request: Request, token: str | None = None) -> bool:
        """Change a pending request's cards, or the one that shows this button, back to the first question."""
        if token is None:
            places = cards.of_request(tx, request.id)
        else:
            place = self._place_of(tx, request, token)
            places = [place] if place is not None else []
        for row_id, target in places:
            made = self._open_card(tx, request, target)
            self._edit(tx, target, row_id, made.body, request, self._first_buttons(tx, request, made))
        return bool(places)

    def settle(self, tx: Tx, request: Request, progress: str) -> None:
        """Change all cards of a settled request: what became of it, and how its call fares."""
        for row_id, target in cards.of_request(tx, request.id):
            self._edit(tx, target, row_id, self._settled_body(tx, request, progress, target), request)

    def show_all(self, tx: Tx, face: Face, target: Target) -> None:
        """All that a card had to shorten, in as many messages as it takes."""
        for piece in self._delivery.cut(target, face.whole()):
            self._delivery.post_notice(tx, target, piece)

    def _settled_body(self, tx: Tx, request: Request, progress: str, target: Target) -> Document:
        if request.kind == "confirmation":
            return document(
                *text_document(request.prompt).blocks,
                paragraph(request.reason or "Nobody answered in time."),
            )
        capabilities = self._delivery.capabilities(target)
        granted = grants.of_request(tx, request.id)
        settling = Settling(
            state=request.state,
            by=request.decided_by or "",
            at=datetime.fromtimestamp((request.decided_at or 0) / 1000, tz=UTC),
            progress=progress,
            terms="" if granted is None else granted_words(granted),
            answer=request.answer or "",
        )
        face = _face(request)
        return face.settled_card(settling, measure=capabilities.measure, limit=capabilities.limit).body

    def _open_card(
        self, tx: Tx, request: Request, target: Target, *, sent_on_from: str | None = None
    ) -> Card:
        capabilities = self._delivery.capabilities(target)
        asking = self._asking(tx, request, sent_on_from)
        return _face(request).open_card(asking, measure=capabilities.measure, limit=capabilities.limit)

    def _asking(self, tx: Tx, request: Request, sent_on_from: str | None = None) -> Asking:
        return Asking(
            minutes=_minutes(request),
            needed=request.needed,
            approved_by=tuple(rows.votes(tx, request.id).values()) if request.needed > 1 else (),
            sent_on_from=sent_on_from,
        )

    def _place_of(self, tx: Tx, request: Request, token: str) -> tuple[int, Target] | None:
        showing = cards.showing(tx, request.id, token)
        return next((place for place in cards.of_request(tx, request.id) if place[0] == showing), None)

    def _post(
        self,
        tx: Tx,
        target: Target,
        request_id: int,
        body: Document,
        offered: tuple[offers.Row, ...],
        *,
        reply_to: str | None = None,
    ) -> None:
        self._delivery.post(
            tx,
            Draft(
                target=target,
                kind="card",
                body=body,
                buttons=self._buttons(tx, request_id, offered),
                idem_key=self._delivery.draft_key(),
                reply_to=reply_to,
                request_id=request_id,
            ),
        )

    def _edit(
        self, tx: Tx, target: Target, row_id: int, body: Document, request: Request, buttons: Buttons = ()
    ) -> None:
        self._delivery.post(
            tx,
            Draft(
                target=target,
                kind="edit",
                body=body,
                buttons=buttons,
                idem_key=self._delivery.draft_key(),
                request_id=request.id,
                edits=row_id,
            ),
        )

    def _first_buttons(self, tx: Tx, request: Request, card: Card) -> Buttons:
        offered = _face(request).first_offers(needed=request.needed, show_all=card.hidden > 0)
        return self._buttons(tx, request.id, offered)

    def _buttons(self, tx: Tx, request_id: int, offered: tuple[offers.Row, ...]) -> Buttons:
        return tuple(tuple(self._button(tx, request_id, offer) for offer in line) for line in offered)

    def _button(self, tx: Tx, request_id: int, offer: offers.Offer) -> Button:
        token = self._new_token()
        rows.add_button(tx, token=token, request_id=request_id, choice=offer.choice)
        return Button(label=offer.label, token=token, style=offer.style)


def _face(request: Request) -> Face:
    return face_of(request.kind, request.prompt)


def _minutes(request: Request) -> int:
    """For how long it is asked."""
    return max(1, round(((request.expires_at or request.created_at) - request.created_at) / 60_000))


def place_words(place: Target) -> str:
    """A chat for people: `platform:chat`."""
    return f"{place.platform}:{place.chat_id}"
