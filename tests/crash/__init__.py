"""Kills the real daemon again and again while people talk to it, and counts what became of every message."""
