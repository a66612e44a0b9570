"""The queue: order, limits, refusals, several processes, and a kill -9 at every system call."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from decimal import Decimal
from pathlib import Path

from bank_client import ServerError, Unauthorized, Unavailable, calls
from bank_client import queue as module
from bank_client.queue import Queue, QueueError, QueueFull
from bank_client.shapes import NewCharge, NewDeposit
from bank_client.transport import Reply



def deposit(amount, key=None):
    return calls.post_deposits(NewDeposit(name="chem", amount=Decimal(amount)), idempotency_key=key)


class Bank:
    """Carries out each key once and notes it in a file, as the daemon does. `faults` come before the answers."""

    def __init__(self, path, faults=()):
        self.path, self.faults, self.asked = Path(path), list(faults), []
        self.path.touch()

    def done(self):
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def reply(self, call):
        self.asked.append(call.key)
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, Exception):
            raise fault
        if isinstance(fault, Reply):
            return fault
        if call.key not in [key for key, _ in self.done()]:
            with open(self.path, "a") as file:
                file.write(json.dumps([call.key, call.body.decode()]) + "\n")
        return Reply(201, [], b"{}")

    def amounts(self):
        return [json.loads(body)["amount"] for _, body in self.done()]


def refusal(status=409, code="key_reused"):
    return Reply(status, [], json.dumps({"code": code, "detail": "no", "hint": "another key"}).encode())


def away(may_be_done=False):
    return Unavailable("away", may_be_done=may_be_done, key=None)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bank = Bank(self.folder / "bank")
        self.queue = Queue(self.folder / "queue", self.bank)

    def names(self, folder="waiting"):
        return sorted(os.listdir(self.folder / "queue" / folder))


class Drains(Case):
    def test_calls_are_sent_in_their_order_and_removed(self):
        for amount in range(1, 6):
            self.queue.put(deposit(amount))
        self.assertEqual((len(self.queue), self.bank.amounts()), (5, []))
        self.assertEqual(self.queue.drain(max_calls=2).left, 3)
        self.assertEqual(self.queue.drain(), module.Drained(done=3, refused=0, left=0))
        self.assertEqual(self.bank.amounts(), ["1", "2", "3", "4", "5"])
        self.assertEqual(self.names(), [])

    def test_a_call_waits_while_the_bank_is_away(self):
        self.queue.put(deposit(1))
        for fault in (away(), away(True), Reply(401, [], b""), Reply(500, [], b"")):
            self.bank.faults = [fault]
            with self.assertRaises((Unavailable, Unauthorized, ServerError)):
                self.queue.drain()
            self.assertEqual(len(self.queue), 1)
        other = Queue(self.folder / "queue", self.bank)
        self.assertEqual(other.drain().done, 1)
        self.assertEqual(len(set(self.bank.asked)), 1)

    def test_a_refused_call_does_not_stop_the_others(self):
        first = deposit(1)
        name = self.queue.put(first)
        self.queue.put(deposit(2))
        self.bank.faults = [refusal()]
        self.assertEqual(self.queue.drain(), module.Drained(done=1, refused=1, left=0))
        (found,) = self.queue.refused()
        self.assertEqual((found.name, found.call, found.status), (name, first, 409))
        self.assertEqual((found.code, found.text, found.hint), ("key_reused", "no", "another key"))
        self.assertEqual(self.queue.drain().done, 0)
        self.queue.retry(found.name)
        self.assertEqual((len(self.queue), self.queue.refused()), (1, []))
        self.assertEqual(self.queue.drain().done, 1)
        self.assertEqual(self.bank.amounts(), ["2", "1"])
        self.assertNotIn(first.key, [key for key, _ in self.bank.done()])

    def test_a_refused_call_can_be_removed(self):
        self.queue.put(deposit(1))
        self.bank.faults = [refusal()]
        self.queue.drain()
        self.queue.remove(self.queue.refused()[0].name)
        self.assertEqual(self.names("refused"), [])
        for name in ("../../etc/passwd", "x.json"):
            with self.assertRaisesRegex(QueueError, "no call"):
                self.queue.remove(name)

    def test_a_call_that_is_refused_in_part_is_kept_with_its_answer(self):
        answers = [
            (calls.post_nami_end("<Jobs/>"), b"ok done\nrefused project_unknown: no project\n"),
            (calls.post_batch({"commands": []}), b'{"answers": [], "refused": 1}'),
            (calls.post_usage({"records": []}), b'{"items": [{"id": "1", "outcome": "refused"}]}'),
        ]
        for call, body in answers:
            name = self.queue.put(call)
            self.bank.faults = [Reply(200, [], body)]
            self.assertEqual(self.queue.drain().refused, 1)
            (found,) = self.queue.refused()
            self.assertEqual((found.code, found.answer["body"]), ("partly_refused", body.decode()))
            with self.assertRaisesRegex(QueueError, "parts of this call were done"):
                self.queue.retry(name)
            self.queue.remove(name)
        self.queue.put(answers[0][0])
        self.bank.faults = [Reply(200, [], b"ok done\n")]
        self.assertEqual(self.queue.drain().done, 1)

    def test_a_damaged_item_is_kept_aside(self):
        name = self.queue.put(deposit(1))
        self.queue.put(deposit(2))
        (self.folder / "queue" / "waiting" / name).write_bytes(b"\0\0")
        self.assertEqual(self.queue.drain(), module.Drained(done=1, refused=1, left=0))
        self.assertEqual(self.queue.refused()[0].code, "damaged_item")

    def test_the_time_of_a_document_is_that_of_its_put(self):
        self.queue.put(calls.post_nami_end("<Job/>"))
        stored = json.loads((self.folder / "queue" / "waiting" / self.names()[0]).read_text())
        self.assertRegex(stored["event_time"], r"^20..-..-..T.*Z$")


class Keys(Case):
    """The bank forgets keys after seven days, except those of charges."""

    def age(self, days):
        for name in self.names():
            number, sent, end = name.split(".")
            old = f"{number}.{int(sent) - days * 86_400}.{end}"
            os.rename(self.folder / "queue" / "waiting" / name, self.folder / "queue" / "waiting" / old)

    def test_an_old_call_with_an_unknown_outcome_is_not_repeated(self):
        self.queue.put(deposit(1))
        self.bank.faults = [away(True)]
        with self.assertRaises(Unavailable):
            self.queue.drain()
        self.age(5)
        self.bank.faults = [away()]
        with self.assertRaises(Unavailable):
            self.queue.drain()
        self.age(2)
        self.assertEqual(self.queue.drain().refused, 1)
        self.assertEqual((self.queue.refused()[0].code, self.bank.amounts()), ("outcome_unknown", []))

    def test_a_call_that_no_server_received_waits_without_a_limit(self):
        self.queue.put(deposit(1))
        self.bank.faults = [away()]
        with self.assertRaises(Unavailable):
            self.queue.drain()
        self.assertRegex(self.names()[0], r"^[0-9]{20}-[0-9a-f]{16}\.json$")

    def test_a_charge_is_repeated_for_ever(self):
        self.queue.put(calls.post_charges(NewCharge(job="1")))
        self.bank.faults = [away(True)]
        with self.assertRaises(Unavailable):
            self.queue.drain()
        self.assertRegex(self.names()[0], r"^[0-9]{20}-[0-9a-f]{16}\.json$")


class Limits(Case):
    def test_a_full_queue_is_an_error(self):
        small = Queue(self.folder / "queue", self.bank, max_items=2, max_item_bytes=100)
        small.put(deposit(1))
        small.put(deposit(2))
        with self.assertRaisesRegex(QueueFull, "2 calls; the limit is 2"):
            small.put(deposit(3))
        with self.assertRaisesRegex(QueueFull, "body has .* bytes; the limit of .* is 100"):
            small.put(calls.post_projects({"name": "x" * 100}))
        with self.assertRaisesRegex(QueueFull, "bytes; the limit is 500"):
            Queue(self.folder / "queue", self.bank, max_bytes=500).put(deposit(3))
        self.assertEqual(len(small), 2)

    def test_only_calls_that_write_are_queued(self):
        with self.assertRaisesRegex(ValueError, "writes nothing"):
            self.queue.put(calls.get_status())


class Processes(Case):
    def test_threads_put_and_drain_at_once(self):
        def put(first):
            queue = Queue(self.folder / "queue", self.bank)
            for number in range(first, first + 25):
                queue.put(deposit(number + 1))

        threads = [threading.Thread(target=put, args=(first,)) for first in range(0, 100, 25)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads) or len(self.queue):
            self.queue.drain()
        self.assertEqual(sorted(map(int, self.bank.amounts())), list(range(1, 101)))

    def test_a_second_process_does_not_drain(self):
        self.queue.put(deposit(1))
        code = (
            "import fcntl, os, sys; f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600); "
            "fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
        )
        lock = str(self.folder / "queue" / "drain.lock")
        pipe = subprocess.PIPE
        with subprocess.Popen([sys.executable, "-c", code, lock], stdin=pipe, stdout=pipe, text=True) as other:
            self.assertEqual(other.stdout.readline(), "held\n")
            self.assertEqual(self.queue.drain(), module.Drained(done=0, refused=0, left=1, busy=True))
            self.queue.put(deposit(2))
            other.stdin.close()
        self.assertEqual(self.queue.drain().done, 2)


class Kills(Case):
    """A child process works on the queue and kills itself before its n-th system call on files."""

    CALLS = ("open", "write", "fsync", "rename", "unlink", "mkdir")

    def child(self, work, at):
        """Runs `work` in a child. True if it was killed."""
        pid = os.fork()
        if pid == 0:
            count = 0

            def counted(function):
                def run(*args, **kwargs):
                    nonlocal count
                    count += 1
                    if count == at:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return function(*args, **kwargs)

                return run

            try:
                for name in self.CALLS:
                    setattr(os, name, counted(getattr(os, name)))
                work()
                os._exit(0)
            except BaseException:
                os._exit(9)
        status = os.waitpid(pid, 0)[1]
        self.assertIn(status, (0, signal.SIGKILL), f"the child failed at {at}")
        return status != 0

    def every(self, prepare, work, check):
        at = 1
        while True:
            folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
            bank = Bank(folder / "bank")
            prepare(folder, bank)
            killed = self.child(lambda: work(folder, bank), at)
            check(folder, bank, killed)
            if not killed:
                return at
            at += 1

    def test_a_put_that_returned_is_never_lost(self):
        def work(folder, bank):
            queue = Queue(folder / "queue", bank)
            for amount in (1, 2):
                queue.put(deposit(amount, f"k{amount}"))
                descriptor = os.open(folder / f"returned{amount}", os.O_CREAT)
                os.close(descriptor)

        def check(folder, bank, killed):
            queue = Queue(folder / "queue", bank)
            queue.drain()
            for amount in (1, 2):
                if (folder / f"returned{amount}").exists():
                    self.assertIn(str(amount), bank.amounts())
                # The program does not know whether its last put was done, and repeats it.
                queue.put(deposit(amount, f"k{amount}"))
            queue.drain()
            self.assertEqual(bank.amounts(), ["1", "2"])
            self.assertEqual((len(queue), queue.refused()), (0, []))

        self.assertGreater(self.every(lambda *_: None, work, check), 15)

    def test_a_drain_that_is_killed_loses_and_repeats_nothing(self):
        def prepare(folder, bank):
            queue = Queue(folder / "queue", bank)
            for amount in (1, 2, 3):
                queue.put(deposit(amount))

        def work(folder, bank):
            bank.faults = [None, refusal()]
            Queue(folder / "queue", bank).drain()

        def check(folder, bank, killed):
            queue = Queue(folder / "queue", bank)
            # The bank refuses what it refused before.
            asked = bank.reply

            def reply(call):
                return refusal() if b'"2"' in call.body else asked(call)

            bank.reply = reply
            queue.drain()
            self.assertEqual(bank.amounts(), ["1", "3"])
            (found,) = queue.refused()
            self.assertEqual((found.code, json.loads(found.call.body)["amount"]), ("key_reused", "2"))

        self.assertGreater(self.every(prepare, work, check), 15)

    def test_a_retry_that_is_killed_is_done_once(self):
        def prepare(folder, bank):
            queue = Queue(folder / "queue", bank)
            queue.put(deposit(1))
            bank.faults = [refusal()]
            queue.drain()

        def work(folder, bank):
            queue = Queue(folder / "queue", bank)
            queue.retry(queue.refused()[0].name)

        def check(folder, bank, killed):
            queue = Queue(folder / "queue", bank)
            queue.drain()
            for found in queue.refused():
                queue.retry(found.name)
            queue.drain()
            self.assertEqual((bank.amounts(), len(queue), queue.refused()), (["1"], 0, []))

        self.assertGreater(self.every(prepare, work, check), 5)


if __name__ == "__main__":
    unittest.main()
