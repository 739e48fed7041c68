"""Check rows with verifiers: `pip install "recombine[verifiers]"`. `vf-eval recombine_vf -n 20` asks a model."""

import asyncio

from recombine.integrations.verifiers import RowConfig, RowTaskset

for task in RowTaskset(RowConfig(family="reascan", split="a1", size=3)).load():
    print(task.key, asyncio.run(task.validate(None)))
