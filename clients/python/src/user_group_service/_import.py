"""Imports in batches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, AsyncIterable, AsyncIterator, Iterable, Iterator, List, Mapping, Tuple, Union

from ._connection import Connection, Limits, Operation
from ._json import json_bytes
from ._results import read
from .errors import bad_response
from .management_api import ImportResult

# Limits of one request, so that it can be retried.
_max_rows = 500
_max_bytes = 1_000_000

Batch = Tuple[List[bytes], int]
"""Lines of one request, and the number of rows before them."""


class Batches:
    """Splits rows into batches, each ready when it is full."""

    def __init__(self) -> None:
        self._lines: List[bytes] = []
        self._bytes = 0
        self._sent_rows = 0

    def split(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Batch]:
        for row in rows:
            if self._add(row):
                yield self._take()
        if self._lines:
            yield self._take()

    async def split_async(
        self, rows: Union[Iterable[Mapping[str, Any]], AsyncIterable[Mapping[str, Any]]]
    ) -> AsyncIterator[Batch]:
        if isinstance(rows, AsyncIterable):
            async for row in rows:
                if self._add(row):
                    yield self._take()
            rows = ()
        for batch in self.split(rows):
            yield batch

    def _add(self, row: Mapping[str, Any]) -> bool:
        """Returns True if the batch is full."""
        line = json_bytes(row)
        self._lines.append(line)
        self._bytes += len(line)
        return len(self._lines) >= _max_rows or self._bytes >= _max_bytes

    def _take(self) -> Batch:
        batch = self._lines, self._sent_rows
        self._sent_rows += len(self._lines)
        self._lines = []
        self._bytes = 0
        return batch


def send_batch(
    connection: Connection, lines: List[bytes], sent_rows: int, dry_run: bool, limits: Limits
) -> List[ImportResult]:
    def read_results(response: object) -> List[ImportResult]:
        if not isinstance(response, list) or len(response) != len(lines) + 1:
            raise bad_response("a line of the import is missing")
        results = [read(ImportResult, line, "a result") for line in response[:-1]]
        return [_moved(result, sent_rows) for result in results]

    headers = {"Content-Type": "application/x-ndjson", "Accept": "application/x-ndjson, application/json"}
    path = f"/admin/v1/user-groups/import?dry_run={str(dry_run).lower()}"
    body = b"\n".join([*lines, b""])
    return connection.execute(Operation("POST", path, headers, body, read_results, is_ndjson=True), limits)


def _moved(result: ImportResult, rows: int) -> ImportResult:
    """Counts the line among all rows."""
    return replace(result, line=result.line + rows)
