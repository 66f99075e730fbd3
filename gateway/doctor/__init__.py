"""`parley doctor`: what is set up well, what is not, and what to do about it; works beside a running daemon.

`house` looks at this machine (folders, database, disk, clock), `accounts` asks each adapter, `gateway.daemon` looks at
models and tool servers, `examine` puts it together. A check changes nothing.
"""

from gateway.doctor.accounts import AccountToCheck
from gateway.doctor.examine import examine
from gateway.doctor.parts import Part

__all__ = ["AccountToCheck", "Part", "examine"]
