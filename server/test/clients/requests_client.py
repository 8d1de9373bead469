"""Makes the call that standard input describes, with requests, and prints its answer."""

import json
import sys

import requests

call = json.load(sys.stdin)
answer = requests.request(call["method"], call["url"], headers=call["headers"], json=call["body"])
json.dump({"status": answer.status_code, "body": answer.json()}, sys.stdout)
