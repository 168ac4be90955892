"""Proxy between a client and a server that lets a COMMIT through, and swallows its reply."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict


class SwallowingProxy:
    """A port of this machine that leads to the server at an address.

    Attributes
    ----------
    swallow : int
        How many of the next commits reach the server, whose replies reach nobody.
    is_away : bool
        Whether every new connection is cut at once, as soon as a reply was swallowed.
    """

    def __init__(self, address: str) -> None:
        facts: dict[str, Any] = dict(conninfo_to_dict(address))
        self._socket = str(Path(facts["host"]) / ".s.PGSQL.5432")
        self.swallow, self.swallowed, self.is_away = 0, 0, False
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.address = f"postgresql://owner:se-cret@127.0.0.1:{port}/{facts['dbname']}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.is_away and self.swallowed:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._socket)
                cut = threading.Event()
                for work in (self._requests, self._replies):
                    threading.Thread(target=work, args=(client, server, cut), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        with suppress(OSError):
            while content := client.recv(65536):
                if b"COMMIT\0" in content and self.swallow:  # no READ COMMITTED
                    self.swallow -= 1
                    cut.set()  # first: no byte of the reply may slip through
                server.sendall(content)
        _close(client, server)

    def _replies(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        with suppress(OSError):
            while content := server.recv(65536):
                if cut.is_set():  # the server has committed: it has answered
                    self.swallowed += 1
                    break
                client.sendall(content)
        _close(client, server)


def _close(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
