"""`python -m nearly` is the command `nearly`."""

from nearly.cli import main

main()
