"""Protocol-level stand-ins for what Parley talks to.

Real HTTP servers on loopback, strict where the platform is strict.

`telegram.TelegramSimulator` and `model.ModelSimulator` are used in-process by tests (`fixtures.py`) or as
processes of their own (`python -m tests.simulators`). They import nothing of Parley, so anyone who writes an
adapter can use them. Shared: `recorder` (what was asked), `faults` (what shall go wrong), `changes`
(waiting), `control` (the same over HTTP).
"""
