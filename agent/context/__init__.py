"""Keeps a conversation inside its model's window: counts it before each send and makes its middle one summary.

`folding` says how a compression changes a list of messages, and is all that has to be known to read stored ones;
`tokens` counts, `cut` says what may go, `summary` writes what stays of it, `compress` puts them together, and
`compact` does it on demand. What is durable of a compression is its record (`agent.events.Compressed`).
"""
