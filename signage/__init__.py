"""What displays get: the board of committed values, its feed, event streams and pages."""
