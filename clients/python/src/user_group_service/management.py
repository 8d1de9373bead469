"""The clients for the management API. `management_api` has their operations with the types of arguments and results."""

from __future__ import annotations

import functools
import inspect
import ssl
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Optional,
    TypeVar,
    Union,
)

from ._connection import Connection, Failure, Limits
from ._import import Batches, send_batch
from ._management import AsyncCalls, Calls, Handlers, Method
from .errors import ServiceError
from .management_api import (
    AdminUserGroup,
    DataSourceFields,
    ImportResult,
    ManagementOperations,
    RegisteredDataSource,
    RegisteredSchema,
    SchemaFields,
    TokenRotation,
    ImportRow,
)

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

R = TypeVar("R")


class _Operations(ManagementOperations, Calls):
    """The operations of one call, within its deadline."""

    def _with(self, handlers: Handlers) -> _Operations:
        """Returns these operations with handlers for a refusal that follows an attempt with an unknown outcome."""
        return _Operations(self._connection, self._limits, handlers)


def _composed(function: Callable[Concatenate[_Operations, P], R]) -> Method[P, R]:
    """Makes a method of a function that sends several requests."""

    def call(connection: Connection, _handlers: object, bound: inspect.BoundArguments, limits: Limits) -> R:
        return function(_Operations(connection, limits), *bound.args[1:], **bound.kwargs)

    return Method(function, call)


@_composed
def _rotate_user_group_token(
    operations: _Operations,
    team_id: int,
    rotation: TokenRotation = {},
    *,
    if_revision: Optional[int] = None,
    deadline_seconds: Optional[float] = None,
) -> Optional[str]:
    """Replaces the token of a user group and returns the new one; None if the API token lacks the scope `admin`. The old one
    stops at once, or after the grace period.

    Retries never rotate a second time: the method first reads the revision, and every attempt names it. If a retry after a lost
    response finds another token than before, it returns that one.
    """
    while True:
        before = operations.get_user_group(team_id)

        def find_rotated(_: Failure, refusal: ServiceError) -> Optional[str]:
            # The revision has changed, so no attempt can rotate any more.
            if operations.get_user_group(team_id).token_issued_at == before.token_issued_at:
                raise refusal
            try:
                return operations.get_user_group_token(team_id)
            except ServiceError as error:
                if error.code != "forbidden":
                    raise
                return None

        try:
            return operations._with({"revision_mismatch": find_rotated})._rotate_user_group_token(
                team_id, rotation, if_revision=before.revision if if_revision is None else if_revision
            )
        except ServiceError as error:
            if error.code != "revision_mismatch" or if_revision is not None:
                raise


@_composed
def _restore_deleted_user_group(
    operations: _Operations, team_id: int, *, deadline_seconds: Optional[float] = None
) -> AdminUserGroup:
    """Restores a user group that was deleted within the last 30 days, including its current token.

    If a retry after a lost response finds the user group restored, it returns that.
    """

    def find_restored(_ambiguous: Failure, _refusal: ServiceError) -> AdminUserGroup:
        return operations.get_user_group(team_id)

    return operations._with({"user_group_not_found": find_restored})._restore_deleted_user_group(team_id)


@_composed
def _create_schema(
    operations: _Operations, fields: SchemaFields, *, deadline_seconds: Optional[float] = None
) -> RegisteredSchema:
    """Registers a schema. If a retry after a lost response finds a schema with the same fields, it returns that."""
    find_created = _finder(fields, operations.list_schemas)
    return operations._with({"already_exists": find_created})._create_schema(fields)


@_composed
def _create_data_source(
    operations: _Operations, fields: DataSourceFields, *, deadline_seconds: Optional[float] = None
) -> RegisteredDataSource:
    """Registers a data source. For retries, see `create_schema`."""
    find_created = _finder(fields, lambda: operations.list_data_sources({"schema_id": fields["schema_id"]}))
    return operations._with({"already_exists": find_created})._create_data_source(fields)


def _finder(
    fields: Mapping[str, object], list_registered: Callable[[], Iterable[R]]
) -> Callable[[Failure, ServiceError], R]:
    """After a lost response, `already_exists` may mean that this operation's own earlier attempt succeeded."""

    def find_created(_: Failure, refusal: ServiceError) -> R:
        for registered in list_registered():
            if all(getattr(registered, name) == value for name, value in fields.items()):
                return registered
        raise refusal

    return find_created


class _Management(ManagementOperations):
    """All methods with one result."""

    rotate_user_group_token = _rotate_user_group_token
    restore_deleted_user_group = _restore_deleted_user_group
    create_schema = _create_schema
    create_data_source = _create_data_source


class UserGroupManagement(_Management, Calls):
    """A client for the management API. Needs an API token with the scope `observe`, `support` or `admin`. Threads may share it.

    It sees one workspace and one environment; resources of others are `user_group_not_found` or `not_found`.

    Every method raises ServiceError if the service responds with an error, and TransportError if it does not respond. Before that,
    it retries as `UserGroupClient` does, except that methods that create or rotate an API token or a webhook secret are retried only
    if they cannot have taken effect. Each method describes what a retry does. For the options, see `UserGroupClient`.
    """

    def __init__(
        self,
        origin: str,
        api_token: str,
        *,
        deadline_seconds: float = 15.0,
        max_tries: int = 8,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        super().__init__(Connection(origin, api_token, deadline_seconds, max_tries, False, ssl_context))

    def import_user_groups(
        self, rows: Iterable[ImportRow], *, dry_run: bool = False, deadline_seconds: Optional[float] = None
    ) -> Iterator[ImportResult]:
        """Creates or updates any number of user groups, several hundred per request.

        Sends the next batch when you iterate to it. An error of one row does not stop the others. If several rows have the same id,
        the last one wins; within one request, they are refused. A retry after a lost response reports rows that the lost attempt
        imported as `unchanged`. With `dry_run`, nothing changes.
        """
        for lines, sent_rows in Batches().split(rows):
            yield from self._run(
                functools.partial(send_batch, self._connection, lines, sent_rows, dry_run), deadline_seconds
            )

    def close(self) -> None:
        """Closes the idle connections."""
        self._connection.transport.close()

    def __enter__(self) -> UserGroupManagement:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class AsyncUserGroupManagement(_Management, AsyncCalls):
    """The same as UserGroupManagement, for asyncio. Calls run in threads, at most `max_concurrency` at once."""

    def __init__(
        self,
        origin: str,
        api_token: str,
        *,
        deadline_seconds: float = 15.0,
        max_tries: int = 8,
        ssl_context: Optional[ssl.SSLContext] = None,
        max_concurrency: int = 32,
    ) -> None:
        connection = Connection(origin, api_token, deadline_seconds, max_tries, False, ssl_context)
        super().__init__(connection, max_concurrency)

    async def import_user_groups(
        self,
        rows: Union[Iterable[ImportRow], AsyncIterable[ImportRow]],
        *,
        dry_run: bool = False,
        deadline_seconds: Optional[float] = None,
    ) -> AsyncIterator[ImportResult]:
        """See `UserGroupManagement.import_user_groups`."""
        async for lines, sent_rows in Batches().split_async(rows):
            call = functools.partial(send_batch, self._connection, lines, sent_rows, dry_run)
            for result in await self._run(call, deadline_seconds):
                yield result

    async def close(self) -> None:
        """Closes the idle connections and ends the threads."""
        self._threads.close()

    async def __aenter__(self) -> AsyncUserGroupManagement:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()
