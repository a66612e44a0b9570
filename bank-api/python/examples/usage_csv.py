"""Writes the usage that ended in a period as CSV to standard output.

    usage_csv.py FROM UNTIL          for example 2026-01-01T00:00:00Z 2026-02-01T00:00:00Z

BANK_SERVER names the daemon, as for the command `bank`.
"""

import sys

from bank_client import Client


def main(start: str, end: str) -> int:
    bank = Client.from_environment()
    for part in bank.export("csv", from_=start, to=end):
        sys.stdout.write(part)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
