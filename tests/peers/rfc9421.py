"""Speaks to a running bank with the package http-message-signatures.

Usage: rfc9421.py HOST:PORT KEYID KEYFILE DOCUMENT

Signs a charge, verifies the signed answer, and tries what must be refused. Prints one line for
each attempt; the caller compares them.
"""

import base64
import datetime
import hashlib
import http.client
import secrets
import sys

from http_message_signatures import (
    HTTPMessageSigner,
    HTTPMessageVerifier,
    HTTPSignatureKeyResolver,
    InvalidSignature,
    algorithms,
)
from http_message_signatures.structures import CaseInsensitiveDict

ADDRESS, KEYID, KEYFILE, DOCUMENT = sys.argv[1:5]
SECRET = open(KEYFILE, "rb").read()
BODY = open(DOCUMENT, "rb").read()
COVERED = ("@method", "@path", "@query", "content-digest", "idempotency-key")


class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id):
        return SECRET

    resolve_private_key = resolve_public_key


class Request:
    def __init__(self, body=BODY, path="/nami/v1/charge?machine=colony", key="peer-1"):
        self.method = "POST"
        self.path = path
        self.url = "http://" + ADDRESS + path
        self.body = body
        self.headers = CaseInsensitiveDict()
        self.headers["Host"] = ADDRESS
        self.headers["Content-Type"] = "application/xml"
        self.headers["Content-Digest"] = digest(body)
        self.headers["Idempotency-Key"] = key


class Response:
    def __init__(self, request, status, headers, body):
        self.request = request
        self.status_code = status
        self.headers = CaseInsensitiveDict(headers)
        self.body = body
        self.url = request.url


def digest(body):
    return "sha-256=:" + base64.b64encode(hashlib.sha256(body).digest()).decode() + ":"


def sign(request, covered=COVERED, key_id=KEYID, age=0, nonce=None):
    signer = HTTPMessageSigner(
        signature_algorithm=algorithms.HMAC_SHA256, key_resolver=Keys()
    )
    created = datetime.datetime.now() - datetime.timedelta(seconds=age)
    signer.sign(
        request,
        key_id=key_id,
        created=created,
        nonce=nonce or secrets.token_urlsafe(16),
        label="sig1",
        covered_component_ids=covered,
        include_alg=True,
        use_existing_digest=True,
    )
    return request


def send(request, more=()):
    connection = http.client.HTTPConnection(ADDRESS, timeout=10)
    connection.putrequest(request.method, request.path, skip_host=True, skip_accept_encoding=True)
    for name, value in list(request.headers.items()) + list(more):
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(request.body)))
    connection.endheaders(request.body)
    answer = connection.getresponse()
    body = answer.read()
    return Response(request, answer.status, answer.getheaders(), body)


def verified(response):
    verifier = HTTPMessageVerifier(
        signature_algorithm=algorithms.HMAC_SHA256, key_resolver=Keys()
    )
    results = verifier.verify(response, max_age=datetime.timedelta(minutes=5))
    assert len(results) == 1, results
    covered = set(results[0].covered_components)
    assert {'"@status"', '"content-digest"', '"signature";req'} <= covered, covered
    assert response.headers["Content-Digest"] == digest(response.body)


def told(what, response):
    if response.status_code == 401:
        print(what, 401)
        return
    verified(response)
    print(f"{what} {response.status_code}, answer verified")


def main():
    good = sign(Request())
    told("accepted", send(good))
    told("sent twice", send(good))
    again = send(sign(Request()))
    told("new nonce", again)

    altered = sign(Request(key="peer-2"))
    altered.body = BODY.replace(b"1800", b"1801")
    told("altered body", send(altered))
    altered = sign(Request(key="peer-2"))
    altered.path = altered.path.replace("charge", "delete")
    told("altered path", send(altered))
    told("old created", send(sign(Request(key="peer-2"), age=301)))
    told("unknown keyid", send(sign(Request(key="peer-2"), key_id="nobody")))
    fewer = tuple(name for name in COVERED if name != "idempotency-key")
    told("missing component", send(sign(Request(key="peer-2"), covered=fewer)))
    fewer = tuple(name for name in COVERED if name != "content-digest")
    told("uncovered body", send(sign(Request(key="peer-2"), covered=fewer)))

    # Two header lines, signed as the joined value that a verifier makes of them.
    twice = sign(Request(key="peer-2, peer-3"))
    twice.headers["Idempotency-Key"] = "peer-2"
    response = send(twice, more=[("Idempotency-Key", "peer-3")])
    twice.headers["Idempotency-Key"] = "peer-2, peer-3"
    told("two keys", response)

    again.status_code = 402
    try:
        verified(again)
        print("altered answer accepted")
    except InvalidSignature:
        print("altered answer refused")


main()
