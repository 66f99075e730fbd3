"""The tests, and what is run from here by name: `python -m tests.requirements`, `python -m tests.simulators`."""
