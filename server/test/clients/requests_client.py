"""Sends the request that standard input describes, with requests, and prints its response."""

import json
import sys

import requests

request = json.load(sys.stdin)
response = requests.request(request["method"], request["url"], headers=request["headers"], json=request["body"])
json.dump({"status": response.status_code, "body": response.json()}, sys.stdout)
