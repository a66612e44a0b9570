"""Drives the package bank-client for the suite: one command a line, one answer a line.

Usage: client_python.py FOLDER RETRY_S

FOLDER is the folder of the queue. BANK_SERVER, BANK_KEY_ID and BANK_KEY_FILE name the bank, as for the command `bank`.
"""

import inspect
import sys
from decimal import Decimal

from bank_client import BankError, Client, Refused, calls
from bank_client.queue import Queue
from bank_client.shapes import NewCharge, NewDeposit, NewWithdrawal

CLIENT = Client.from_environment(retry_s=float(sys.argv[2]))
QUEUE = Queue(sys.argv[1], CLIENT)


def deposit(amount, key=None):
    body = NewDeposit(name="chemistry", amount=Decimal(amount))
    return calls.post_deposits(body, idempotency_key=key)


def charge(job):
    body = NewCharge(job=job, project="chemistry", user="amy", machine="colony", processors=1, duration_s=1)
    return calls.post_charges(body, idempotency_key=f"charge-{job}")


def put(amount, key):
    QUEUE.put(deposit(amount, key))
    return "kept"


def put_charges(first, last):
    for job in range(int(first), int(last) + 1):
        QUEUE.put(charge(str(job)))
    return "kept"


def withdrawal(amount):
    return calls.post_withdrawals(NewWithdrawal(name="chemistry", amount=Decimal(amount)))


def withdraw(amount):
    QUEUE.put(withdrawal(amount))
    return "kept"


def drain():
    result = QUEUE.drain()
    return f"done {result.done} refused {result.refused} left {result.left}"


def drain_all():
    while len(QUEUE):
        try:
            QUEUE.drain()
        except BankError:
            pass
    return "empty"


def refused():
    return " ".join(call.code for call in QUEUE.refused()) or "none"


def retry():
    for call in QUEUE.refused():
        QUEUE.retry(call.name)
    return f"{len(QUEUE)} waiting"


def send(amount):
    return str(CLIENT.send(deposit(amount)).amount)


def take(amount):
    return str(CLIENT.send(withdrawal(amount)).amount)


def questions():
    """Reads every list and every object that needs no name, as the types of the package."""
    read = 0
    for name in calls.ANSWERS:
        build = getattr(calls, name)
        parameters = inspect.signature(build).parameters.values()
        if not name.startswith("get_") or any(p.default is p.empty for p in parameters):
            continue
        try:
            CLIENT.send(build())
            read += 1
        except Refused as refusal:
            print(f"{name}: {refusal}", file=sys.stderr)
    return f"read {read}"


NAMES = "put put_charges withdraw drain drain_all refused retry send take questions"
COMMANDS = {name: globals()[name] for name in NAMES.split()}


def main():
    print("ready", flush=True)
    for line in sys.stdin:
        name, *words = line.split()
        try:
            answer = COMMANDS[name](*words)
        except Refused as refusal:
            answer = f"Refused {refusal.code} {refusal.needed} {refusal.available}"
        except BankError as error:
            answer = f"{type(error).__name__} {len(QUEUE)} left"
            print(error, file=sys.stderr, flush=True)
        print(answer, flush=True)


if __name__ == "__main__":
    main()
