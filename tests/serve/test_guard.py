"""The door: roles, form codes, limits, headers and the log. A hostile client gets 4xx, and nothing changes."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recombine.cli import main
from recombine.errors import UsageError
from recombine.serve.guard import Rates
from recombine.serve.settings import Limits, Settings
from recombine.serve.studies.store import Store

Code = Callable[[str], str]
SCRIPT = "<script>document.title='owned'</script>\"'><img src=x onerror=alert(1)>{{7*7}}"
ADDRESS = "/scan@1/release/simple/test/0/000003"


def test_every_answer_has_a_strict_policy(client: Any) -> None:
    for address in ("/", "/nothing", "/static/style.css", "/enter"):
        headers = client().get(address).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_no_page_holds_inline_script_or_style(client: Any) -> None:
    for address in ("/", f"{ADDRESS}?show=1", "/studies", "/compare", "/change/gscan@1/sound/compositional/test/0/000003"):
        page = client().get(address).text.lower()
        assert "<script>" not in page
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick" not in page
        assert "http://" not in page.replace("http://www.w3.org/", "")


def test_a_form_without_its_code_changes_nothing(client: Any, code: Code) -> None:
    visitor, other = client(), client()
    good = code(visitor.get("/studies").text)
    fields = {"title": "T", "kind": "answer", "conditions": "scan/length/test=2"}
    for given in ({}, {"csrf": ""}, {"csrf": "0" * 40}, {"csrf": "é"}):
        assert visitor.post("/studies", data={**fields, **given}).status_code == 403
    assert other.post("/studies", data={**fields, "csrf": good}).status_code == 403  # another session's code
    assert visitor.post("/studies", data={**fields, "csrf": good}, headers={"Origin": "http://evil.example"}).status_code == 403
    assert visitor.post("/studies", data={**fields, "csrf": good}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert "None yet." in visitor.get("/studies").text
    assert visitor.post("/studies", data={**fields, "csrf": good}).status_code == 200


def test_another_host_name_is_refused_on_loopback(client: Any) -> None:
    assert client().get("/", headers={"Host": "evil.example"}).status_code == 421
    assert client().get("/", headers={"Host": "127.0.0.1:8765"}).status_code == 200


def test_a_public_server_needs_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="--token"):
        Settings(host="0.0.0.0")
    with pytest.raises(UsageError, match="16"):
        Settings(token="short")
    assert main(["serve", "--host", "0.0.0.0"]) == 2
    assert main(["serve", "--port", "0"]) == 2
    assert main(["serve", "--folder", "/nonexistent-folder"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_researchers_show_the_token_and_participants_do_not(client: Any, code: Code, tmp_path: Path) -> None:
    token = "correct-horse-battery"
    visitor = client(token=token)
    for address in ("/", ADDRESS, "/studies", "/compare", "/files/0"):
        assert visitor.get(address).status_code == 401
    page = visitor.get("/enter").text
    assert visitor.post("/enter", data={"csrf": code(page), "token": "wrong"}).status_code == 401
    assert visitor.get("/studies").status_code == 401
    led = visitor.get("/studies", headers={"Accept": "text/html,*/*"}, follow_redirects=False)
    assert (led.status_code, led.headers["location"]) == (303, "/enter")
    assert visitor.post("/enter", data={"csrf": code(page), "token": token}).status_code == 200
    assert visitor.get("/studies").status_code == 200
    assert client().get("/", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert client().get("/", headers={"Authorization": "Bearer nonsense-nonsense"}).status_code == 401
    assert client().get("/", headers={"Cookie": f"recombine_researcher={'0' * 40}"}).status_code == 401
    made = visitor.post(
        "/studies", data={"csrf": code(visitor.get("/studies").text), "title": "T", "conditions": "scan/length/test=2"}
    )
    link = made.text.split('href="/take/')[1].split('"')[0]
    stranger = client()
    assert stranger.get(f"/take/{link}").status_code == 200
    assert stranger.get(made.url.path).status_code == 401
    assert stranger.get("/take/guess").status_code == 404


def test_the_token_cannot_be_guessed_by_trying(client: Any, code: Code) -> None:
    visitor = client(token="correct-horse-battery", limits=Limits(tries_per_minute=3))
    page = visitor.get("/enter").text
    codes = [visitor.post("/enter", data={"csrf": code(page), "token": f"try-{n}"}).status_code for n in range(6)]
    assert 429 in codes


def test_sizes_are_limited(client: Any, code: Code) -> None:
    visitor = client()
    page = visitor.get(ADDRESS).text
    assert visitor.post(ADDRESS, data={"csrf": code(page), "event": "answer", "answer": "x" * (10 << 20)}).status_code == 413
    assert visitor.post(ADDRESS, content=(b"x" * 70_000 for _ in range(3))).status_code == 413
    assert visitor.get("/go?id=" + "x" * 9000).status_code == 414
    assert visitor.post(ADDRESS, data={"csrf": code(page), **{f"f_{n}": "x" for n in range(500)}}).status_code == 400
    assert visitor.put(ADDRESS).status_code == 405
    assert visitor.post(ADDRESS, data={"csrf": code(page), "event": "answer", "answer": "x" * 30_000}).status_code == 400


def test_requests_a_second_are_limited(client: Any) -> None:
    visitor = client(limits=Limits(reads_per_second=5))
    assert 429 in [visitor.get("/enter").status_code for _ in range(30)]
    rates = Rates()
    assert all(rates.allows(str(number), "read", 1.0) for number in range(20_000))
    assert len(rates._buckets) <= Rates.MOST_CLIENTS


def test_the_log_holds_no_secret(client: Any, code: Code, caplog: pytest.LogCaptureFixture) -> None:
    visitor = client(token="correct-horse-battery")
    with caplog.at_level(logging.INFO, "recombine.serve"):
        page = visitor.get("/enter?token=in-the-address").text
        visitor.post("/enter", data={"csrf": code(page), "token": "correct-horse-battery"})
        visitor.get("/take/secret-link-token/next?person=secret")
        visitor.get("/%0d%0aforged line")
    assert "/take/…" in caplog.text
    for secret in ("correct-horse", "in-the-address", "secret", "\nforged"):
        assert secret not in caplog.text


def test_script_in_every_field_stays_text(client: Any, code: Code, tmp_path: Path) -> None:
    visitor = client()
    fields = {
        "title": SCRIPT,
        "consent": SCRIPT,
        "conditions": "scan/length/test=3",
        "practice": "0",
        "csrf": code(visitor.get("/studies").text),
    }
    made = visitor.post("/studies", data=fields)
    link = made.text.split('href="/take/')[1].split('"')[0]
    pages = [made, visitor.get("/studies"), visitor.get(f"/take/{link}")]
    task = visitor.post(f"/take/{link}", data={"csrf": code(pages[-1].text)})
    item = task.text.split('name="item" value="')[1].split('"')[0]
    answer = {"csrf": code(task.text), "item": item, "event": "submit", "answer": SCRIPT, "difficulty": "1"}
    pages += [task, visitor.post(f"/take/{link}/next", data=answer), visitor.get(made.url.path)]
    pages.append(visitor.post(ADDRESS, data={"csrf": code(visitor.get(ADDRESS).text), "event": "answer", "answer": SCRIPT}))
    for query in (f"where={SCRIPT}", f"reader={SCRIPT}", f"state={SCRIPT}", f"step={SCRIPT}", f"drawn={SCRIPT}"):
        pages.append(visitor.get(f"{ADDRESS}?{query}"))
    for page in pages:
        assert "<script>document" not in page.text
        assert "<img src=x" not in page.text
        assert ">49<" not in page.text
    exported = visitor.get(f"{made.url.path}/files/people-all-1.jsonl")
    assert "attachment" in exported.headers["content-disposition"]
    assert json.loads(exported.text.splitlines()[0])["answer"] == SCRIPT


def test_nobody_acts_for_another_person(client: Any, code: Code, tmp_path: Path) -> None:
    researcher, first, second = client(), client(), client()
    made = researcher.post(
        "/studies",
        data={
            "title": "T",
            "conditions": "scan/length/test=4",
            "practice": "0",
            "items_per_person": "2",
            "csrf": code(researcher.get("/studies").text),
        },
    )
    link = f"/take/{made.text.split('href=' + chr(34) + '/take/')[1].split(chr(34))[0]}"
    tasks = [visitor.post(link, data={"csrf": code(visitor.get(link).text)}).text for visitor in (first, second)]
    items = [task.split('name="item" value="')[1].split('"')[0] for task in tasks]
    assert items[0] != items[1]  # balanced: the second person is not asked the same first
    stolen = {"csrf": code(tasks[1]), "item": items[0], "event": "submit", "answer": "I_WALK", "difficulty": "1"}
    second.post(f"{link}/next", data=stolen)
    for item in ("99.0", "-1.0", "x", "0.7"):
        second.post(f"{link}/next", data={**stolen, "item": item})
    outsider = client()
    outsider.post(f"{link}/next", data={**stolen, "csrf": code(outsider.get(link).text)})
    forger = client()
    forger.cookies.set(f"recombine_person_{made.url.path.rsplit('/', 1)[1]}", "guess")
    forger.post(f"{link}/next", data={**stolen, "csrf": code(forger.get(link).text)})
    assert forger.post(f"{link}/withdraw", data={"csrf": code(forger.get(link).text), "code": "guess"}).status_code == 400
    store = Store(tmp_path / "people.sqlite")
    assert store.counts(made.url.path.rsplit("/", 1)[1]) == {
        "people": 2,
        "offer": 2,
        "answer": 0,
        "text": 0,
        "review": 0,
        "statement": 0,
    }
    store.close()


@pytest.mark.slow
def test_silent_connections_do_not_stop_the_server(server: Any) -> None:
    """A thousand connections that send nothing, or half a request: the server goes on, and answers when they are gone."""
    import httpx2 as httpx

    held = []
    for number in range(1000):
        connection = socket.socket()
        connection.settimeout(1)
        try:
            connection.connect(("127.0.0.1", server.port))
            if number % 2:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: ")
        except OSError:
            pass  # the system may refuse further connections: that is an answer as well
        held.append(connection)
    statuses = set()
    for _ in range(60):
        try:
            statuses.add(httpx.get(f"{server.address}/", timeout=5).status_code)
        except httpx.HTTPError:
            continue
        if 200 in statuses:
            break
        import time

        time.sleep(0.5)
    assert 200 in statuses
    assert statuses <= {200, 503}
    for connection in held:
        connection.close()
    assert "Traceback" not in server.log.read_text()
