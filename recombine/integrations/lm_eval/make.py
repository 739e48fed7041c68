"""Write the task files beside this one from the table of families: `python -m recombine.integrations.lm_eval.make`."""

from __future__ import annotations

from pathlib import Path

from recombine.families import OURS

TASK = """task: recombine_{family}
custom_dataset: !function utils.load
output_type: generate_until
test_split: test
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: [], do_sample: false, max_gen_toks: 2048}}
process_results: !function utils.process_results
metric_list:
  - {{metric: exact, aggregation: mean, higher_is_better: true}}
  - {{metric: answered, aggregation: mean, higher_is_better: true}}
  - {{metric: shortcut_error, aggregation: mean, higher_is_better: false}}
metadata: {{version: 1.0, family: {family}}}
"""
GROUP = """group: recombine
task: [{tasks}]
aggregate_metric_list:
  - {{metric: exact, aggregation: mean, weight_by_size: false}}
metadata: {{version: 1.0}}
"""


def files() -> dict[str, str]:
    """Name -> text of every task file, and of the group over them."""
    made = {f"recombine_{family}.yaml": TASK.format(family=family) for family in OURS}
    return {**made, "_recombine.yaml": GROUP.format(tasks=", ".join(f"recombine_{family}" for family in OURS))}


if __name__ == "__main__":
    for name, text in files().items():
        (Path(__file__).parent / name).write_text(text)
