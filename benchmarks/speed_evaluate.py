"""CPU seconds to evaluate and report many answers.

python benchmarks/speed_evaluate.py --family gscan --rows 100000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from recombine.data.datasets import Dataset
from recombine.data.generate import generate
from recombine.evaluate.answerers import make_answerer
from recombine.evaluate.answers import Answer
from recombine.evaluate.evaluate import evaluate
from recombine.evaluate.findings import findings
from recombine.evaluate.report import write_report


def main() -> None:
    """Print the CPU time of each stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="gscan")
    parser.add_argument("--split", default="")
    parser.add_argument("--part", default="test")
    parser.add_argument("--rows", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = generate(
            arguments.family, Path(place) / "data", split=arguments.split or (), part=arguments.part, size=arguments.rows
        )
        careless = make_answerer("careless", [])
        data = Dataset(folder.family, folder.plan.parts[0], folder, 0)
        answers = {example.id: Answer(example.id, careless(example)) for example in data}
        began = time.process_time()
        evaluation = evaluate(folder, {"careless": answers})
        scored = time.process_time()
        found = findings(evaluation)
        counted = time.process_time()
        write_report(evaluation, Path(place) / "report", found=found)
        ended = time.process_time()
        print(f"{len(answers):,} answers of {arguments.family}, one run and one baseline, CPU seconds:")
        print(
            f"score {scored - began:.1f}, findings {counted - scored:.1f}, report {ended - counted:.1f}, all {ended - began:.1f}"
        )


if __name__ == "__main__":
    main()
