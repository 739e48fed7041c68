"""All families through lm-evaluation-harness: `python examples/lm_eval_group.py MODEL` (a Hugging Face model's name or folder)."""

import sys

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from recombine.integrations import path_of

if __name__ == "__main__":
    manager = TaskManager(include_path=str(path_of("lm-eval")), metadata={"size": 100})
    found = simple_evaluate("hf", model_args={"pretrained": sys.argv[1]}, tasks=["recombine"], task_manager=manager)
    for name, figures in found["results"].items():
        print(name, figures["exact,none"])
