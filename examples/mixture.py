"""A curriculum of two families in one sequence, with a reward: no library needed."""

import recombine
from recombine.evaluate.prompts import Prompter

rows = recombine.mix({"reascan": 2, "clutrr": 1}, size=6, seed=7)
scorer = recombine.Scorer(["reascan", "clutrr"])
for example in rows:
    prompt = Prompter(example.family, "rules").prompt(example).text
    reply = f"Answer: {example.answer}"  # your_model(prompt)
    print(example.id, len(prompt), scorer(example.id, reply).value)
