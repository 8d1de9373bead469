"""Runs calls of a blocking connection in threads, for asyncio."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Optional, TypeVar

from ._connection import Connection, Limits
from .errors import timed_out

Result = TypeVar("Result")


class Threads:
    def __init__(self, connection: Connection, max_concurrency: int) -> None:
        self._connection = connection
        self._executor = ThreadPoolExecutor(max_concurrency, "user-group-service")

    async def run(self, call: Callable[[Limits], Result], deadline_seconds: Optional[float]) -> Result:
        connection = self._connection
        limits = connection.limits(deadline_seconds)
        future: asyncio.Future[Result] = asyncio.get_running_loop().run_in_executor(self._executor, call, limits)
        # The deadline also ends the wait for a thread. A running call ends a little earlier, with an error of its own.
        remaining = limits.deadline - connection.clock.monotonic() + 0.1
        try:
            done, _ = await asyncio.wait({future}, timeout=remaining)
        finally:
            if not future.done():
                limits.cancellation.cancel()
                future.cancel()
        if done:
            return future.result()
        raise timed_out(connection.transport.origin)

    def close(self) -> None:
        """Closes the idle connections and ends the threads."""
        self._executor.shutdown(wait=False)
        self._connection.transport.close()
