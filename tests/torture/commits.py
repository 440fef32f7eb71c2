"""Commits rows to an SQLite file one by one, and says so after each: to try powercut.c on.

`python -m tests.torture.commits PATH off|full`
"""

from __future__ import annotations

import sqlite3
import sys


def main() -> None:
    """Commit until killed."""
    path, synchronous = sys.argv[1:]
    conn = sqlite3.connect(path, isolation_level=None)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute(f"PRAGMA synchronous = {synchronous}")
    conn.execute("CREATE TABLE IF NOT EXISTS line (number INTEGER PRIMARY KEY, text TEXT)")
    while True:
        added = conn.execute("INSERT INTO line (text) VALUES (?)", ("x" * 500,))
        print(added.lastrowid, flush=True)


if __name__ == "__main__":
    main()
