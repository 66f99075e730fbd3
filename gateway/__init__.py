"""The gateway: sessions, turns, requests and delivery between chat platforms and an agent.

Read `docs/architecture.md` for the path of a message; each module's first lines say its place on it.
"""
