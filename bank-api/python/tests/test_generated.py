"""The generated files are those of the description of the API, and have every route."""

import inspect
import json
import pathlib
import sys
import unittest

from bank_client import Client, calls
from bank_client.call import Call

TOOLS = pathlib.Path(__file__).resolve().parents[1] / "tools"
sys.path.insert(0, str(TOOLS))

import generate  # noqa: E402


class Generated(unittest.TestCase):
    def test_the_files_are_up_to_date(self):
        for name, text in generate.generate().items():
            committed = (generate.TARGET / name).read_text(encoding="utf-8")
            self.assertEqual(committed, text, f"{name} is not up to date: run tools/generate.py")

    def test_every_route_is_a_call_and_a_method(self):
        document = json.loads(generate.OPENAPI.read_text(encoding="utf-8"))
        count = 0
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                name = operation["operationId"]
                build = getattr(calls, name)
                self.assertTrue(hasattr(Client, name), name)
                self.assertIn(operation["summary"].split("`")[0].rstrip("."), build.__doc__)
                required = [p for p in inspect.signature(build).parameters.values() if p.default is p.empty]
                made = build(**{p.name: self.sample(p.name) for p in required})
                self.assertIsInstance(made, Call)
                self.assertEqual((made.operation, made.method), (name, method.upper()))
                parts = path.strip("/").split("/")
                expected = "/".join("1" if part.startswith("{") else part for part in parts)
                self.assertEqual(made.path, "/" + expected)
                self.assertEqual(made.key is None, method == "get")
                self.assertIn(name, calls.ANSWERS)
                count += 1
        self.assertGreater(count, 200)

    @staticmethod
    def sample(name):
        return {} if name == "body" else "1"


if __name__ == "__main__":
    unittest.main()
