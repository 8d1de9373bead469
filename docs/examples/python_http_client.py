"""Creates a user group, updates it and rotates its token. Prints one response per line.

Needs only Python, and UGS_API_TOKEN (and UGS_URL if the service is not at http://127.0.0.1:8080) in the
environment.
"""

import http.client
import json
import os
import uuid
from urllib.parse import urlsplit

url = urlsplit(os.environ.get("UGS_URL", "http://127.0.0.1:8080"))
Connection = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
connection = Connection(url.netloc, timeout=10)


def call(method, body, headers=None):
    connection.request(
        method,
        url.path + "/api/user",
        body=json.dumps(body).encode(),
        headers={
            "Authorization": "Token " + os.environ["UGS_API_TOKEN"],
            "Content-Type": "application/json",
            **(headers or {}),
        },
    )
    response = connection.getresponse()
    text = response.read().decode()
    if response.status != 200:
        raise RuntimeError(f"{method}: {response.status} {text}")
    print(text)
    return json.loads(text)


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
