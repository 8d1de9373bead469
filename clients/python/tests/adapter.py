"""Runs calls of the client for tests in another language. Reads one JSON call per line and writes one JSON outcome per line.

A call has the members `client` (options of the client), `method`, `args` and `isAsync`. The outcome has `result` or `error`,
and `pauses`, the pauses between attempts in seconds. They only advance the clock of the client.
"""

import asyncio
import dataclasses
import json
import sys
import traceback
from datetime import datetime

from user_group_service import AsyncUserGroupClient, ServiceError, TransportError, UserGroupClient
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
    key = json.dumps([call["client"], call["isAsync"]])
    if key not in clients:
        client = (AsyncUserGroupClient if call["isAsync"] else UserGroupClient)(**call["client"])
        clock = SkippingClock()
        client._connection.clock = client._connection.transport._clock = clock
        clients[key] = client, clock
    return clients[key]


def plain(value):
    """Converts a value that JSON does not have."""
    if isinstance(value, datetime):
        return value.isoformat()
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


async def run(call):
    client, clock = client_of(call)
    clock.pauses.clear()
    try:
        result = getattr(client, call["method"])(**call["args"])
        return {"result": await result if call["isAsync"] else result, "pauses": clock.pauses}
    except (ServiceError, TransportError) as error:
        shown = {"type": type(error).__name__, "message": str(error), "fields": (), **vars(error)}
        printed = traceback.format_exc() + repr(error)
        return {"error": {**shown, "printed": printed}, "pauses": clock.pauses}


async def main():
    for line in sys.stdin:
        print(json.dumps(await run(json.loads(line)), default=plain), flush=True)


asyncio.run(main())
