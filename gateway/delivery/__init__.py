"""The one door out: whatever people are shown is an outbox row first, sent in order per destination.

`post` composes and queues, `sender` sends, `outcomes` decides what an error means. Neighbours: `turns`, `requests`
and `intake` queue; adapters show.
"""

from gateway.delivery.sender import Delivery

__all__ = ["Delivery"]
