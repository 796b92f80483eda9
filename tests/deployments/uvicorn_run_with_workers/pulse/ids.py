import threading
import time

_lock = threading.Lock()
_last_ms = 0
_sequence = 0


def snowflake() -> int:
    global _last_ms, _sequence
    with _lock:
        now = int(time.time() * 1000)
        if now == _last_ms:
            _sequence = (_sequence + 1) & 0xFFF
        else:
            _last_ms, _sequence = now, 0
        return now << 12 | _sequence
