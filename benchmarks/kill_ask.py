"""Kill `recombine ask` many times against an endpoint on this machine; nothing may be lost, or asked twice beyond what was under way.

python benchmarks/kill_ask.py 100
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from recombine.data.datasets import load
from recombine.evaluate.answers import read_answers

SERVER = Path(__file__).resolve().parent.parent / "tests" / "evaluate" / "chat_server.py"
CONCURRENCY = 4


def replies_in(out: Path) -> dict[str, str]:
    """Question -> reply, of the whole lines of the run's journal."""
    path = out / "replies.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return {record["question"].removeprefix("Command: "): record["reply"] for record in map(json.loads, lines)}


def main(kills: int) -> None:
    spec = importlib.util.spec_from_file_location("chat_server", SERVER)
    assert spec is not None
    assert spec.loader is not None
    chat_server = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(chat_server)
    right = {str(e.inputs["command"]): e.answer for e in load("scan", "length", "test")}

    def asked_in(prompt: str) -> str:
        return prompt.rpartition("Command: ")[2].partition("\n")[0]

    rows, chance = min(3_920, 14 * kills + 40), random.Random(11)
    with (
        tempfile.TemporaryDirectory() as folder,
        chat_server.ChatServer(lambda prompt: f"Answer: {right[asked_in(prompt)]}", 0.02) as server,
    ):
        out = Path(folder) / "run"
        words = [sys.executable, "-m", "recombine", "ask", "scan", "--split", "length", "--size", str(rows), "--model", "echo"]
        words += ["--endpoint", server.url, "--out", str(out), "--concurrency", str(CONCURRENCY), "--json"]
        lost = again = 0
        for _ in range(kills):
            kept, before = replies_in(out), len(server.asked)
            process = subprocess.Popen(words, env=os.environ, stdout=subprocess.DEVNULL)
            server.wait_for(before + 1 + chance.randrange(8), 120)
            time.sleep(chance.random() * 0.05)
            process.send_signal(signal.SIGKILL)
            process.wait()
            again += len({asked_in(text) for text in server.asked[before:]} & set(kept))
            lost += len(set(kept) - set(replies_in(out)))
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        answers = read_answers(out / "answers.jsonl")
        outcome = json.loads(done.stdout)
        print(
            f"{kills} kills over {rows} rows, {len(server.asked)} requests ({len(server.asked) - rows} were under way at a kill)"
        )
        print(
            f"replies lost: {lost}; rows with a reply asked again: {again}; right at the end: {outcome['statuses'].get('right', 0)}"
        )
        is_kept = lost == again == 0 and len(answers) == rows and outcome["statuses"] == {"right": rows}
        print("nothing was lost" if is_kept and len(server.asked) <= rows + kills * CONCURRENCY else "FAILED")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
