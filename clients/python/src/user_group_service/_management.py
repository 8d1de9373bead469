"""Turns the declarations of `management_api` into methods: of a client that blocks, and of one for asyncio."""

from __future__ import annotations

import functools
import inspect
import re
from datetime import datetime, timezone
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Coroutine,
    Dict,
    Generic,
    List,
    Literal,
    Mapping,
    Optional,
    TypeVar,
    Union,
    get_type_hints,
    overload,
)
from urllib.parse import quote, urlencode

from ._connection import Connection, Failure, Limits, Operation
from ._json import json_bytes
from ._results import read
from ._threads import Threads
from .errors import ServiceError, bad_response
from .page import AsyncPaged, Page, Paged

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")
else:
    P = TypeVar("P")

R = TypeVar("R")
Handlers = Mapping[str, Callable[[Failure, ServiceError], Any]]
Retry = Union[None, str, Mapping[str, str]]

# Far above a page of 200 user groups of the maximum request body size.
_max_response_bytes = 256 * 1024 * 1024


class Calls:
    """Runs methods on a connection and waits for them."""

    def __init__(
        self, connection: Connection, limits: Optional[Limits] = None, handlers: Optional[Handlers] = None
    ) -> None:
        self._connection = connection
        # Of all requests of one call. None if each call has its own.
        self._limits = limits
        self._handlers = handlers

    def _run(self, call: Callable[[Limits], R], deadline_seconds: Optional[float]) -> R:
        return call(self._limits or self._connection.limits(deadline_seconds))


class AsyncCalls:
    """Runs methods on a connection in threads."""

    _handlers: Optional[Handlers] = None

    def __init__(self, connection: Connection, max_concurrency: int) -> None:
        self._connection = connection
        self._threads = Threads(connection, max_concurrency)

    async def _run(self, call: Callable[[Limits], R], deadline_seconds: Optional[float]) -> R:
        return await self._threads.run(call, deadline_seconds)


class Method(Generic[P, R]):
    """A method of both clients, which returns the result or a coroutine."""

    def __init__(self, function: Callable[..., R], call: Callable[..., R]) -> None:
        self.function = function
        self._call = call

    @overload
    def __get__(self, client: Calls, owner: object) -> Callable[P, R]: ...

    @overload
    def __get__(self, client: AsyncCalls, owner: object) -> Callable[P, Coroutine[Any, Any, R]]: ...

    def __get__(self, client: Any, owner: object) -> Any:
        if client is None:
            return self.function

        @functools.wraps(self.function)
        def method(*args: Any, **kwargs: Any) -> Any:
            bound = inspect.signature(self.function).bind(client, *args, **kwargs)
            deadline_seconds = bound.arguments.pop("deadline_seconds", None)
            run = functools.partial(self._call, client._connection, client._handlers, bound)
            return client._run(run, deadline_seconds)

        return method


class PagedMethod(Generic[P, R]):
    """A method of both clients, which returns a list with items of this type that is read page by page."""

    def __init__(self, function: Callable[..., R], call: Callable[..., Page[R]]) -> None:
        self.function = function
        self._call = call

    @overload
    def __get__(self, client: Calls, owner: object) -> Callable[P, Paged[R]]: ...

    @overload
    def __get__(self, client: AsyncCalls, owner: object) -> Callable[P, AsyncPaged[R]]: ...

    def __get__(self, client: Any, owner: object) -> Any:
        if client is None:
            return self.function

        @functools.wraps(self.function)
        def method(*args: Any, **kwargs: Any) -> Any:
            bound = inspect.signature(self.function).bind(client, *args, **kwargs)
            deadline_seconds = bound.arguments.pop("deadline_seconds", None)

            def load(cursor: Optional[str]) -> Any:
                run = functools.partial(self._call, client._connection, cursor, bound)
                return client._run(run, deadline_seconds)

            return (Paged if isinstance(client, Calls) else AsyncPaged)(load)

        return method


def operation(
    method: str, path: str, *, returns: Optional[str] = None, status: int = 200, retry: Retry = None
) -> Callable[[Callable[Concatenate[Any, P], R]], Method[P, R]]:
    """Makes a method of an operation. Names in braces stand for numbers, which are its first arguments.

    `returns` is the member of the response that the method returns, or that is true if it returns nothing. By default it returns the
    whole response. `retry` is the meaning of a retry
    after an attempt whose outcome is unknown. "never": it has a second effect. Otherwise by error code: the earlier attempt
    "succeeded", or may have ("unknown").
    """

    def decorate(function: Callable[Concatenate[Any, P], R]) -> Method[P, R]:
        def call(
            connection: Connection, handlers: Optional[Handlers], bound: inspect.BoundArguments, limits: Limits
        ) -> R:
            def read_response(response: object) -> Any:
                kind = get_type_hints(function)["return"]
                if returns is None:
                    return read(kind, response, "the response")
                if kind is type(None):
                    kind = Literal[True]
                value = read(kind, _member(response, returns), returns)
                return None if kind == Literal[True] else value

            request = _request(method, path, bound, read_response, status, retry, handlers)
            result: R = connection.execute(request, limits)
            return result

        return Method(function, call)

    return decorate


def paged(path: str, *, items: str) -> Callable[[Callable[Concatenate[Any, P], R]], PagedMethod[P, R]]:
    """Makes a method of an operation that lists something. `items` is the member of the response with the items of a page."""

    def decorate(function: Callable[Concatenate[Any, P], R]) -> PagedMethod[P, R]:
        def call(
            connection: Connection, cursor: Optional[str], bound: inspect.BoundArguments, limits: Limits
        ) -> Page[R]:
            def read_page(response: object) -> Page[R]:
                item: Any = get_type_hints(function)["return"]
                found = read(List[item], _member(response, items), items)
                next_cursor = read(Optional[str], _member(response, "next_cursor"), "next_cursor")
                if next_cursor is not None and next_cursor == cursor:
                    # Prevents an endless loop.
                    raise bad_response("its next_cursor equals the cursor that was sent")
                total = response.get("total") if isinstance(response, dict) else None
                return Page(found, next_cursor, read(Optional[Dict[str, Any]], total, "total"))

            extra = {} if cursor is None else {"cursor": cursor}
            request = _request("GET", path, bound, read_page, extra=extra)
            return connection.execute(request, limits)

        return PagedMethod(function, call)

    return decorate


def _request(
    method: str,
    path: str,
    bound: inspect.BoundArguments,
    read_response: Callable[[object], R],
    status: int = 200,
    retry: Retry = None,
    handlers: Optional[Handlers] = None,
    extra: Mapping[str, object] = {},
) -> Operation[R]:
    _, *args = bound.args
    ids = {name: _checked_id(name, args.pop(0)) for name in re.findall(r"{(\w+)}", path)}
    fields = {name: _plain(value) for name, value in {**(args[0] if args else {}), **extra}.items()}
    revision = bound.arguments.get("if_revision")
    headers = {}
    if revision is not None:
        # The ETag of this revision.
        headers["If-Match"] = f'"{next(iter(ids.values()))}.{_checked_id("if_revision", revision)}"'
    kinds = [parameter.kind for parameter in bound.signature.parameters.values()]
    has_fields = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) > len(ids) + 1
    has_query = method in ("GET", "DELETE")
    has_body = has_fields and not has_query
    if has_body:
        headers["Content-Type"] = "application/json"
    query = f"?{_query(fields)}" if has_query and fields else ""
    body = json_bytes(fields) if has_body else b""
    return Operation(
        method,
        f"/admin/v1{path.format(**ids)}{query}",
        headers,
        None if method == "GET" else body,
        read_response,
        status=status,
        max_response_bytes=_max_response_bytes,
        # A revision is replaced only once.
        is_non_idempotent=retry == "never" and revision is None,
        after_ambiguous_failure=handlers or ({} if isinstance(retry, str) else _handlers(retry or {})),
    )


def _handlers(retry: Mapping[str, str]) -> Handlers:
    def succeed(_ambiguous: Failure, _refusal: ServiceError) -> None:
        return None

    def fail(ambiguous: Failure, _refusal: ServiceError) -> None:
        raise ambiguous

    return {code: succeed if outcome == "succeeded" else fail for code, outcome in retry.items()}


def _member(response: object, name: str) -> object:
    if not isinstance(response, dict) or response.get("success") != 1 or name not in response:
        raise bad_response(f"the response has no {name}")
    return response[name]


def _checked_id(name: str, value: object) -> int:
    if type(value) is int and 1 <= value <= 2**53:
        return value
    raise ValueError(f"{name} must be an int, 1 or more")


def _plain(value: object) -> object:
    """Returns the JSON of a field."""
    if not isinstance(value, datetime):
        return value
    if value.tzinfo is None:
        raise ValueError("A datetime must have a time zone, for example timezone.utc.")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _query(fields: Mapping[str, object]) -> str:
    """Raises ValueError for values that a query cannot represent."""
    texts = {}
    for name, value in fields.items():
        if not isinstance(value, (str, bool, int, float)) or value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{name} cannot be sent in a query string")
        texts[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return urlencode(texts, quote_via=quote, safe="")
