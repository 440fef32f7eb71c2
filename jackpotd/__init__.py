"""The daemon of a progressive-jackpot controller: sockets, record, web and commands."""

__version__ = "0.1.0"
