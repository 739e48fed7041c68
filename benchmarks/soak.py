"""The long checks of the whole package, one after the other; what has passed is not run again.

python benchmarks/soak.py --out soak-out [--only WORD] [--list]

Each check is a command. Its output goes to OUT/NAME.log; when it ends in order, OUT/done.json names it with the code it ran on.
Stop it at any time and run it again to go on. Another version of the code starts anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
CHECKS: dict[str, list[str]] = {
    "freshness": ["freshness.py", "20000"],
    "mutants": ["mutants.py", "--rows", "2000"],
    "mutants_lilgym": ["mutants_lilgym.py", "--count", "2000"],
    "gscan": ["check_gscan.py", "1000000"],
    "reascan": ["check_reascan.py", "1000000"],
    "reascan_readings": ["check_reascan.py", "5000", "--solve"],
    "clutrr": ["check_clutrr.py", "1000000"],
    "lilgym": ["check_lilgym_programs.py", "--rows", "100000"],
    "faults": ["faults.py"],
    "kill_points": ["kill_points.py"],
    "damage": ["damage.py", "--times", "10000"],
    "kill_and_resume": ["kill_and_resume.py", "--kills", "100"],
    "kill_ask": ["kill_ask.py"],
    "fuzz": ["fuzz.py", "--times", "1000000"],
    "ray_faults": ["ray_faults.py"],
    "interval_coverage": ["interval_coverage.py"],
    "memory": ["memory.py", "reascan", "--split", "simple", "--size", "10000000"],
}


def code_hash() -> str:
    """16 hex digits over the package and the checks."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted([*(HERE.parent / "recombine").rglob("*.py"), *HERE.glob("*.py")]):
        digest.update(str(path.relative_to(HERE.parent)).encode() + path.read_bytes())
    return digest.hexdigest()


def main(out: Path, only: str, is_list: bool) -> int:
    """Run what has not passed yet; exit 1 if anything failed."""
    out.mkdir(exist_ok=True)
    record, code = out / "done.json", code_hash()
    done = json.loads(record.read_text()) if record.exists() else {}
    failed = 0
    for name, words in CHECKS.items():
        if only not in name:
            continue
        if is_list or done.get(name, {}).get("code") == code:
            print(f"{name:20} {'passed' if done.get(name, {}).get('code') == code else 'to do'}")
            continue
        print(f"{name:20} runs: {' '.join(words)}", flush=True)
        started = time.perf_counter()
        with (out / f"{name}.log").open("w") as log:
            ended = subprocess.run(
                [sys.executable, "-P", str(HERE / words[0]), *words[1:]], stdout=log, stderr=log, check=False
            )
        seconds = round(time.perf_counter() - started)
        if ended.returncode:
            failed += 1
            print(f"{name:20} FAILED after {seconds} s; see {out / name}.log", flush=True)
            continue
        done[name] = {"code": code, "seconds": seconds}
        record.write_text(json.dumps(done, indent=1) + "\n")
        print(f"{name:20} passed in {seconds} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("soak-out"))
    parser.add_argument("--only", default="", help="checks whose names hold this word")
    parser.add_argument("--list", action="store_true", help="say what is done and what is to do")
    given = parser.parse_args()
    sys.exit(main(given.out, given.only, given.list))
