"""The commands, by what they are for; `jackpotd.cli` puts them together."""
