"""A collector of traces: an HTTP server that keeps the spans it gets, decoded by OpenTelemetry's own classes."""

import collections
import contextlib
import gzip
import http.server
import socket
import ssl
import threading
import time

from . import cases

try:
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
except ImportError:
    service = None

Request = collections.namedtuple("Request", "path headers body moment")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in two packets would wait for each other (Nagle).
    wbufsize = -1

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.collector.take(self, Request(self.path, dict(self.headers), body, time.monotonic()))

    def do_GET(self):
        self.do_POST()

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        headers = {"Content-Type": "application/x-protobuf"} | {
            name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    allow_reuse_address = True

    def get_request(self):
        accepted = super().get_request()
        self.collector.connections.append(accepted[0])
        return accepted

    def handle_error(self, *arguments):
        """A client that goes away is part of the tests."""


class Collector:
    """Answers by `answer(handler, number)`, a function that may reply; 200 without one. Numbers count from 1."""

    def __init__(self, answer=None, authority=None, port=0):
        if service is None:
            raise cases.Skipped("the Python package opentelemetry-proto is missing")
        self.answer = answer
        self.requests = []
        self.accepted = []
        self.connections = []
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.collector = self
        self.scheme = "http"
        if authority:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(authority.folder / "localhost.pem", authority.folder / "localhost.key")
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def die(self):
        """Ends as a killed process does, with all connections."""
        self.__exit__()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def url(self):
        return f"{self.scheme}://localhost:{self.server.server_port}"

    def take(self, handler, request):
        with self.lock:
            self.requests.append(request)
            number = len(self.requests)
        if self.answer is None or self.answer(handler, number) is None:
            with self.lock:
                self.accepted.append(request)
            if self.answer is None:
                handler.reply(200)

    def messages(self):
        with self.lock:
            accepted = list(self.accepted)
        for request in accepted:
            message = service.ExportTraceServiceRequest()
            message.ParseFromString(request.body)
            yield message

    def resources(self):
        return [attributes(resource.resource.attributes)
                for message in self.messages() for resource in message.resource_spans]

    def spans(self):
        return [Span(span) for message in self.messages() for resource in message.resource_spans
                for scope in resource.scope_spans for span in scope.spans]


def value(any_value):
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value(inner) for inner in any_value.array_value.values]
    return getattr(any_value, kind)


def attributes(pairs):
    found = {pair.key: value(pair.value) for pair in pairs}
    assert len(found) == len(pairs), "an attribute is there twice"
    return found


class Span:
    def __init__(self, span):
        self.id, self.trace, self.parent = span.span_id.hex(), span.trace_id.hex(), span.parent_span_id.hex()
        self.name, self.kind, self.start, self.end = (
            span.name, span.kind, span.start_time_unix_nano, span.end_time_unix_nano)
        self.attributes, self.status, self.state, self.flags = (
            attributes(span.attributes), span.status, span.trace_state, span.flags)
        self.links = [(link.trace_id.hex(), link.span_id.hex()) for link in span.links]
        assert len(span.span_id) == 8 and len(span.trace_id) == 16

    def __getitem__(self, key):
        return self.attributes.get(key)

    @property
    def microseconds(self):
        return (self.end - self.start) // 1000

    @property
    def role(self):
        return self["weft.span"]
