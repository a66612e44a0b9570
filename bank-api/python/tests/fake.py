"""A server for tests that signs its answers like the daemon, and gives the answers of a list."""

from __future__ import annotations

import contextlib
import datetime
import http.server
import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from bank_client import SigningKey
from bank_client.signing import LABEL, Request, _Resolver
from http_message_signatures import HTTPMessageSigner, algorithms

KEY = SigningKey("ops", b"a secret of the tests")


@dataclass
class Answer:
    """One answer. `how` is `signed`, `unsigned`, `other request`, `other key`, `close` or `trickle`."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    how: str = "signed"


class _Message:
    def __init__(self, status: int, request: Any) -> None:
        self.status_code, self.request, self.headers = status, request, {}


class Fake:
    """The server. The last answer of the list is repeated; `seen` has the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.seen = list(answers), []
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def handle_one(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fake.seen.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                answer = fake.answers.pop(0) if len(fake.answers) > 1 else fake.answers[0]
                fake.answer(self, answer)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_one

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self) -> Fake:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler: Any, answer: Answer) -> None:
        if answer.how == "close":
            handler.close_connection = True
            return
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        headers = dict(answer.headers)
        if answer.how != "unsigned" and answer.status != 401:
            headers |= self.signature(handler, answer, body)
        handler.send_response(answer.status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if answer.how == "trickle":
            with contextlib.suppress(OSError):
                for byte in body:
                    handler.wfile.write(bytes([byte]))
                    time.sleep(0.02)
            return
        handler.wfile.write(body)

    def signature(self, handler: Any, answer: Answer, body: bytes) -> dict[str, str]:
        request = Request.__new__(Request)
        request.method, request.url = handler.command, self.address + handler.path
        request.headers = dict(handler.headers.items())
        if answer.how == "other request":
            request.headers["signature"] = request.headers.pop("Signature", "").replace("=:", "=:AAAA")
        message = _Message(answer.status, request)
        key = SigningKey("ops", b"another secret") if answer.how == "other key" else KEY
        HTTPMessageSigner(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=_Resolver(key)).sign(
            message,
            key_id=key.id,
            created=datetime.datetime.now(datetime.timezone.utc),
            label=LABEL,
            covered_component_ids=["@status", '"signature";req'],
            body=body or None,
        )
        if answer.how == "altered":
            message.headers["Content-Digest"] = message.headers["Content-Digest"].replace("=:", "=:A", 1)
        return message.headers
