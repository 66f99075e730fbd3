"""The agent behind the gateway: a provider that only sends, and a chat that owns loop, tools and history.

Imports neither `gateway` nor `adapters`; what it needs from them it states in `agent.ports`.
"""
