"""Recombine's families beside reasoning-gym's own: `pip install "recombine[reasoning-gym]"`."""

import reasoning_gym
from reasoning_gym.composite import DatasetSpec

from recombine.integrations.reasoning_gym import register

register()
specs = [DatasetSpec(name=name, weight=1, config={}) for name in ("recombine_reascan", "recombine_clutrr", "leg_counting")]
mixed = reasoning_gym.create_dataset("composite", datasets=specs, size=6, seed=7)
for entry in mixed:
    print(entry["metadata"]["source_dataset"], mixed.score_answer(entry["answer"], entry))
