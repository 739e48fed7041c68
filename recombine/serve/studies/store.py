"""The records of studies in one SQLite file: written before a page says thank you, never twice, gone when a person withdraws.

Every change is one transaction that is on disk when it returns (write-ahead log, full synchronisation). Keys forbid doubles: a
person has one answer to an item and one review of a text, so a request that is sent again after a crash changes nothing.
"""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.errors import FileError, UsageError, shown

VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS study (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, settings TEXT NOT NULL, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS server (place INTEGER PRIMARY KEY CHECK (place = 0), secret BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS link (
  token TEXT PRIMARY KEY, study TEXT NOT NULL REFERENCES study ON DELETE CASCADE, role TEXT NOT NULL, grp TEXT NOT NULL,
  UNIQUE (study, role, grp));
CREATE TABLE IF NOT EXISTS item (
  study TEXT NOT NULL REFERENCES study ON DELETE CASCADE, number INTEGER NOT NULL, role TEXT NOT NULL, condition TEXT NOT NULL,
  practice INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (study, number));
CREATE TABLE IF NOT EXISTS person (
  token TEXT PRIMARY KEY, study TEXT NOT NULL REFERENCES study ON DELETE CASCADE, grp TEXT NOT NULL, number INTEGER NOT NULL,
  joined REAL NOT NULL);
CREATE INDEX IF NOT EXISTS person_by_group ON person (study, grp);
CREATE TABLE IF NOT EXISTS offer (
  person TEXT NOT NULL REFERENCES person ON DELETE CASCADE, role TEXT NOT NULL, item INTEGER NOT NULL, text INTEGER NOT NULL DEFAULT 0,
  shown REAL NOT NULL, PRIMARY KEY (person, role, item, text));
CREATE TABLE IF NOT EXISTS answer (
  person TEXT NOT NULL REFERENCES person ON DELETE CASCADE, item INTEGER NOT NULL, answer TEXT NOT NULL, seconds REAL NOT NULL,
  late INTEGER NOT NULL, difficulty INTEGER, at REAL NOT NULL, PRIMARY KEY (person, item));
CREATE TABLE IF NOT EXISTS text (
  number INTEGER PRIMARY KEY AUTOINCREMENT, person TEXT NOT NULL REFERENCES person ON DELETE CASCADE, item INTEGER NOT NULL,
  body TEXT NOT NULL, seconds REAL NOT NULL, at REAL NOT NULL, UNIQUE (person, item));
CREATE TABLE IF NOT EXISTS review (
  text INTEGER NOT NULL REFERENCES text ON DELETE CASCADE, person TEXT NOT NULL REFERENCES person ON DELETE CASCADE,
  good INTEGER NOT NULL, reasons TEXT NOT NULL, seconds REAL NOT NULL, at REAL NOT NULL, PRIMARY KEY (text, person));
CREATE TABLE IF NOT EXISTS statement (
  person TEXT NOT NULL REFERENCES person ON DELETE CASCADE, item INTEGER NOT NULL, statement TEXT NOT NULL, program TEXT NOT NULL,
  hidden_right INTEGER NOT NULL, hidden INTEGER NOT NULL, seconds REAL NOT NULL, at REAL NOT NULL, PRIMARY KEY (person, item));
"""
_TABLES = re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", _SCHEMA)


_OPEN = (
    "SELECT o.item, o.text, i.content, i.practice, o.shown FROM offer o JOIN item i ON i.study = ? AND i.number = o.item "
    "WHERE o.person = ? AND o.role = ?"
)
_NEXT = """
WITH mine AS (
  SELECT i.condition, count(*) AS times FROM offer o JOIN item i ON i.study = :study AND i.number = o.item
  WHERE o.person = :person AND o.role = :role AND NOT i.practice GROUP BY i.condition),
ours AS (
  SELECT o.item, count(*) AS times FROM person p JOIN offer o ON o.person = p.token AND o.role = :role
  WHERE p.study = :study AND p.grp = :grp GROUP BY o.item),
parts AS (
  SELECT i.condition, sum(ours.times) AS times FROM ours JOIN item i ON i.study = :study AND i.number = ours.item GROUP BY i.condition)
SELECT i.number FROM item i
LEFT JOIN mine ON mine.condition = i.condition LEFT JOIN ours ON ours.item = i.number LEFT JOIN parts ON parts.condition = i.condition
WHERE i.study = :study AND i.role = :role AND NOT i.practice
AND i.number NOT IN (SELECT item FROM offer WHERE person = :person AND role = :role)
ORDER BY coalesce(mine.times, 0), coalesce(ours.times, 0), coalesce(parts.times, 0), i.number LIMIT 1
"""
"""The item that a person is asked next. Offers are counted once for a request, not once for every item."""


def _check_ours(path: Path) -> None:
    """Refuse a file with other tables than ours. It is opened for reading only, so that a foreign file stays as it is."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro" if has_log else "immutable=1"  # without a log to read, SQLite need not make the files beside it
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=30)) as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        names = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    is_new = version == 0 and not names
    if not is_new and (version != VERSION or not names.issuperset(_TABLES)):
        raise FileError(f"{shown(str(path))} holds no studies of this version of Recombine; name another file.")


@dataclass(frozen=True)
class Link:
    """One address to take part: its study, what it asks for, and the group of who follows it."""

    token: str
    study: str
    role: str
    group: str


@dataclass(frozen=True)
class Offer:
    """What a person is asked now. `text` is the number of the story under review, else 0."""

    item: int
    text: int
    content: Mapping[str, Any]
    is_practice: bool
    shown: float


class Store:
    """The file. Methods may be called from any thread; one change happens at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            if path.exists():
                _check_ours(path)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=30)
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=FULL")
                self._db.execute("PRAGMA foreign_keys=ON")
                self._db.execute("PRAGMA secure_delete=ON")
                self._db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
            except BaseException:
                self._db.close()
                raise
        except sqlite3.Error as problem:
            raise FileError(f"{shown(str(path))} cannot be used for studies: {problem}.") from None

    def close(self) -> None:
        """End; what was written stays."""
        with self._lock:
            self._db.close()

    def secret(self) -> bytes:
        """The server's secret, the same at every start: a form that was open when the server ended can still be handed in."""
        with self._change() as db:
            db.execute("INSERT INTO server VALUES (0, ?) ON CONFLICT DO NOTHING", (secrets.token_bytes(32),))
            return bytes(db.execute("SELECT secret FROM server").fetchone()[0])

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on disk afterwards, or nothing."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    # --- studies -----------------------------------------------------------------------------------------------------

    def create(self, title: str, settings: Mapping[str, Any], items: Sequence[tuple[str, str, bool, Mapping[str, Any]]]) -> str:
        """A new study with its items (role, condition, is practice, content) and a link for each role and group."""
        if not items:
            raise UsageError("a study needs at least one item.")
        study = secrets.token_hex(6)
        roles = list(dict.fromkeys(role for role, _, _, _ in items))
        roles += ["review"] if "write" in roles else []
        with self._change() as db:
            db.execute("INSERT INTO study VALUES (?, ?, ?, ?)", (study, title, json.dumps(settings), time.time()))
            for number, (role, condition, practice, content) in enumerate(items):
                row = (study, number, role, condition, int(practice), json.dumps(content))
                db.execute("INSERT INTO item VALUES (?, ?, ?, ?, ?, ?)", row)
            for role in roles:
                for group in settings["groups"] if role == "answer" else ("all",):
                    db.execute("INSERT INTO link VALUES (?, ?, ?, ?)", (secrets.token_urlsafe(18), study, role, group))
        return study

    def studies(self) -> list[tuple[str, str, float]]:
        """(id, title, created) of every study, the newest first."""
        found = self._rows("SELECT id, title, created FROM study ORDER BY created DESC, id")
        return [(str(i), str(title), float(at)) for i, title, at in found]

    def study(self, study: str) -> tuple[str, dict[str, Any]]:
        """(title, settings)."""
        found = self._rows("SELECT title, settings FROM study WHERE id = ?", study)
        if not found:
            raise UsageError(f"there is no study {shown(study)}.")
        settings: dict[str, Any] = json.loads(found[0][1])
        return str(found[0][0]), settings

    def links(self, study: str) -> list[Link]:
        """The links of a study."""
        return [
            Link(*row) for row in self._rows("SELECT token, study, role, grp FROM link WHERE study = ? ORDER BY rowid", study)
        ]

    def link(self, token: str) -> Link:
        """The link with this token; an unknown one is an error that does not say which exist."""
        found = self._rows("SELECT token, study, role, grp FROM link WHERE token = ?", token)
        if not found:
            raise UsageError("this link does not lead to a study; ask the person who sent it.")
        return Link(*found[0])

    def counts(self, study: str) -> dict[str, int]:
        """How many people, offers, answers, texts, reviews and statements a study has."""
        found = {"people": self._count("SELECT count(*) FROM person WHERE study = ?", study)}
        for table in ("offer", "answer", "text", "review", "statement"):
            query = f"SELECT count(*) FROM {table} t JOIN person p ON p.token = t.person WHERE p.study = ?"  # noqa: S608 - a literal name
            found[table] = self._count(query, study)
        return found

    def _count(self, query: str, *values: Any) -> int:
        return int(self._rows(query, *values)[0][0])

    # --- people ------------------------------------------------------------------------------------------------------

    def join(self, link: Link) -> str:
        """A new person of the study: a random token, and nothing else is known."""
        token = secrets.token_urlsafe(24)
        with self._change() as db:
            number = db.execute("SELECT coalesce(max(number), 0) + 1 FROM person WHERE study = ?", (link.study,)).fetchone()[0]
            db.execute("INSERT INTO person VALUES (?, ?, ?, ?, ?)", (token, link.study, link.group, number, time.time()))
        return token

    def is_person(self, token: str, study: str) -> bool:
        """Whether this person takes part in this study."""
        return self.group_of(token, study) is not None

    def group_of(self, token: str, study: str) -> str | None:
        """The group with which a person joined this study; None for a stranger."""
        found = self._rows("SELECT grp FROM person WHERE token = ? AND study = ?", token, study)
        return str(found[0][0]) if found else None

    def withdraw(self, token: str) -> bool:
        """Delete a person and everything that they gave, also from the log of the file."""
        with self._change() as db:
            gone = db.execute("DELETE FROM person WHERE token = ?", (token,)).rowcount
        with self._lock:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return bool(gone)

    # --- offers ------------------------------------------------------------------------------------------------------

    def offer(self, person: str, link: Link, most: int, reviewers: int) -> Offer | None:
        """What the person is asked now: the open offer, or a new one; None if they are done. No person gets an item twice."""
        with self._change() as db:
            open_ = self._open(db, person, link)
            if open_ is not None:
                return open_
            chosen = self._review(db, person, link, reviewers) if link.role == "review" else self._item(db, person, link, most)
            if chosen is None:
                return None
            row = (person, link.role, *chosen, time.time())
            db.execute("INSERT INTO offer (person, role, item, text, shown) VALUES (?, ?, ?, ?, ?)", row)
            return self._open(db, person, link)

    def _open(self, db: sqlite3.Connection, person: str, link: Link) -> Offer | None:
        """The offer that the person has not answered yet."""
        done = {
            "answer": "SELECT 1 FROM answer d WHERE d.person = o.person AND d.item = o.item",
            "write": "SELECT 1 FROM text d WHERE d.person = o.person AND d.item = o.item",
            "review": "SELECT 1 FROM review d WHERE d.person = o.person AND d.text = o.text",
            "state": "SELECT 1 FROM statement d WHERE d.person = o.person AND d.item = o.item",
        }[link.role]
        query = f"{_OPEN} AND NOT EXISTS ({done})"
        if link.role == "review":  # a story that its author withdrew is not asked about any more
            query += " AND EXISTS (SELECT 1 FROM text t WHERE t.number = o.text)"
        found = db.execute(f"{query} ORDER BY o.shown LIMIT 1", (link.study, person, link.role)).fetchone()
        if found is None:
            return None
        return Offer(int(found[0]), int(found[1]), json.loads(found[2]), bool(found[3]), float(found[4]))

    def _item(self, db: sqlite3.Connection, person: str, link: Link, most: int) -> tuple[int, int] | None:
        """The next item: practice first, then the condition that the person saw least, then the item that the group saw least."""
        seen = "SELECT item FROM offer WHERE person = ? AND role = ?"
        practice = db.execute(
            f"SELECT number FROM item WHERE study = ? AND role = ? AND practice AND number NOT IN ({seen}) ORDER BY number LIMIT 1",  # noqa: S608
            (link.study, link.role, person, link.role),
        ).fetchone()
        if practice is not None:
            return int(practice[0]), 0
        real = (
            "SELECT count(*) FROM offer o JOIN item i ON i.study = ? AND i.number = o.item "
            "WHERE o.person = ? AND o.role = ? AND NOT i.practice"
        )
        if db.execute(real, (link.study, person, link.role)).fetchone()[0] >= most:
            return None
        found = db.execute(_NEXT, {"study": link.study, "role": link.role, "person": person, "grp": link.group}).fetchone()
        return (int(found[0]), 0) if found is not None else None

    def _review(self, db: sqlite3.Connection, person: str, link: Link, reviewers: int) -> tuple[int, int] | None:
        """A story by somebody else that still needs reviewers; the one with the fewest comes first."""
        found = db.execute(
            "SELECT t.item, t.number, (SELECT count(*) FROM offer o WHERE o.role = 'review' AND o.text = t.number) AS asked "
            "FROM text t JOIN person p ON p.token = t.person WHERE p.study = ? AND t.person <> ? "
            "AND t.number NOT IN (SELECT text FROM offer WHERE person = ? AND role = 'review') "
            "AND (SELECT count(*) FROM review r WHERE r.text = t.number) < ? ORDER BY asked, t.number LIMIT 1",
            (link.study, person, person, reviewers),
        ).fetchone()
        return (int(found[0]), int(found[1])) if found is not None else None

    # --- what people give --------------------------------------------------------------------------------------------

    def _shown(self, db: sqlite3.Connection, person: str, role: str, item: int, text: int = 0) -> float:
        """When the item was shown to the person; an item that was never offered is an error."""
        query = "SELECT shown FROM offer WHERE person = ? AND role = ? AND item = ? AND text = ?"
        found = db.execute(query, (person, role, item, text)).fetchone()
        if found is None:
            raise UsageError("this item was not offered to you; reload the page.")
        return float(found[0])

    def give_answer(self, person: str, item: int, answer: str, difficulty: int | None, limit: float) -> None:
        """Keep an answer; the same person's second answer to the item changes nothing. `limit` is in seconds, 0 for none."""
        with self._change() as db:
            now = time.time()
            seconds = max(0.0, now - self._shown(db, person, "answer", item))
            row = (person, item, answer, seconds, int(bool(limit) and seconds > limit), difficulty, now)
            db.execute("INSERT INTO answer VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row)

    def give_text(self, person: str, item: int, body: str) -> None:
        """Keep a story."""
        with self._change() as db:
            now = time.time()
            seconds = max(0.0, now - self._shown(db, person, "write", item))
            query = "INSERT INTO text (person, item, body, seconds, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
            db.execute(query, (person, item, body, seconds, now))

    def give_review(self, person: str, item: int, text: int, is_good: bool, reasons: Sequence[str]) -> None:
        """Keep a review."""
        with self._change() as db:
            now = time.time()
            seconds = max(0.0, now - self._shown(db, person, "review", item, text))
            row = (text, person, int(is_good), json.dumps(list(reasons)), seconds, now)
            db.execute("INSERT INTO review VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row)

    def give_statement(self, person: str, item: int, statement: str, program: str, right: int, hidden: int) -> None:
        """Keep a statement with its program, and how many hidden scenes they agree with."""
        with self._change() as db:
            now = time.time()
            seconds = max(0.0, now - self._shown(db, person, "state", item))
            row = (person, item, statement, program, right, hidden, seconds, now)
            db.execute("INSERT INTO statement VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row)

    def practised(self, person: str, study: str, item: int) -> tuple[dict[str, Any], str] | None:
        """(content, answer) of a practice item that the person has answered."""
        query = (
            "SELECT i.content, a.answer FROM answer a JOIN item i ON i.study = ? AND i.number = a.item "
            "WHERE a.person = ? AND a.item = ? AND i.practice"
        )
        found = self._rows(query, study, person, item)
        return (json.loads(found[0][0]), str(found[0][1])) if found else None

    # --- reading out -------------------------------------------------------------------------------------------------

    def text(self, number: int) -> str:
        """The story with this number."""
        found = self._rows("SELECT body FROM text WHERE number = ?", number)
        if not found:
            raise UsageError("this story is gone; reload the page.")
        return str(found[0][0])

    def answers(self, study: str) -> list[dict[str, Any]]:
        """Every answer that counts: item content, person's number, group, seconds, difficulty; practice is left out."""
        names = ("content", "answer", "seconds", "late", "difficulty", "group", "person", "item")
        query = (
            "SELECT i.content, a.answer, a.seconds, a.late, a.difficulty, p.grp, p.number, a.item FROM answer a "
            "JOIN person p ON p.token = a.person JOIN item i ON i.study = p.study AND i.number = a.item "
            "WHERE p.study = ? AND NOT i.practice ORDER BY a.item, p.number"
        )
        found = [dict(zip(names, row, strict=True)) for row in self._rows(query, study)]
        return [{**row, "content": json.loads(row["content"])} for row in found]

    def texts(self, study: str) -> list[dict[str, Any]]:
        """Every story with its item's content, its author's number, and its reviews as (is good, reasons)."""
        query = (
            "SELECT t.number, i.content, t.body, t.seconds, p.number FROM text t JOIN person p ON p.token = t.person "
            "JOIN item i ON i.study = p.study AND i.number = t.item WHERE p.study = ? AND NOT i.practice ORDER BY t.number"
        )
        found = []
        for number, content, body, seconds, author in self._rows(query, study):
            reviews = self._rows("SELECT good, reasons FROM review WHERE text = ? ORDER BY at", number)
            judged = [(bool(good), json.loads(reasons)) for good, reasons in reviews]
            content = json.loads(content)
            found.append(
                {"number": number, "content": content, "body": body, "seconds": seconds, "author": author, "reviews": judged}
            )
        return found

    def statements(self, study: str) -> list[dict[str, Any]]:
        """Every statement with its program and how it did on hidden scenes."""
        names = ("content", "statement", "program", "hidden_right", "hidden", "seconds", "person")
        query = (
            "SELECT i.content, s.statement, s.program, s.hidden_right, s.hidden, s.seconds, p.number FROM statement s "
            "JOIN person p ON p.token = s.person JOIN item i ON i.study = p.study AND i.number = s.item "
            "WHERE p.study = ? AND NOT i.practice ORDER BY s.item, p.number"
        )
        found = [dict(zip(names, row, strict=True)) for row in self._rows(query, study)]
        return [{**row, "content": json.loads(row["content"])} for row in found]
