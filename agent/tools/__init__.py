"""Tools: what they are called, where they come from, how they run and what becomes of their results."""
