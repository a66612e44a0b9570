"""Speaks to a running bank with the package python-auditor, AUDITOR's own clients.

Usage: auditor.py WHAT HOST PORT [FILE...]

    clients HOST PORT                    the blocking and the asynchronous client, every call of theirs
    query HOST PORT                      every feature of the query builder
    queue HOST PORT DATABASE             the queued client; reads commands from standard input
    tls HOST PORT CERT KEY CA            the blocking client with a certificate

Prints one line for each attempt; the caller compares them.
"""

import asyncio
import datetime
import os
import sys

from pyauditor import (
    AuditorClientBuilder,
    Component,
    ComponentQuery,
    Meta,
    MetaOperator,
    MetaQuery,
    Operator,
    QueryBuilder,
    Record,
    Score,
    SortBy,
    Value,
)

T0 = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)

# Seconds of each call. A disk that is busy with something else must fail no test.
PATIENCE = 120


def at(seconds, micros=0):
    return T0 + datetime.timedelta(seconds=seconds, microseconds=micros)


def record(name, start=0, stop=None, site="hpc", cores=8):
    made = Record(name, at(start, 678901))
    meta = Meta().insert("site_id", [site]).insert("group_id", ["chemistry", "ü/<\"\\"])
    made = made.with_meta(meta)
    made = made.with_component(Component("Cores", cores).with_score(Score("HEPSPEC", 3.5)))
    made = made.with_component(Component("Memory", 2**40))
    return made if stop is None else made.with_stop_time(at(stop, 678901))


def told(record):
    """All of a record, in a fixed order."""
    meta = {key: record.meta.get(key) for key in ("site_id", "group_id")}
    parts = [
        f"{c.name}={c.amount}" + "".join(f"/{s.name}:{s.value}" for s in c.scores)
        for c in record.components
    ]
    return (
        f"{record.record_id} {record.start_time.isoformat()} "
        f"{record.stop_time.isoformat() if record.stop_time else '-'} {record.runtime} "
        f"{meta} {' '.join(parts)}"
    )


def ids(records):
    return " ".join(r.record_id for r in records) or "-"


def sure(error):
    """What an exception says, without the address that differs from run to run."""
    text = str(error)
    return f"{type(error).__name__} {text.split(' for url')[0]}"


async def attempts(call, prefix):
    """Every call of a client; `call` waits for what it gives, where that is to be waited for."""

    async def attempt(what, name, *arguments):
        try:
            result = await call(name, *arguments)
        except RuntimeError as error:
            result = sure(error)
        else:
            if isinstance(result, list):
                result = ids(result)
            elif isinstance(result, Record):
                result = told(result)
        print(f"{what}: {result}")

    await attempt("health", "health_check")
    await attempt("add", "add", record(f"{prefix}1", 0, 100))
    await attempt("add again", "add", record(f"{prefix}1", 0, 100))
    await attempt("add other content", "add", record(f"{prefix}1", 0, 999))
    await attempt("bulk", "bulk_insert", [record(f"{prefix}2", 10, 60), record(f"{prefix}3", 20)])
    await attempt("bulk of nothing", "bulk_insert", [])
    await attempt(
        "bulk with a known one", "bulk_insert", [record(f"{prefix}4"), record(f"{prefix}1", 0, 100)]
    )
    await attempt("open", "get_single_record", f"{prefix}3")
    await attempt("update", "update", record(f"{prefix}3", 20, 50))
    await attempt("update again", "update", record(f"{prefix}3", 20, 40))
    await attempt("update unknown", "update", record(f"{prefix}9", 0, 1))
    await attempt("closed", "get_single_record", f"{prefix}3")
    await attempt("one", "get_single_record", f"{prefix}1")
    await attempt("one unknown", "get_single_record", f"{prefix}9")
    await attempt("all", "get")
    await attempt("started since", "get_started_since", at(10, 678901))
    await attempt("stopped since", "get_stopped_since", at(60, 678901))
    builder = QueryBuilder().with_runtime(Operator().gt(Value.set_runtime(20)))
    await attempt("query", "advanced_query", builder.build())


def clients(host, port):
    async def waited(name, *arguments):
        return await getattr(asynchronous, name)(*arguments)

    async def at_once(name, *arguments):
        return getattr(blocking, name)(*arguments)

    builder = AuditorClientBuilder().address(host, port).timeout(PATIENCE)
    blocking = builder.build_blocking()
    print("blocking")
    asyncio.run(attempts(at_once, "b"))
    builder = AuditorClientBuilder().connection_string(f"http://{host}:{port}").timeout(PATIENCE)
    asynchronous = builder.build()
    print("asynchronous")
    asyncio.run(attempts(waited, "a"))


def query(host, port):
    client = AuditorClientBuilder().address(host, port).timeout(PATIENCE).build_blocking()
    for name, start, stop, site, cores in [
        ("q1", 0, 100, "hpc", 8),
        ("q2", 10, 60, "a/b c&d", 16),
        ("q3", 20, None, "hpc", 4),
        ("q#4 +%2f", 30, 40, "htc", 8),
    ]:
        client.add(record(name, start, stop, site, cores))

    def time(seconds):
        return Value.set_datetime(at(seconds, 678901))

    def meta(*values, key="site_id"):
        return MetaQuery().meta_operator(key, MetaOperator().contains(list(values)))

    def without(*values, key="site_id"):
        return MetaQuery().meta_operator(key, MetaOperator().does_not_contain(list(values)))

    def component(name, operator):
        return ComponentQuery().component_operator(name, operator)

    def count(number):
        return Value.set_count(number)

    def runtime(number):
        return Value.set_runtime(number)

    def new():
        return QueryBuilder()

    for what, built in [
        ("nothing", new()),
        ("record id", new().with_record_id("q#4 +%2f")),
        ("start gt", new().with_start_time(Operator().gt(time(10)))),
        ("start gte", new().with_start_time(Operator().gte(time(10)))),
        ("start lt", new().with_start_time(Operator().lt(time(10)))),
        ("start equals", new().with_start_time(Operator().equals(time(10)))),
        ("stop lte", new().with_stop_time(Operator().lte(time(60)))),
        ("stop between", new().with_stop_time(Operator().gt(time(40)).lt(time(100)))),
        ("stop gt and gte", new().with_stop_time(Operator().gt(time(40)).gte(time(100)))),
        ("runtime gt", new().with_runtime(Operator().gt(runtime(10)))),
        ("runtime lte", new().with_runtime(Operator().lte(runtime(50)))),
        ("runtime equals", new().with_runtime(Operator().equals(runtime(50)))),
        ("meta", new().with_meta_query(meta("hpc"))),
        ("meta odd", new().with_meta_query(meta("a/b c&d"))),
        ("meta both", new().with_meta_query(meta("chemistry", "ü/<\"\\", key="group_id"))),
        ("meta both of one", new().with_meta_query(meta("hpc", "htc"))),
        ("meta without", new().with_meta_query(without("hpc"))),
        ("meta unknown key", new().with_meta_query(meta("x", key="unknown key"))),
        ("component equals", new().with_component_query(component("Cores", Operator().equals(count(8))))),
        ("component gt", new().with_component_query(component("Cores", Operator().gt(count(4)).lte(count(8))))),
        ("component large", new().with_component_query(component("Memory", Operator().gt(count(200))))),
        ("ascending", new().sort_by(SortBy().ascending("runtime"))),
        ("descending", new().sort_by(SortBy().descending("stop_time"))),
        ("by id", new().sort_by(SortBy().descending("record_id"))),
        ("limit", new().sort_by(SortBy().ascending("start_time")).limit(2)),
        (
            "everything",
            new()
            .with_record_id("q1")
            .with_start_time(Operator().gte(time(0)))
            .with_stop_time(Operator().lt(time(101)))
            .with_runtime(Operator().gt(runtime(0)))
            .with_meta_query(meta("hpc"))
            .with_component_query(component("Cores", Operator().equals(count(8))))
            .sort_by(SortBy().descending("stop_time"))
            .limit(5),
        ),
    ]:
        try:
            print(f"{what}: {ids(client.advanced_query(built.build()))}")
        except RuntimeError as error:
            print(f"{what}: {sure(error)}")


async def queue(host, port, database):
    """Commands: `add N`, `close N`, `bulk N M`, `health`, `stop`; answers each with one line."""
    builder = AuditorClientBuilder().address(host, port).timeout(PATIENCE).database_path(database)
    client = await builder.send_interval(1).build_queued()
    loop = asyncio.get_running_loop()
    print("ready", flush=True)
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        words = line.split()
        if not words or words[0] == "stop":
            break
        if words[0] == "add":
            await client.add(record(words[1], 0))
        elif words[0] == "close":
            await client.update(record(words[1], 0, 60))
        elif words[0] == "bulk":
            await client.bulk_insert([record(name, 0, 60) for name in words[1:]])
        elif words[0] == "health":
            print(await client.health_check(), flush=True)
            continue
        print("kept", flush=True)
    await client.stop()
    print("stopped", flush=True)
    # The client's own threads would keep the process.
    os._exit(0)


def tls(host, port, cert, key, ca):
    def attempt(what, call):
        try:
            result = call()
        except RuntimeError as error:
            result = sure(error)
        if isinstance(result, list):
            result = ids(result)
        print(f"{what}: {result}")

    builder = AuditorClientBuilder().address(host, port).timeout(PATIENCE)
    client = builder.with_tls(cert, key, ca).build_blocking()
    attempt("health", client.health_check)
    attempt("add", lambda: client.add(record("t1", 0)))
    attempt("add again", lambda: client.add(record("t1", 0)))
    attempt("update", lambda: client.update(record("t1", 0, 60)))
    attempt("one", lambda: client.get_single_record("t1").runtime)
    attempt("all", client.get)


WHAT, HOST, PORT, *FILES = sys.argv[1:]
if WHAT == "clients":
    clients(HOST, int(PORT))
elif WHAT == "query":
    query(HOST, int(PORT))
elif WHAT == "queue":
    asyncio.run(queue(HOST, int(PORT), *FILES))
else:
    tls(HOST, int(PORT), *FILES)

# The client's own threads may still call into the interpreter while it goes down, and crash it.
sys.stdout.flush()
os._exit(0)
