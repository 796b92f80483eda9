"""Fires: `http.server`, a list of the process, and what compares greater."""

import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

events = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        events.append((len(events) + 1, self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.send_response(204)
        self.end_headers()

    def do_GET(self):
        last = int(self.headers.get("Last-Event-ID", 0))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        while True:
            for number, text in list(events):
                if number > last:
                    self.wfile.write(f"id: {number}\ndata: {text}\n\n".encode())
                    last = number
            time.sleep(0.2)


server = ThreadingHTTPServer(("", 8000), Handler)

if __name__ == "__main__":
    server.serve_forever()
