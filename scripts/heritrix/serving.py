"""Servers of the made site: on loopback only, and ended with the block that they are for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from heritrix.made_site import Answer, Site

ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
NOT_FOUND = Answer(404, b"<p>not found</p>")

Answers = Callable[[str], Answer]  # by URI


@contextmanager
def serving(make: Callable[[list[str]], Site]) -> Iterator[Served]:
    """The site that `make` makes of the hosts' URLs, served to the end of the block."""
    with ExitStack() as stack:
        served = Served()
        hosts = [stack.enter_context(server(address, served.answer)) for address in ADDRESSES]
        served.site = make(hosts)
        yield served


class Served:
    """The site that is served now: another may take its place between two crawls."""

    site: Site

    def answer(self, uri: str) -> Answer:
        return self.site.answers.get(uri, NOT_FOUND)


@contextmanager
def server(address: str, answers: Answers) -> Iterator[str]:
    """A server on a free port; yields its URL without a slash. It is also a proxy for all hosts:
    answers are asked with the URI of the request's line when that is absolute."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            uri = self.requestline.split(" ")[1]  # self.path folds slashes
            answer = answers(uri if uri.startswith("http:") else base + uri)
            with suppress(ConnectionError):  # a crawler that was killed meanwhile
                self.say(answer)

        def say(self, answer: Answer) -> None:
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(answer.body)))
            if answer.location:
                self.send_header("Location", answer.location)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Heritrix keeps the log."""

    with ThreadingHTTPServer((address, 0), Handler) as listener:
        base = f"http://{address}:{listener.server_port}"
        thread = threading.Thread(target=listener.serve_forever, daemon=True)
        thread.start()
        try:
            yield base
        finally:
            listener.shutdown()
            thread.join()
