"""Superset accepts viewer sessions as guest tokens. Add this to your superset_config.py."""

import json
import os
import urllib.request

from superset.security import SupersetSecurityManager

# Without the proxies of the environment, because the request has a token.
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ViewerSessionSecurityManager(SupersetSecurityManager):
    def parse_jwt_guest_token(self, raw_token):
        """Returns the claims of a guest. Raises an error, which Superset turns into a 401, if the session is not valid."""
        request = urllib.request.Request(os.environ["GUEST_CLAIMS_URL"], raw_token.encode())
        with opener.open(request, timeout=5) as response:
            return json.load(response)


CUSTOM_SECURITY_MANAGER = ViewerSessionSecurityManager
FEATURE_FLAGS = {"EMBEDDED_SUPERSET": True}
