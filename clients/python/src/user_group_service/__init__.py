"""Client of the User Group Service, for backends."""

from typing import TYPE_CHECKING

from ._version import __version__
from .async_client import AsyncUserGroupClient
from .client import UserGroupClient
from .errors import (
    ErrorCode,
    FieldFault,
    ServiceError,
    TransportError,
    TransportErrorCode,
    UserGroupServiceError,
)
from .page import AsyncPaged, Page, Paged
from .user_group import (
    KEEP,
    Environment,
    GetOrCreateResult,
    IntrospectedUserGroup,
    IntrospectedViewer,
    Keep,
    MappedDataSource,
    Narrowing,
    RotatedUserGroup,
    Schema,
    UpdatedUserGroup,
    UserGroup,
    Viewer,
    ViewerSession,
)

if TYPE_CHECKING:
    from .management import AsyncUserGroupManagement, UserGroupManagement
else:

    def __getattr__(name):
        """Loads the management API on first use, because of its many types."""
        if name in ("AsyncUserGroupManagement", "UserGroupManagement"):
            from . import management

            return getattr(management, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "KEEP",
    "AsyncPaged",
    "AsyncUserGroupClient",
    "AsyncUserGroupManagement",
    "Environment",
    "ErrorCode",
    "FieldFault",
    "GetOrCreateResult",
    "IntrospectedUserGroup",
    "IntrospectedViewer",
    "Keep",
    "MappedDataSource",
    "Narrowing",
    "Page",
    "Paged",
    "RotatedUserGroup",
    "Schema",
    "ServiceError",
    "TransportError",
    "TransportErrorCode",
    "UpdatedUserGroup",
    "UserGroup",
    "UserGroupClient",
    "UserGroupManagement",
    "UserGroupServiceError",
    "Viewer",
    "ViewerSession",
    "__version__",
]
