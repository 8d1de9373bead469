"""Makes the call that standard input describes, with Python's own http.client, and prints its answer."""

import http.client
import json
import sys
from urllib.parse import urlsplit

call = json.load(sys.stdin)
url = urlsplit(call["url"])
connection = http.client.HTTPConnection(url.hostname, url.port)
# As bytes: http.client would encode a string as Latin-1.
body = json.dumps(call["body"], ensure_ascii=False).encode("utf-8")
connection.request(call["method"], url.path, body=body, headers=call["headers"])
answer = connection.getresponse()
json.dump({"status": answer.status, "body": json.loads(answer.read())}, sys.stdout)
connection.close()
