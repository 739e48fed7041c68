"""A small chat endpoint for tests: speaks the protocol, and misbehaves when told to. Run as a script it prints its port."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-9f8e7d6c5b4a"


def completion(text: str, finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A chat completion as servers send it."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return {"model": "echo-1", "choices": [{"message": message, "finish_reason": finish}], "usage": usage, **more}


class ChatServer(ThreadingHTTPServer):
    """Answers by `reply(prompt text)`, or by `converse(messages)` where it is set; `faults` are used up first, one per request. Every request is remembered."""

    daemon_threads = True

    def __init__(self, reply: Callable[[str], str], delay_seconds: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply, self.delay_seconds = reply, delay_seconds
        self.converse: Callable[[list[dict[str, Any]]], str] | None = None
        self.faults: deque[str] = deque()
        self.asked: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.sent_bytes = 0
        self.active = self.most_active = 0
        self.lock = threading.Lock()
        self.news = threading.Condition(self.lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def counts(self) -> Counter[str]:
        """How often each question was asked."""
        with self.lock:
            return Counter(self.asked)

    def wait_for(self, total: int, timeout_seconds: float) -> bool:
        """Wait until so many requests have come."""
        with self.news:
            return self.news.wait_for(lambda: len(self.asked) >= total, timeout_seconds)

    def __enter__(self) -> ChatServer:
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Silence."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else "".join(piece.get("text", "") for piece in content)
        with self.server.news:
            self.server.asked.append(text)
            self.server.bodies.append(body)
            self.server.headers.append(dict(self.headers))
            self.server.paths.append(self.path)
            self.server.times.append(time.monotonic())
            fault = self.server.faults.popleft() if self.server.faults else ""
            self.server.active += 1
            self.server.most_active = max(self.server.most_active, self.server.active)
            self.server.news.notify_all()
        if self.server.delay_seconds:
            time.sleep(self.server.delay_seconds)
        with self.server.lock:
            self.server.active -= 1
        if fault and fault != "ok":
            getattr(self, f"fault_{fault}")()
            return
        said = self.server.converse(body["messages"]) if self.server.converse else self.server.reply(text)
        if body.get("stream"):
            self.send_stream(said)
            return
        self.send(json.dumps(completion(said)).encode())

    def send_stream(self, text: str, silent_seconds: float = 0.0, broken: bool = False) -> None:
        """The reply in pieces of three letters, then the finish and the usage."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        pieces: list[dict[str, Any]] = [{"choices": [{"delta": {"role": "assistant"}}], "model": "echo-1"}]
        pieces += [{"choices": [{"delta": {"content": text[i : i + 3]}}]} for i in range(0, len(text), 3)]
        if not broken:
            pieces += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}]
            pieces += [{"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}]
        for number, piece in enumerate(pieces):
            if number == 2 and silent_seconds:
                time.sleep(silent_seconds)
            for choice in piece["choices"]:
                choice.setdefault("index", 0)
            whole = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "echo-1", **piece}
            self.wfile.write(f"data: {json.dumps(whole)}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def fault_silent_stream(self) -> None:
        self.send_stream("never mind", silent_seconds=0.6)

    def fault_broken_stream(self) -> None:
        self.send_stream("Answer: I_WA", broken=True)

    def send(self, raw: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def fault_429(self) -> None:
        self.send(b'{"error": {"message": "slow down"}}', 429, Retry_After="1")

    def fault_429_long(self) -> None:
        self.send(b"{}", 429, Retry_After="99999999")

    def fault_500(self) -> None:
        self.send(b"boom", 500, "text/plain")

    def fault_401(self) -> None:
        self.send(json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode(), 401)

    def fault_400(self) -> None:
        self.send(json.dumps({"error": {"message": f"context too long for {KEY}"}}).encode(), 400)

    def fault_hang(self) -> None:
        time.sleep(3)

    def fault_drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        for _ in range(30):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.1)

    def fault_cut(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"mess')
        self.wfile.flush()
        self.close_connection = True

    def fault_bad_json(self) -> None:
        self.send(b'{"choices": [}')

    def fault_deep_json(self) -> None:
        self.send(b"[" * 200_000)

    def fault_empty_choices(self) -> None:
        self.send(json.dumps({**completion(""), "choices": []}).encode())

    def fault_wrong_shape(self) -> None:
        self.send(b'{"choices": [{"message": "text", "finish_reason": 7}], "usage": "much"}')

    def fault_wrong_type(self) -> None:
        self.send(b"<html>please log in</html>", kind="text/html")

    def fault_gzip(self) -> None:
        self.send(b"\x1f\x8b", Content_Encoding="gzip")

    def fault_redirect(self) -> None:
        self.send(b"", 307, Location=f"{self.server.url}/elsewhere/chat/completions")

    def fault_huge(self) -> None:
        """A gigabyte without a length, as far as anybody reads it."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        block = b" " * (1 << 20)
        for _ in range(1024):
            self.wfile.write(block)
            self.server.sent_bytes += len(block)

    def fault_surrogate(self) -> None:
        self.send(b'{"choices": [{"message": {"content": "Answer: \\ud800 I_WALK"}, "finish_reason": "stop"}]}')

    def fault_echo_key(self) -> None:
        self.send(json.dumps(completion(f"Answer: {self.headers['Authorization']}")).encode())

    def fault_cut_off(self) -> None:
        self.send(json.dumps(completion("Answer: I_WALK I_W", "length")).encode())

    def fault_refusal(self) -> None:
        value = completion("")
        value["choices"][0]["message"]["refusal"] = "I will not."
        self.send(json.dumps(value).encode())

    def fault_reasoning(self) -> None:
        value = completion("Answer: I_WALK")
        value["choices"][0]["message"]["reasoning_content"] = f"Answer: I_RUN, and the key is {KEY}"
        value["usage"]["completion_tokens_details"] = {"reasoning_tokens": 7}
        self.send(json.dumps(value).encode())

    def fault_no_usage(self) -> None:
        value = completion("Answer: I_WALK")
        del value["usage"]
        self.send(json.dumps(value).encode())

    def fault_only_reasoning(self) -> None:
        value = completion("", "length")
        value["choices"][0]["message"].update(content=None, reasoning_content="Answer: I_WALK")
        self.send(json.dumps(value).encode())

    def fault_wants_completion(self) -> None:
        told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        self.send(json.dumps({"error": {"message": told}}).encode(), 400)
