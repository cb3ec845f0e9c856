"""A web server on this machine that answers as a test says, well or badly."""

import contextlib
import http.server
import threading


class Server:
    """Answers by path; counts what it was asked for.

    Attributes:
        url: Where it is, without a slash at the end.
        answers: By path, bytes to give with status 200, or a function of the handler.
        requests: The paths asked for, in order.
    """

    def __init__(self, answers):
        self.answers = answers
        self.requests = []
        self.headers = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append(self.path)
                outer.headers.append(dict(self.headers))
                answer = outer.answers.get(self.path)
                if answer is None:
                    self.send_error(404)
                elif callable(answer):
                    answer(self)
                else:
                    give(answer)(self)

            def log_message(self, *args):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def run(self):
        self._server.serve_forever(poll_interval=0.01)

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def give(body, status=200, length=None, **headers):
    """An answer with a body; `length` is what it says of its length."""

    def answer(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        if length != "none":
            handler.send_header("Content-Length", str(len(body) if length is None else length))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def redirect(location, status=302):
    """An answer that sends elsewhere."""
    return give(b"", status, Location=location)


def raw(data):
    """Bytes that are no proper answer."""
    return lambda handler: handler.wfile.write(data)


@contextlib.contextmanager
def serving(answers):
    """Run a server meanwhile."""
    server = Server(answers)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
