"""Measurements against a floor, in one run; nothing here is asserted in tests."""
