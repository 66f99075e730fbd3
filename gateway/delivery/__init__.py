"""The one door out: whatever people are shown is an outbox row first, sent in order per destination.

`sender` composes and sends, `ledger` writes the outbox, `outcomes` decides what an error means, `platforms` knows
the adapters. Neighbours: `turns`, `requests` and `intake` queue; adapters show.
"""

from gateway.delivery.sender import Delivery

__all__ = ["Delivery"]
