"""Servers, retries, signatures and limits, against a server of the test."""

import io
import os
import tempfile
import time
import unittest
from decimal import Decimal
from unittest import mock

from bank_client import ApiToken, BadAnswer, Client, Page, Refused, ServerError, SigningKey, Unauthorized, Unavailable, calls
from bank_client.call import make, rows
from bank_client.shapes import NewDeposit

from .fake import KEY, Answer, Fake

RECEIPT = {"account": "chem", "amount": "1.000", "unit": "credits", "active": True}
DONE = Answer(201, RECEIPT)
PROBLEM = {"type": "x", "title": "t", "status": 402, "code": "insufficient_funds", "detail": "no money", "hint": "deposit"}


def deposit(client):
    return client.post_deposits(NewDeposit(name="chem", amount=Decimal(1)))


class Calls(unittest.TestCase):
    def test_names_in_paths_are_encoded(self):
        self.assertEqual(calls.get_projects_name("a/b ü").path, "/api/v1/projects/a%2Fb%20%C3%BC")
        self.assertEqual(calls.get_projects_name("..").path, "/api/v1/projects/%2E%2E")
        call = calls.get_balances(project="a&b=c", burn=True)
        self.assertEqual(call.target, "/api/v1/balances?burn=true&project=a%26b%3Dc")

    def test_keys_are_checked(self):
        for key in ("", "a#b", "a b", "ü", "x" * 256):
            with self.assertRaisesRegex(ValueError, "idempotency key"):
                calls.post_clock({}, idempotency_key=key)
        with self.assertRaisesRegex(ValueError, "the limit is"):
            calls.get_projects_name("x" * 9000)

    def test_rows_go_on_to_the_last_page(self):
        pages = {None: Page([1, 2], "b"), "b": Page([3], None)}

        class Sender:
            def send(self, call):
                return pages[dict(call.query).get("after")]

        call = make("get_x", "GET", ("x",))
        self.assertEqual(list(rows(Sender(), call)), [1, 2, 3])
        pages["b"] = Page([3], "b")
        with self.assertRaisesRegex(RuntimeError, "does not continue"):
            list(rows(Sender(), call))


class Keys(unittest.TestCase):
    def test_secrets_in_three_forms(self):
        for text in ("base64:YWJj\n", "hex:616263", " abc\n"):
            self.assertEqual(SigningKey.from_text("ops", text).secret, b"abc")
        for text in ("base64:?", "hex:6", ""):
            with self.assertRaises(ValueError):
                SigningKey.from_text("ops", text)
        self.assertNotIn("abc", repr(SigningKey.from_text("ops", "abc")))

    def test_a_secret_that_others_can_read_is_an_error(self):
        with tempfile.NamedTemporaryFile() as file:
            os.chmod(file.name, 0o644)
            with self.assertRaisesRegex(PermissionError, "0600"):
                SigningKey.from_file("ops", file.name)


class Tokens(unittest.TestCase):
    def test_a_token_is_sent_in_place_of_a_signature(self):
        with Fake(Answer(201, RECEIPT, how="unsigned")) as fake:
            deposit(Client(fake.address, ApiToken("bk_secret")))
        headers = fake.seen[0][2]
        self.assertEqual(headers["authorization"], "Bearer bk_secret")
        self.assertNotIn("signature", headers)
        self.assertNotIn("secret", repr(ApiToken("bk_secret")))

    def test_a_token_stays_on_this_host_or_goes_over_tls(self):
        for address in ("http://bank.site:7113", "http://10.0.0.1", "http://127.0.0.1.evil.site:1", "http://[fd00::1]:1"):
            with self.assertRaisesRegex(ValueError, "a token is not sent there"):
                Client(["unix:/a", address], ApiToken("bk_secret"))
        for address in ("http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "https://bank.site", "unix:/a"):
            Client(address, ApiToken("bk_secret"))

    def test_tokens_are_checked(self):
        for text in ("", "a b", "a\r\nb", "ü", "x" * 257):
            with self.assertRaisesRegex(ValueError, "a token is"):
                ApiToken(text)
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"bk_secret\n")
            file.flush()
            os.chmod(file.name, 0o600)
            self.assertEqual(ApiToken.from_file(file.name).text, "bk_secret")
            os.chmod(file.name, 0o640)
            with self.assertRaisesRegex(PermissionError, "0600"):
                ApiToken.from_file(file.name)

    def test_the_environment_has_a_token_or_a_key(self):
        with mock.patch.dict(os.environ, {"BANK_SERVER": "https://bank.site", "BANK_TOKEN": "bk_secret"}):
            self.assertEqual(Client.from_environment().key, ApiToken("bk_secret"))


class Exchanges(unittest.TestCase):
    def test_a_call_is_signed_and_its_answer_is_read(self):
        with Fake(DONE) as fake:
            self.assertEqual(deposit(Client(fake.address, KEY)).amount, Decimal("1.000"))
        method, path, headers, body = fake.seen[0]
        self.assertEqual((method, path, body), ("POST", "/api/v1/deposits", b'{"amount":"1","name":"chem"}'))
        self.assertIn('"content-digest" "idempotency-key");created=', headers["signature-input"])

    def test_an_answer_that_is_not_the_banks_is_not_used(self):
        for how in ("unsigned", "other request", "other key", "altered"):
            with Fake(Answer(201, RECEIPT, how=how)) as fake, self.assertRaises(Unavailable, msg=how) as found:
                deposit(Client(fake.address, KEY, retry_s=0))
            self.assertTrue(found.exception.may_be_done)

    def test_a_refusal_is_raised_and_never_repeated(self):
        with Fake(Answer(402, PROBLEM)) as fake, self.assertRaises(Refused) as found:
            deposit(Client([fake.address, fake.address], KEY))
        error = found.exception
        self.assertEqual((error.status, error.code), (402, "insufficient_funds"))
        self.assertEqual((error.text, error.hint), ("no money", "deposit"))
        self.assertEqual(len(fake.seen), 1)

    def test_a_401_is_no_refusal(self):
        with Fake(Answer(401, {"detail": "not signed"})) as fake, self.assertRaises(Unauthorized):
            deposit(Client(fake.address, KEY))

    def test_an_error_of_the_daemon_is_not_repeated(self):
        with Fake(Answer(500, {"code": "internal"})) as fake, self.assertRaises(ServerError):
            deposit(Client(fake.address, KEY))
        self.assertEqual(len(fake.seen), 1)

    def test_a_busy_daemon_is_asked_again_with_the_same_key(self):
        busy = [Answer(503, {"code": "busy"}, {"Retry-After": "0"}), Answer(429, {}, {"Retry-After": "0"}), Answer(how="close")]
        with Fake(*busy, DONE) as fake:
            deposit(Client(fake.address, KEY))
        self.assertEqual(len(fake.seen), 4)
        self.assertEqual(len({headers["idempotency-key"] for _, _, headers, _ in fake.seen}), 1)
        self.assertEqual(len({headers["signature"] for _, _, headers, _ in fake.seen}), 4)

    def test_the_next_server_is_asked(self):
        with Fake(Answer(503, {}, {"Retry-After": "60"})) as busy, Fake(DONE) as good:
            client = Client(["http://127.0.0.1:1", "unix:/does/not/exist", busy.address, good.address], KEY, retry_s=0)
            deposit(client)
        self.assertEqual((len(busy.seen), len(good.seen)), (1, 1))

    def test_a_server_that_waits_longer_than_the_retries_is_unavailable(self):
        with Fake(Answer(429, {}, {"Retry-After": "30"})) as fake, self.assertRaises(Unavailable) as found:
            deposit(Client(fake.address, KEY, retry_s=1))
        self.assertFalse(found.exception.may_be_done)
        self.assertEqual(len(fake.seen), 1)

    def test_a_large_answer_is_not_read(self):
        with Fake(Answer(201, b"x" * 2_000)) as fake, self.assertRaisesRegex(BadAnswer, "larger than 1000"):
            deposit(Client(fake.address, KEY, max_answer_bytes=1_000))

    def test_a_slow_answer_ends_at_the_time_limit(self):
        began = time.monotonic()
        with Fake(Answer(201, b"x" * 2_000, how="trickle")) as fake, self.assertRaises(Unavailable):
            deposit(Client(fake.address, KEY, timeout_s=0.3, retry_s=0))
        self.assertLess(time.monotonic() - began, 5)

    def test_an_answer_of_another_shape_names_the_place(self):
        with Fake(Answer(201, {**RECEIPT, "amount": 1.5})) as fake:
            self.assertEqual(deposit(Client(fake.address, KEY)).amount, Decimal("1.5"))
        with Fake(Answer(201, {**RECEIPT, "amount": "much"})) as fake, self.assertRaisesRegex(BadAnswer, "amount.*was done"):
            deposit(Client(fake.address, KEY))

    def test_addresses_and_limits_are_checked(self):
        for address in ("gopher://x", "http://h/path", "http://u@h", "unix:", "http://", []):
            with self.assertRaises(ValueError):
                Client(address, KEY)
        with self.assertRaisesRegex(ValueError, "over TCP is signed"):
            Client("http://127.0.0.1:1")
        with self.assertRaises(ValueError):
            Client("unix:/x", timeout_s=0)

    def test_an_export_is_written_page_by_page(self):
        page = {"head": "h\n", "tail": "t\n", "records": 1, "skipped": [], "skipped_count": 0, "skipped_reasons": {}}
        first = Answer(200, {**page, "text": "1\n", "more": True, "next": "c"})
        last = Answer(200, {**page, "text": "2\n", "more": False, "next": "d"})
        out = io.StringIO()
        with Fake(first, last) as fake:
            out.writelines(Client(fake.address, KEY).export("csv", project="chem"))
        self.assertEqual(out.getvalue(), "h\n1\n2\nt\n")
        self.assertEqual(fake.seen[1][1], "/api/v1/export/csv?project=chem&since=c")


if __name__ == "__main__":
    unittest.main()
