"""Long-term memory: what is known of a person beyond one conversation.

`provider` is the border to whoever remembers, `lifecycle` takes providers through their life and keeps a slow or
failing one from anybody's way, `builtin` is our own, `extraction` what a review asks a model and reads from its answer.
"""
