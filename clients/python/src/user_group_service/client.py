"""The client for `/api/user` and introspection."""

from __future__ import annotations

import ssl
from typing import Mapping, Optional, Sequence, Union

from . import _operations
from ._connection import Connection
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


class UserGroupClient:
    """A client for `/api/user` and introspection. Threads may share one instance.

    Every method raises ServiceError if the service responds with an error, and TransportError if the service does not respond.
    Before that, the method retries within the deadline: after a failed connection, after a missing response, and after status
    408, 429, 500, 502, 503 and 504. It waits at least as long as `Retry-After` requests.

    `origin` is the URL of the service without `/api/user`. `api_token` determines the workspace and the environment.
    `deadline_seconds` is the maximum duration of a call, including retries and pauses; each call can override it. `max_tries` is
    the maximum number of attempts. `method_override` always sends GET and PUT as a POST with `X-HTTP-Method-Override`; by
    default the client switches once a proxy does not pass them. `ssl_context` holds your own CA or client certificate.
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
    ) -> None:
        self._connection = Connection(origin, api_token, deadline_seconds, max_tries, method_override, ssl_context)

    def get_or_create(
        self,
        user_group_id: str,
        *,
        name: Union[str, Keep] = KEEP,
        mapping: Union[Mapping[str, str], None, Keep] = KEEP,
        properties: Union[Mapping[str, object], None, Keep] = KEEP,
        deadline_seconds: Optional[float] = None,
    ) -> GetOrCreateResult:
        """Creates the user group or updates it to match the fields. The token never changes.

        `name` is required to create. None clears `mapping` and `properties`.
        """
        limits = self._connection.limits(deadline_seconds)
        return self._connection.execute(
            _operations.get_or_create(user_group_id, name, mapping, properties), limits
        )

    def update(
        self,
        user_group_id: str,
        *,
        name: Union[str, Keep] = KEEP,
        mapping: Union[Mapping[str, str], None, Keep] = KEEP,
        properties: Union[Mapping[str, object], None, Keep] = KEEP,
        deadline_seconds: Optional[float] = None,
    ) -> UpdatedUserGroup:
        """Updates an existing user group. A retry after a lost response overwrites changes that others made in between."""
        limits = self._connection.limits(deadline_seconds)
        return self._connection.execute(_operations.update(user_group_id, name, mapping, properties), limits)

    def rotate(
        self,
        current_token: str,
        *,
        grace_period_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        deadline_seconds: Optional[float] = None,
    ) -> RotatedUserGroup:
        """Replaces the token of a user group. The old one stops at once, or after the grace period.

        Retries use one idempotency key and never rotate a second time. With your own key you can repeat a failed rotation within
        24 hours: the token is rotated once, and you get the original response.
        """
        limits = self._connection.limits(deadline_seconds)
        return self._connection.execute(
            _operations.rotate(current_token, grace_period_seconds, idempotency_key), limits
        )

    def create_session(
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
        """Creates a session: a short-lived token of one viewer, for the page that shows the dashboard.

        The session shows what the user group has at the time of each introspection, and can only narrow that. Nothing is stored,
        so retries are safe. `resources` are the dashboards that the session is for, by your own names. `expires_in_seconds` is 60
        to 86400, by default 900.

        For engines that verify the token themselves: `audience` is its claim `aud`, `include` names what the token carries of the
        user group (`name`, or `properties.` and the name of a property), `claims` are others. The lifetime is then at most 3600.
        """
        limits = self._connection.limits(deadline_seconds)
        operation = _operations.create_session(
            user_group_id, viewer, narrow, resources, expires_in_seconds, audience, include, claims
        )
        return self._connection.execute(operation, limits)

    def end_sessions(
        self, user_group_id: str, viewer_id: Optional[str] = None, *, deadline_seconds: Optional[float] = None
    ) -> None:
        """Ends the sessions of one viewer, or of all viewers of a user group. The user group token stays.

        Create the next session of the viewer a second later. A retry also ends sessions that were created in between.
        """
        limits = self._connection.limits(deadline_seconds)
        self._connection.execute(_operations.end_sessions(user_group_id, viewer_id), limits)

    def introspect(
        self, token: Optional[str], *, resource: Optional[str] = None, deadline_seconds: Optional[float] = None
    ) -> Optional[IntrospectedUserGroup]:
        """Returns the user group of a user group token or session, or None for an inactive token. Needs the scope `introspect`.

        `resource` is the dashboard to show, by your own name: a session for others is inactive. Without it, refuse all dashboards
        that are not in the `resources` of the result.
        """
        limits = self._connection.limits(deadline_seconds)
        operation = _operations.introspect(token, resource)
        return None if operation is None else self._connection.execute(operation, limits)

    def close(self) -> None:
        """Closes the idle connections."""
        self._connection.transport.close()

    def __enter__(self) -> UserGroupClient:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
