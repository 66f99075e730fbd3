"""`python -m gateway` is the command `parley`."""

from gateway.cli import main

main()
