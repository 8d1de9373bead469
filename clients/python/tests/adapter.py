"""Runs calls of the clients for tests in another language. Reads one JSON call per line and writes one JSON outcome per line.

A call has the members `api` (name of the class), `client` (its options), `isAsync`, `method` and `args`, a list or an object. For a
list that is read page by page, `cursor` requests one page, and otherwise the outcome has all items. A time is `{"$time": MILLISECONDS}`.
The outcome has `result` or `error`, and `pauses`, the pauses between attempts in seconds. They only advance the clock of the client.
"""

import asyncio
import dataclasses
import json
import sys
import traceback
from datetime import datetime, timezone

import user_group_service
from user_group_service import AsyncPaged, Paged, ServiceError, TransportError
from user_group_service._clock import Clock


class SkippingClock(Clock):
    def __init__(self):
        self.pauses = []

    def now(self):
        return datetime.fromisoformat("2030-01-01T00:00:00+00:00").timestamp() + sum(self.pauses)

    def monotonic(self):
        return super().monotonic() + sum(self.pauses)

    def sleep(self, seconds, cancellation):
        self.pauses.append(seconds)


clients = {}


def client_of(call):
    name = f"Async{call['api']}" if call["isAsync"] else call["api"]
    key = json.dumps([name, call["client"]])
    if key not in clients:
        client = getattr(user_group_service, name)(**call["client"])
        clock = SkippingClock()
        client._connection.clock = client._connection.transport._clock = clock
        clients[key] = client, clock
    return clients[key]


def plain(value):
    """Converts a value that JSON does not have. Optional members that are absent stay so."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return {
        "api_environment_tag" if field.name == "environment" else field.name: getattr(value, field.name)
        for field in dataclasses.fields(value)
        if field.default is dataclasses.MISSING or getattr(value, field.name) is not None
    }


def time_of(value):
    return datetime.fromtimestamp(value["$time"] / 1000, timezone.utc) if "$time" in value else value


async def result_of(call, client):
    args, options = (call["args"], call.get("options", {})) if isinstance(call["args"], list) else ([], call["args"])
    result = getattr(client, call["method"])(*args, **options)
    if isinstance(result, (Paged, AsyncPaged)) and "cursor" in call:
        result = result.page(call["cursor"])
    if hasattr(result, "__aiter__"):
        return [item async for item in result]
    if call["isAsync"]:
        return await result
    return list(result) if hasattr(result, "__iter__") and not isinstance(result, (str, list)) else result


async def run(call):
    client, clock = client_of(call)
    clock.pauses.clear()
    try:
        return {"result": await result_of(call, client), "pauses": clock.pauses}
    except (ServiceError, TransportError) as error:
        shown = {"type": type(error).__name__, "message": str(error), "fields": (), **vars(error)}
        printed = traceback.format_exc() + repr(error)
        return {"error": {**shown, "printed": printed}, "pauses": clock.pauses}


async def main():
    for line in sys.stdin:
        print(json.dumps(await run(json.loads(line, object_hook=time_of)), default=plain), flush=True)


asyncio.run(main())
