"""Amounts are exact, times have a zone, and JSON of another shape is an error that names the place."""

import json
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from bank_client.shapes import (
    ConfirmClock,
    HardwareWritten,
    NewCharge,
    NewDeposit,
    NewProject,
    NewTransfer,
    OnDemandBalances,
    Receipt,
)
from bank_client.values import BadValue, Page, decode, from_json, to_json

RECEIPT = {"account": "chem", "amount": "0.1", "unit": "credits", "active": True}


class Requests(unittest.TestCase):
    def sent(self, value):
        return json.loads(to_json(value))

    def test_amounts_keep_every_digit(self):
        for text in ("0.1", "12345678901234567890.123456789", "-0.000000001", "100", "1.50"):
            self.assertEqual(self.sent(NewDeposit(name="chem", amount=Decimal(text)))["amount"], text)
        self.assertEqual(self.sent(NewDeposit(name="chem", amount=Decimal("1E+3")))["amount"], "1000")
        self.assertEqual(self.sent(NewDeposit(name="chem", amount=7))["amount"], "7")
        charge = NewCharge(job="1", gres={"gpu": Decimal("0.5")}, amount=Decimal("1"))
        self.assertEqual(self.sent(charge)["gres"], {"gpu": "0.5"})

    def test_what_is_no_exact_number_is_an_error(self):
        for value, error in ((0.1, TypeError), (Decimal("NaN"), ValueError), (Decimal("1E+1000000"), ValueError)):
            with self.assertRaisesRegex(error, "amount"):
                to_json(NewDeposit(name="chem", amount=value))

    def test_members_without_a_value_are_left_out(self):
        self.assertEqual(to_json(ConfirmClock()), b"{}")
        self.assertEqual(self.sent({"a": None}), {"a": None})

    def test_members_of_the_site_are_sent_and_read(self):
        project = NewProject(name="lasers", more={"cost_centre": "4711", "share": Decimal("0.5")})
        self.assertEqual(self.sent(project), {"name": "lasers", "cost_centre": "4711", "share": "0.5"})
        answer = {"id": 1, "name": "epyc", "processors": 1, "nodes": 2, "counts": True, "factor": "1", "hosts": []}
        answer |= {"priority": 100, "serial": "x7", "dry_run": False, "transaction": 3, "warnings": []}
        self.assertEqual(decode(HardwareWritten, answer).more, {"serial": "x7"})

    def test_reserved_words_are_members(self):
        body = NewTransfer(from_="a", to="b", amount=Decimal(1))
        self.assertEqual(self.sent(body), {"from": "a", "to": "b", "amount": "1"})

    def test_times_are_written_in_utc(self):
        start = datetime(2026, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=1)))
        body = NewDeposit(name="a", amount=Decimal(1), start=start, end="infinity")
        self.assertEqual(self.sent(body)["start"], "2026-01-01T00:00:00Z")
        self.assertEqual(self.sent(body)["end"], "infinity")
        with self.assertRaisesRegex(ValueError, "start.*zone"):
            to_json(NewDeposit(name="a", amount=Decimal(1), start=datetime(2026, 1, 1)))


class Answers(unittest.TestCase):
    def test_amounts_and_times_have_their_types(self):
        found = decode(Receipt, {**RECEIPT, "until": "2026-01-01T00:00:00.5Z", "a new member": 1})
        self.assertEqual(found.amount, Decimal("0.1"))
        self.assertEqual(found.until, datetime(2026, 1, 1, 0, 0, 0, 500_000, timezone.utc))
        self.assertEqual(found.warnings, [])
        found = decode(NewTransfer, {"from": "a", "to": "b", "amount": "1"})
        self.assertEqual((found.from_, found.amount), ("a", Decimal(1)))

    def test_numbers_of_json_are_never_floats(self):
        found = from_json(b'{"a": 0.1, "b": [1e2], "c": 3}')
        self.assertEqual(found, {"a": Decimal("0.1"), "b": [Decimal(100)], "c": 3})
        self.assertNotIsInstance(found["a"], float)
        config = {"unit": "hours", "project_type": "project"}
        self.assertTrue(decode(OnDemandBalances, {"version": 1, "timestamp": 1, "config": config, "balances": []}))

    def test_another_shape_is_an_error_with_its_place(self):
        cases = [
            (Receipt, {**RECEIPT, "amount": "1e5"}, "answer.amount"),
            (Receipt, {**RECEIPT, "amount": None}, "answer.amount"),
            (Receipt, {**RECEIPT, "active": "yes"}, "answer.active"),
            (Receipt, {**RECEIPT, "until": "2026-01-01T00:00:00"}, "zone"),
            (Receipt, {"account": "chem"}, "active, amount, unit is missing"),
            (Receipt, [], "dict is expected"),
            (Page[Receipt], {"items": [RECEIPT, 3], "next": None}, r"items\[1\]"),
        ]
        for kind, value, place in cases:
            with self.assertRaisesRegex(BadValue, place):
                decode(kind, value)
        for body in (b"{", b"\xff", b"NaN", b"[" * 100_000, b"1" * 1_000):
            with self.assertRaises(BadValue):
                from_json(body)


if __name__ == "__main__":
    unittest.main()
