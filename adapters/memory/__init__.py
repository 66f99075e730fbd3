"""A platform inside the process: the reference for adapter authors and the double in tests."""
