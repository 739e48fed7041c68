"""How fast a report with many examples opens: its size, the first paint and the work of the main thread, in a real Chromium.

    python benchmarks/speed_page.py --family gscan --examples 20000

The page is opened three times; the best figures are printed. `ready` is the moment at which the first examples are drawn.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from recombine.data.datasets import Dataset
from recombine.data.generate import generate
from recombine.evaluate.answerers import make_answerer
from recombine.evaluate.answers import Answer
from recombine.evaluate.evaluate import evaluate
from recombine.evaluate.report import write_report

OPENINGS = 3
DRAWN = "document.querySelectorAll('#examples .ex').length > 0"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"


def opened(browser: Browser, page: Path) -> tuple[float, float, float]:
    """Seconds to the first paint, until examples are drawn, and of work of the main thread."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        tab = context.new_page()
        meter = context.new_cdp_session(tab)
        meter.send("Performance.enable")
        began = time.perf_counter()
        tab.goto(page.as_uri(), wait_until="commit")
        tab.wait_for_function(DRAWN)
        ready = time.perf_counter() - began
        tab.wait_for_timeout(500)
        metrics = {item["name"]: item["value"] for item in meter.send("Performance.getMetrics")["metrics"]}
        return float(tab.evaluate(PAINT)) / 1000, ready, float(metrics["TaskDuration"])


def main() -> None:
    """Make the page, open it, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="gscan")
    parser.add_argument("--split", default="")
    parser.add_argument("--examples", type=int, default=20_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        split = arguments.split or ()
        folder = generate(arguments.family, Path(place) / "data", split=split, part="test", size=arguments.examples)
        careless = make_answerer("careless", [])
        data = Dataset(folder.family, folder.plan.parts[0], folder, 0)
        answers = {example.id: Answer(example.id, careless(example)) for example in data}
        evaluation = evaluate(folder, {"careless": answers})
        began = time.process_time()
        page = write_report(evaluation, Path(place) / "report", examples=arguments.examples)
        print(
            f"{len(answers):,} examples: {page.stat().st_size / 1e6:.1f} MB, written in {time.process_time() - began:.1f} CPU-s"
        )
        with sync_playwright() as player:
            browser = player.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            times = [opened(browser, page) for _ in range(OPENINGS)]
            browser.close()
    paint, ready, work = (min(column) for column in zip(*times, strict=True))
    print(f"first paint {paint:.2f} s, examples drawn {ready:.2f} s, main thread {work:.2f} s")


if __name__ == "__main__":
    main()
