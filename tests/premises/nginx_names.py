"""A name server on loopback, for names that stand for several addresses."""

from __future__ import annotations

import socket
import threading

_QUESTION_AT = 12
_TTL_SECONDS = 1


class NameServer:
    """Answers every question for an A record with `addresses`, in this order, for as long as it runs."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self.port: int = self._socket.getsockname()[1]
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(2)
        self._socket.close()

    def _serve(self) -> None:
        while not self._done.is_set():
            try:
                question, sender = self._socket.recvfrom(512)
            except TimeoutError:
                continue
            self._socket.sendto(_answer(question, list(self.addresses)), sender)


def _answer(question: bytes, addresses: list[str]) -> bytes:
    end = question.index(b"\0", _QUESTION_AT) + 5
    is_a = question[end - 4 : end - 2] == b"\0\1"
    pointer_type_class = b"\xc0\x0c\0\1\0\1" + _TTL_SECONDS.to_bytes(4, "big") + b"\0\4"
    records = [pointer_type_class + socket.inet_aton(address) for address in addresses] if is_a else []
    head = question[:2] + b"\x81\x80\0\1" + len(records).to_bytes(2, "big") + b"\0\0\0\0"
    return head + question[_QUESTION_AT:end] + b"".join(records)
