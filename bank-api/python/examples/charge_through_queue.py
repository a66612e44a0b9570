"""Charges a finished job through a queue on disk, so that no charge is lost while the bank is away.

    charge_through_queue.py FOLDER JOB PROJECT USER MACHINE PROCESSORS SECONDS

The next run sends what waits. BANK_SERVER names the daemon, as for the command `bank`.
"""

import sys

from bank_client import BankError, Client, calls
from bank_client.queue import Queue
from bank_client.shapes import NewCharge


def main(folder: str, job: str, project: str, user: str, machine: str, processors: str, seconds: str) -> int:
    queue = Queue(folder, Client.from_environment(retry_s=5))
    charge = NewCharge(
        job=job, project=project, user=user, machine=machine, processors=int(processors), duration_s=int(seconds)
    )
    # The key follows from the job: if this program is started again for the same job, the job is charged once.
    queue.put(calls.post_charges(charge, idempotency_key=f"charge-{machine}-{job}"))
    try:
        result = queue.drain()
    except BankError as error:
        print(f"{len(queue)} waiting: {error}", file=sys.stderr)
        return 0
    print(f"{result.done} done, {result.refused} refused, {result.left} waiting")
    for call in queue.refused():
        print(f"{call.name} was refused: {call.code}: {call.text}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
