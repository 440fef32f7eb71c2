"""`python -m jackpotd` is the command `jackpotd`."""

from jackpotd.cli import main

main(prog_name="jackpotd")
