"""For authors of adapters: the suite every adapter has to pass, and stand-ins for the platforms Parley knows.

    parley_testing.contract    the suite; docs/adding-an-adapter.md shows how an adapter goes on stage
    parley_testing.simulators  servers that speak the platforms' protocols; `python -m parley_testing.simulators --help`
    parley_testing.plugin      loaded by pytest itself: the fixtures of both

In Parley's own repository these are links to `tests/`, whose tests use them from there. They need what
`pip install 'parley-gateway[testing]'` brings.
"""
