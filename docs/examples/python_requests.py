"""Creates a user group, updates it and rotates its token. Prints one response per line.

Needs the package requests, and UGS_API_TOKEN (and UGS_URL if the service is not at http://127.0.0.1:8080) in the
environment.
"""

import os
import uuid

import requests

URL = os.environ.get("UGS_URL", "http://127.0.0.1:8080") + "/api/user"

session = requests.Session()
session.headers["Authorization"] = "Token " + os.environ["UGS_API_TOKEN"]


def call(method, body, headers=None):
    # json= sends a body with a GET too, and sets Content-Type.
    response = session.request(method, URL, json=body, headers=headers, timeout=10)
    if response.status_code != 200:
        raise RuntimeError(f"{method}: {response.status_code} {response.text}")
    print(response.text)
    return response.json()


user_group = call(
    "GET",
    {
        "user_group_id": "customer-42",
        "name": "Example customer",
        "mapping": {"40": "213"},
        "properties": {"region": "EU"},
    },
)["user_group"]

call("PUT", {"user_group_id": "customer-42", "properties": {"region": "EU", "plan": "gold"}})

call(
    "POST",
    {"current_token": user_group["token"], "grace_period_seconds": 3600},
    {"Idempotency-Key": str(uuid.uuid4())},
)
