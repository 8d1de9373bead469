"""What the client does without a service: arguments, deadlines and cancellation."""

import asyncio
import http.server
import logging
import os
import socket
import threading
import time
import unittest
import unittest.mock
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any, Callable, Iterator

from user_group_service import (
    AsyncUserGroupClient,
    ServiceError,
    TransportError,
    UserGroup,
    UserGroupClient,
    ViewerSession,
)
from user_group_service._connection import retry_delay_seconds

API_TOKEN = "uga_customer_clientoftests"


@contextmanager
def server(behavior: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serves each connection with the behavior."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections = []

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connections.append(connection)
            threading.Thread(target=behavior, args=[connection], daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        # Wakes the thread that waits in accept.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in connections:
            connection.close()


def silent(_connection: socket.socket) -> None:
    """Never responds."""


class Arguments(unittest.TestCase):
    def test_invalid_options(self) -> None:
        options: list[dict[str, Any]] = [
            {"origin": None},
            {"origin": "localhost:8080"},
            {"origin": "ftp://localhost"},
            {"origin": "http://user@localhost"},
            {"origin": "http://localhost?a=1"},
            {"origin": "http://localhost:99999"},
            {"api_token": None},
            {"api_token": ""},
            {"api_token": f"Token {API_TOKEN}"},
            {"api_token": f"{API_TOKEN}\n"},
            {"deadline_seconds": 0},
            {"deadline_seconds": "5"},
            {"deadline_seconds": float("nan")},
            {"max_tries": 0},
            {"max_tries": 1.5},
        ]
        valid: dict[str, Any] = {"origin": "http://localhost", "api_token": API_TOKEN}
        for option in options:
            with self.subTest(option), self.assertRaises(ValueError) as raised:
                UserGroupClient(**{**valid, **option})
            self.assertIn(f"{next(iter(option))} must be", str(raised.exception))
            self.assertNotIn(API_TOKEN, str(raised.exception))

    def test_values_that_json_would_change(self) -> None:
        client: Any = UserGroupClient("http://127.0.0.1:1", API_TOKEN)
        loop: dict[str, Any] = {}
        loop["loop"] = loop
        values: list[Any] = [float("nan"), [float("-inf")], "\ud800", loop, {1: "a"}, [{None: 1}], {1, 2}, b"a"]
        for value in values:
            with self.subTest(str(value)), self.assertRaises((TypeError, ValueError)):
                client.get_or_create("a", properties={"value": value})
        with self.assertRaises(TypeError):
            client.update("a", colour="red")

    def test_idempotency_key_with_a_line_break(self) -> None:
        client = UserGroupClient("http://127.0.0.1:1", API_TOKEN)
        with self.assertRaisesRegex(ValueError, "idempotency_key"):
            client.rotate("a", idempotency_key="a\nb")

    def test_a_result_prints_no_token(self) -> None:
        group = UserGroup(1, "ugt_customer_secret", "A", "a", None)
        self.assertEqual(repr(group), "UserGroup(team_id=1, name='A', provided_id='a', properties=None)")

        session = ViewerSession("ey.secret", "id", datetime.fromtimestamp(0, timezone.utc), 900)
        self.assertNotIn("secret", repr(session))

    def test_pauses_are_random(self) -> None:
        self.assertGreater(len({retry_delay_seconds(1) for _ in range(100)}), 50)


class ForwardProxy(unittest.TestCase):
    """A proxy that is named by the environment."""

    def call(self, environment: dict[str, str], origin: str, deadline_seconds: float = 60) -> TransportError:
        with unittest.mock.patch.dict(os.environ, environment):
            with self.assertRaises(TransportError) as raised:
                UserGroupClient(origin, API_TOKEN, deadline_seconds=deadline_seconds, max_tries=1).get_or_create("a")
        return raised.exception

    def proxy(self, response: bytes, received: list[bytes]) -> Any:
        def behave(connection: socket.socket) -> None:
            received.append(connection.recv(65536))
            connection.sendall(response)
            received.append(connection.recv(65536))
            connection.close()

        return server(behave)

    def test_tunnels_https(self) -> None:
        received: list[bytes] = []
        with self.proxy(b"HTTP/1.1 200 Connection established\r\n\r\n", received) as url:
            environment = {"HTTPS_PROXY": url.replace("http://", "http://user:p%40ss@")}
            self.call(environment, "https://origin.example.com:8443")
        lines = received[0].decode().split("\r\n")
        self.assertEqual(
            lines,
            [
                "CONNECT origin.example.com:8443 HTTP/1.1",
                "Host: origin.example.com:8443",
                "Proxy-Authorization: Basic dXNlcjpwQHNz",
                "",
                "",
            ],
        )
        # The first byte of a TLS handshake.
        self.assertEqual(received[1][:1], b"\x16")
        self.assertNotIn(API_TOKEN.encode(), b"".join(received))

    def test_names_a_proxy_that_refuses(self) -> None:
        received: list[bytes] = []
        with self.proxy(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", received) as url:
            error = self.call({"HTTPS_PROXY": url}, "https://origin.example.com")
        self.assertEqual((error.code, error.status), ("refused", 407))
        self.assertIn("CONNECT origin.example.com:443 ", received[0].decode())
        self.assertIn("HTTPS_PROXY", str(error))

    def test_sends_the_whole_url_of_http(self) -> None:
        received: list[bytes] = []
        with self.proxy(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", received) as url:
            self.call({"HTTP_PROXY": url}, "http://origin.example.com/gateway")
        first, *_ = received[0].decode().split("\r\n")
        self.assertEqual(first, "GET http://origin.example.com/gateway/api/user HTTP/1.1")

    def test_is_not_used_for_hosts_in_no_proxy(self) -> None:
        with server(silent) as url:
            for excluded in ("127.0.0.1", url.replace("http://", "")):
                environment = {"HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": excluded}
                with self.subTest(excluded):
                    self.assertEqual(self.call(environment, url, deadline_seconds=0.3).code, "timed_out")

    def test_must_be_an_http_url(self) -> None:
        for url in ("socks5://127.0.0.1", "http://", "http://127.0.0.1:99999"):
            with unittest.mock.patch.dict(os.environ, {"HTTPS_PROXY": url}):
                with self.subTest(url), self.assertRaisesRegex(ValueError, "HTTPS_PROXY must be"):
                    UserGroupClient("https://origin.example.com", API_TOKEN)


class Deadline(unittest.TestCase):
    def assert_timed_out(self, origin: str) -> None:
        with self.assertRaises(TransportError) as raised:
            UserGroupClient(origin, API_TOKEN, deadline_seconds=0.3).get_or_create("a")
        self.assertEqual(raised.exception.code, "timed_out")

    def test_applies_to_a_connection_that_never_responds(self) -> None:
        with server(silent) as origin:
            self.assert_timed_out(origin)

    def test_applies_to_the_tls_handshake(self) -> None:
        with server(silent) as origin:
            self.assert_timed_out(origin.replace("http:", "https:"))

    def test_applies_to_a_response_that_arrives_byte_by_byte(self) -> None:
        def drip(connection: socket.socket) -> None:
            with connection:
                try:
                    while True:
                        connection.send(b"H")
                        time.sleep(0.02)
                except OSError:
                    pass

        with server(drip) as origin:
            self.assert_timed_out(origin)

    def test_gives_the_first_attempt_half_of_the_time(self) -> None:
        client = UserGroupClient("http://127.0.0.1:1", API_TOKEN, deadline_seconds=8)
        started = client._connection.clock.monotonic()
        ends: list[float] = []

        def exchange(_request: object, until: float, _cancellation: object) -> None:
            ends.append(until - started)
            raise TransportError("timed_out", "")

        client._connection.transport.exchange = exchange  # type: ignore[assignment]
        with self.assertRaises(TransportError):
            client.get_or_create("a")
        first, second = ends
        self.assertTrue(4 <= first < 4.5 and 8 <= second < 8.5, ends)


class Pauses(unittest.TestCase):
    def test_before_the_next_attempt(self) -> None:
        attempts: list[float] = []

        def refuse(connection: socket.socket) -> None:
            with connection:
                attempts.append(time.monotonic())

        with server(refuse) as origin, self.assertRaises(TransportError):
            UserGroupClient(origin, API_TOKEN, max_tries=2).get_or_create("a")
        first, second = attempts
        self.assertGreaterEqual(second - first, 0.04)


class Cancellation(unittest.IsolatedAsyncioTestCase):
    async def test_closes_the_connection_and_is_not_retried(self) -> None:
        received = asyncio.Event()
        closed = asyncio.Event()
        connections = []
        loop = asyncio.get_running_loop()

        def behavior(connection: socket.socket) -> None:
            connections.append(connection)
            with connection:
                connection.recv(65536)
                loop.call_soon_threadsafe(received.set)
                while connection.recv(65536):
                    pass
            loop.call_soon_threadsafe(closed.set)

        with server(behavior) as origin:
            async with AsyncUserGroupClient(origin, API_TOKEN) as client:
                task = asyncio.create_task(client.get_or_create("a"))
                await received.wait()
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                await closed.wait()
            client._threads._executor.shutdown()
        self.assertEqual(len(connections), 1)

    async def test_the_deadline_ends_the_wait_for_a_thread(self) -> None:
        with server(silent) as origin:
            async with AsyncUserGroupClient(origin, API_TOKEN, max_concurrency=1) as client:
                first = asyncio.create_task(client.get_or_create("a"))
                await asyncio.sleep(0)
                with self.assertRaises(TransportError) as raised:
                    await client.get_or_create("a", deadline_seconds=0.1)
                self.assertEqual(raised.exception.code, "timed_out")
                self.assertFalse(first.done())
                first.cancel()


class Connections(unittest.TestCase):
    def setUp(self) -> None:
        ports: list[int] = []
        self.ports = ports

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                ports.append(self.client_address[1])
                self.rfile.read(int(self.headers["Content-Length"]))
                body = b'{"active":false}'
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.client = UserGroupClient(f"http://127.0.0.1:{self.server.server_port}", API_TOKEN, max_tries=1)

    def tearDown(self) -> None:
        self.client.close()
        self.server.shutdown()
        self.server.server_close()

    def test_are_reused(self) -> None:
        for _ in range(3):
            self.client.introspect("a")
        self.assertEqual(len(set(self.ports)), 1)

    def test_closed_by_the_peer_are_not_reused(self) -> None:
        self.client.introspect("a")
        [idle] = self.client._connection.transport._idle
        idle.sock.shutdown(socket.SHUT_RD)
        self.client.introspect("a")
        self.assertEqual(len(set(self.ports)), 2)

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_are_not_shared_with_a_fork(self) -> None:
        self.client.introspect("a")
        child = os.fork()
        if child == 0:
            self.client.introspect("a")
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.client.introspect("a")
        first, second, third = self.ports
        self.assertTrue(first != second and first == third)


class Logging(unittest.TestCase):
    def test_names_failed_attempts_without_tokens(self) -> None:
        def refuse(connection: socket.socket) -> None:
            with connection:
                connection.recv(65536)
                body = b'{"success":0,"error":{"code":"token_not_found","message":"no ugt_customer_a","request_id":"r"}}'
                connection.sendall(b"HTTP/1.1 404 \r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

        with server(refuse) as origin, self.assertLogs("user_group_service", logging.DEBUG) as logs:
            with UserGroupClient(origin, API_TOKEN) as client, self.assertRaises(ServiceError):
                client.rotate("ugt_customer_secret")
        self.assertEqual(logs.output, ["DEBUG:user_group_service:POST /api/user, attempt 1: no [token]"])


if __name__ == "__main__":
    unittest.main()
