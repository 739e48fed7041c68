"""TorchRL: the native vector environments behind TorchRL's wrapper.

    from recombine.integrations.torchrl import vector_env
    env = vector_env("recombine/GSCAN-v0", num_envs=64)
    env.rollout(100, break_when_any_done=False)

TorchRL starts new episodes itself. It refuses Gymnasium's default (`NEXT_STEP`) and cannot read the last observations of `SAME_STEP` where
an observation has several parts. `vector_env` therefore makes the environment with `DISABLED`, which TorchRL prefers.
"""

from __future__ import annotations

from typing import Any

from recombine.errors import UsageError, shown
from recombine.integrations import need

__all__ = ["vector_env"]


def vector_env(name: str, num_envs: int, **arguments: Any) -> Any:
    """A TorchRL environment over `num_envs` episodes of one of our vector environments. `arguments` are the environment's own."""
    need("torchrl", "torchrl", "0.10", "0.15")
    import gymnasium
    from torchrl.envs import GymWrapper

    import recombine.envs  # registers the names

    if "autoreset_mode" in arguments:
        raise UsageError("TorchRL starts new episodes itself; leave out autoreset_mode.")
    known = [known for known, ((_, vector), _) in recombine.envs.ENVIRONMENTS.items() if vector]
    if name not in known:
        raise UsageError(f"{shown(name)} has no vector environment; those that have one are {', '.join(known)}.")
    return GymWrapper(gymnasium.make_vec(name, num_envs=num_envs, autoreset_mode="Disabled", **arguments))
