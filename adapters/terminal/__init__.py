"""The terminal as a platform: one person, one chat."""
