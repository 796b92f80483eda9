"""`http.server`: `end_headers()` begins the response."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/handler":
            self.send_error(409)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if self.path == "/made":
            raise ValueError("foreign")
        self.end_headers()
        if self.path == "/sent":
            self.wfile.write(b"id: 1\ndata: a\n\n")
        raise ValueError("foreign")


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
