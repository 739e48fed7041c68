"""GRPO with TRL on ReaSCAN: `pip install "recombine[trl]"`, then `python examples/trl_grpo.py MODEL`."""

import sys

from trl import GRPOConfig, GRPOTrainer

from recombine.integrations.trl import Spec

if __name__ == "__main__":
    spec = Spec("reascan", split="a1", part="train", size=1_000)
    trainer = GRPOTrainer(
        sys.argv[1],
        reward_funcs=spec.reward_funcs,
        train_dataset=spec.train_dataset,
        args=GRPOConfig(output_dir="grpo-out", num_generations=8, max_completion_length=512),
    )
    trainer.train()
