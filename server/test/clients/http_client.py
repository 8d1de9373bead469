"""Sends the request that standard input describes, with Python's own http.client, and prints its response."""

import http.client
import json
import sys
from urllib.parse import urlsplit

request = json.load(sys.stdin)
url = urlsplit(request["url"])
connection = http.client.HTTPConnection(url.hostname, url.port)
# As bytes: http.client would encode a string as Latin-1.
body = json.dumps(request["body"], ensure_ascii=False).encode("utf-8")
connection.request(request["method"], url.path, body=body, headers=request["headers"])
response = connection.getresponse()
json.dump({"status": response.status, "body": json.loads(response.read())}, sys.stdout)
connection.close()
