"""The one door out: whatever people are shown is an outbox row first, sent in order per destination.

`sender` has the workers, `ledger` writes the outbox, `outcomes` decides what an error means, `platforms` knows the
adapters. A response that is shown while it is written is a `stream`, its text a `manuscript`; `live` shows it, as
`pacing` allows. `presence` is typing and reactions. Neighbours: `turns`, `requests` and `intake` queue; adapters show.
"""

from gateway.delivery.sender import Delivery
from gateway.delivery.stream import Ending, Place, Stream

__all__ = ["Delivery", "Ending", "Place", "Stream"]
