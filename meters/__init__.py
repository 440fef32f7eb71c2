"""The rules of the money: pure, deterministic, and unaware of sockets, clocks and databases.

"Rules 4.3" in a docstring is a section of docs/rules.md; "§" is one of 58 Pa. Code.
"""
