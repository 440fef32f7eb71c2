"""The rules of the money: pure, deterministic, and unaware of sockets, clocks and databases."""
