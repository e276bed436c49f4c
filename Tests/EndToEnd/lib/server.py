#!/usr/bin/env python3
"""A small API for examples and tests of requests.

    server.py [PORT]     0, or none: any port. Says the port in its first line, and serves until it is ended.

/items/…        what was asked, as JSON; so does every POST, PUT, PATCH and DELETE
/jobs/N         is done when it is asked for the third time
/pages          three pages of two, by Link; /cursor the same by "next" in the JSON
/file           300,000 bytes, also in parts, of one version; /torn the same, of which the first answer breaks off
/status/N       answers N, with Retry-After where ?after= says so; /flaky/… answers 503 twice, then 200
/mirrored       what was sent, which may be kept for ten minutes
/cached         may be kept, and is fresh for ?age= seconds
/moved          redirects to ?to=; /slow is silent for five seconds; /html is no JSON
"""
import collections
import http.server
import json
import sys
import threading
import urllib.parse

content = bytes(i * 7 % 251 for i in range(300_000))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    counts: collections.Counter = collections.Counter()

    def reply(self, status, body=b"", headers=(), length=None):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers = [("Content-Type", "application/json"), *headers]
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def echo(self, body=b"", headers=()):
        self.reply(200, {"method": self.command, "path": self.path, "body": body.decode("latin-1"),
                         "headers": {name.lower(): value for name, value in self.headers.items()}},
                   headers)

    def do_POST(self):
        self.echo(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    do_PUT = do_PATCH = do_DELETE = do_POST

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        first, _, rest = url.path[1:].partition("/")
        self.counts[url.path] += 1
        count = self.counts[url.path]
        match first:
            case "jobs":
                done = count % 3 == 0
                self.reply(200, {"state": "done", "result": 42} if done else {"state": "running"})
            case "pages":
                page = int(query.get("page", 1))
                link = [("Link", f'</pages?page={page + 1}>; rel="next"')] if page < 3 else []
                self.reply(200, [{"id": 2 * page - 1}, {"id": 2 * page}], link)
            case "cursor":
                page = int(query.get("page", 1))
                self.reply(200, {"items": [page], "next": f"/cursor?page={page + 1}" if page < 3 else None})
            case "file" | "torn":
                self.file(first == "torn" and count == 1)
            case "status":
                after = [("Retry-After", query["after"])] if "after" in query else []
                self.reply(int(rest), {"error": f"this is {rest}"}, after)
            case "flaky":
                self.reply(200 if count % 3 == 0 else 503, {"count": count})
            case "moved":
                self.reply(302, headers=[("Location", query["to"])])
            case "cached":
                # Of one version; fresh for as long as ?age= says.
                headers = [("ETag", '"v1"'), ("Cache-Control", f"max-age={query.get('age', 0)}")]
                known = self.headers.get("If-None-Match") == '"v1"'
                self.reply(304 if known else 200, b"" if known else b"content", headers)
            case "mirrored":
                self.echo(headers=[("Cache-Control", "max-age=600")])
            case "slow":
                threading.Event().wait(5)
                self.echo()
            case "html":
                self.reply(200, b"<p>hello</p>", [("Content-Type", "text/html")])
            case "requests":
                self.reply(200, dict(self.counts))
            case _:
                self.echo()

    def file(self, tears):
        start = 0
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes=") and self.headers.get("If-Range") == '"one"':
            start = int(asked[6:].rstrip("-"))
        headers = [("ETag", '"one"'), ("Content-Type", "application/octet-stream")]
        if start:
            headers.append(("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"))
        body = content[start:]
        self.reply(206 if start else 200, body[:100_000] if tears else body, headers, len(body))
        self.close_connection = self.close_connection or tears

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def start(port: int = 0) -> Server:
    """A server in a thread of its own, which has not been asked for anything; `shutdown()` ends it."""
    Handler.counts.clear()
    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with Server(("127.0.0.1", port), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
