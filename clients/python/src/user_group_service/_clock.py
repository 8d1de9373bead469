"""Source of the time, and cancellation. Tests replace the clock."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import CancelledError
from typing import Optional


class Cancellation:
    """Ends a call from another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._socket: Optional[socket.socket] = None

    def cancel(self) -> None:
        self._event.set()
        with self._lock:
            if self._socket is not None:
                try:
                    # Wakes the thread that waits for the socket. SSLSocket.shutdown is not safe in another thread.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                except OSError:
                    pass

    def watch(self, sock: Optional[socket.socket]) -> None:
        """Sets the socket that the call uses at present."""
        with self._lock:
            self._socket = sock
        self.check()

    def check(self) -> None:
        """Raises CancelledError if the call was cancelled."""
        if self._event.is_set():
            raise CancelledError

    def sleep(self, seconds: float) -> None:
        self._event.wait(seconds)
        self.check()


class Clock:
    def now(self) -> float:
        """Seconds since the Unix epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds from an arbitrary start. Never jumps when the system clock is set."""
        return time.monotonic()

    def sleep(self, seconds: float, cancellation: Cancellation) -> None:
        cancellation.sleep(seconds)
