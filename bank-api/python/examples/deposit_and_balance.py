"""Deposits an amount into a project and prints the balances of its accounts.

    deposit_and_balance.py PROJECT AMOUNT

BANK_SERVER names the daemon, as for the command `bank`.
"""

import sys
from decimal import Decimal

from bank_client import Client, Refused
from bank_client.shapes import NewDeposit, Receipt


def main(project: str, amount: str) -> int:
    bank = Client.from_environment()
    try:
        answer = bank.post_deposits(NewDeposit(name=project, amount=Decimal(amount), note="example"))
    except Refused as refusal:
        print(f"refused: {refusal}", file=sys.stderr)
        return 1
    if isinstance(answer, Receipt):
        print(f"deposited {answer.amount} {answer.unit} into {answer.account}")
    else:
        # A site may require a second person for large amounts.
        print(f"waits for approval as proposal {answer.id}")
    for row in bank.iter_balances(project=project):
        print(f"{row.account}: {row.available} {row.unit} available, {row.held} held")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
