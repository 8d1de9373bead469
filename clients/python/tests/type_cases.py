"""Programs that the type checker accepts or, in the lines with `type: ignore`, refuses. Nothing runs them."""

from typing import TypedDict

from user_group_service import AsyncUserGroupClient, ServiceError, UserGroupClient

client = UserGroupClient("http://localhost", "uga_testing_x")


class Properties(TypedDict):
    region: str


properties: Properties = {"region": "EU"}
client.update("a", properties=properties)


def token_of(user_group_id: str) -> str:
    try:
        result = client.get_or_create(user_group_id, name="A", mapping=None, properties={"a": [1, None]})
        return result.user_group.token
    except ServiceError as error:
        if error.code == "token_superseded":
            return error.request_id
        if error.code == "token_superceded":  # type: ignore[comparison-overlap]
            return ""
        raise


async def environment_of(asyncio_client: AsyncUserGroupClient) -> str:
    return (await asyncio_client.rotate("a", grace_period_seconds=60)).environment


class Profile(TypedDict):
    role: str


profile: Profile = {"role": "manager"}
session = client.create_session(
    "a",
    {"id": "u-7", "properties": profile, "time_zone": "Europe/Berlin"},
    narrow={"properties": {"regions": ["EU", 7, None]}, "schemas": ["sales"]},
    claims=profile,
)
lifetime: int = session.expires_in_seconds
client.end_sessions("a", "u-7")

client.create_session("a", {"name": "Ada"})  # type: ignore[typeddict-item]
client.create_session("a", {"id": "u-7", "timeZone": "UTC"})  # type: ignore[typeddict-item]
client.update("a", mapping={"40": 213})  # type: ignore[dict-item]
client.update("a", colour="red")  # type: ignore[call-arg]
client.update("a", properties=["EU"])  # type: ignore[arg-type]
client.introspect("a").name  # type: ignore[union-attr]
