"""The client for asyncio."""

from __future__ import annotations

import ssl
from typing import Mapping, Optional, Sequence, Union

from . import _operations
from ._connection import Connection, Operation, Result
from ._threads import Threads
from .user_group import (
    KEEP,
    GetOrCreateResult,
    IntrospectedUserGroup,
    Keep,
    Narrowing,
    RotatedUserGroup,
    UpdatedUserGroup,
    Viewer,
    ViewerSession,
)


class AsyncUserGroupClient:
    """The same as UserGroupClient, for asyncio. Calls run in threads, at most `max_concurrency` at once.

    A cancelled call closes its connection and is not retried. It may have taken effect.
    """

    def __init__(
        self,
        origin: str,
        api_token: str,
        *,
        deadline_seconds: float = 15.0,
        max_tries: int = 8,
        method_override: bool = False,
        ssl_context: Optional[ssl.SSLContext] = None,
        max_concurrency: int = 32,
    ) -> None:
        self._connection = Connection(origin, api_token, deadline_seconds, max_tries, method_override, ssl_context)
        self._threads = Threads(self._connection, max_concurrency)

    async def get_or_create(
        self,
        user_group_id: str,
        *,
        name: Union[str, Keep] = KEEP,
        mapping: Union[Mapping[str, str], None, Keep] = KEEP,
        properties: Union[Mapping[str, object], None, Keep] = KEEP,
        deadline_seconds: Optional[float] = None,
    ) -> GetOrCreateResult:
        """See `UserGroupClient.get_or_create`."""
        operation = _operations.get_or_create(user_group_id, name, mapping, properties)
        return await self._run(operation, deadline_seconds)

    async def update(
        self,
        user_group_id: str,
        *,
        name: Union[str, Keep] = KEEP,
        mapping: Union[Mapping[str, str], None, Keep] = KEEP,
        properties: Union[Mapping[str, object], None, Keep] = KEEP,
        deadline_seconds: Optional[float] = None,
    ) -> UpdatedUserGroup:
        """See `UserGroupClient.update`."""
        operation = _operations.update(user_group_id, name, mapping, properties)
        return await self._run(operation, deadline_seconds)

    async def rotate(
        self,
        current_token: str,
        *,
        grace_period_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        deadline_seconds: Optional[float] = None,
    ) -> RotatedUserGroup:
        """See `UserGroupClient.rotate`."""
        operation = _operations.rotate(current_token, grace_period_seconds, idempotency_key)
        return await self._run(operation, deadline_seconds)

    async def create_session(
        self,
        user_group_id: str,
        viewer: Viewer,
        *,
        narrow: Optional[Narrowing] = None,
        resources: Optional[Sequence[str]] = None,
        expires_in_seconds: Optional[int] = None,
        audience: Optional[str] = None,
        include: Optional[Sequence[str]] = None,
        claims: Optional[Mapping[str, object]] = None,
        deadline_seconds: Optional[float] = None,
    ) -> ViewerSession:
        """See `UserGroupClient.create_session`."""
        operation = _operations.create_session(
            user_group_id, viewer, narrow, resources, expires_in_seconds, audience, include, claims
        )
        return await self._run(operation, deadline_seconds)

    async def end_sessions(
        self, user_group_id: str, viewer_id: Optional[str] = None, *, deadline_seconds: Optional[float] = None
    ) -> None:
        """See `UserGroupClient.end_sessions`."""
        await self._run(_operations.end_sessions(user_group_id, viewer_id), deadline_seconds)

    async def introspect(
        self, token: Optional[str], *, resource: Optional[str] = None, deadline_seconds: Optional[float] = None
    ) -> Optional[IntrospectedUserGroup]:
        """See `UserGroupClient.introspect`."""
        operation = _operations.introspect(token, resource)
        return None if operation is None else await self._run(operation, deadline_seconds)

    async def close(self) -> None:
        """Closes the idle connections and ends the threads."""
        self._threads.close()

    async def __aenter__(self) -> AsyncUserGroupClient:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _run(self, operation: Operation[Result], deadline_seconds: Optional[float]) -> Result:
        return await self._threads.run(lambda limits: self._connection.execute(operation, limits), deadline_seconds)
