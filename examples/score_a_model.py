"""Ask any function for answers, and get a report: accuracy with intervals, named mistakes, examples.

python examples/score_a_model.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp

import recombine
from recombine.evaluate.answers import Answer
from recombine.evaluate.evaluate import evaluate
from recombine.evaluate.report import write_report


def my_model(inputs: dict[str, str]) -> str:
    """A model sees `inputs` and nothing else. This one knows four words."""
    words = {"walk": "I_WALK", "run": "I_RUN", "look": "I_LOOK", "jump": "I_JUMP"}
    return " ".join(words[word] for word in inputs["command"].split() if word in words)


folder = Path(mkdtemp()) / "scan-jump"
recombine.generate("scan", folder, split="addprim_jump", part="test", size=300)
answers = {example.id: Answer(example.id, my_model(dict(example.inputs))) for example in recombine.load(folder)}
evaluation = evaluate(folder, {"four words": answers})
print(evaluation.runs[0].accuracy().text)
print("open", write_report(evaluation, folder.parent / "report"))
