"""Gymnasium environments for the families in which an agent can act. Importing this module registers them.

    import gymnasium, recombine.envs
    env = gymnasium.make("recombine/TowerScratch-v0", render_mode="rgb_array")
    env = gymnasium.make("recombine.envs:recombine/ScatterFlipIt-v0", rules="code")    # without the import
    envs = gymnasium.make_vec("recombine/TowerScratch-v0", num_envs=64)                # native, batched

Only strings are registered: an environment's module is imported when one is made.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym

__all__ = ["ENVIRONMENTS", "register"]

_LILGYM = "recombine.envs.lilgym:LilGymEnv", "recombine.envs.lilgym:LilGymVectorEnv"
_GRID = "recombine.envs.grid:GridEnv", "recombine.envs.grid:GridVectorEnv"

ENVIRONMENTS: dict[str, tuple[tuple[str, str], dict[str, Any]]] = {
    "recombine/TowerScratch-v0": (_LILGYM, {"kind": "tower", "start": "scratch"}),
    "recombine/TowerFlipIt-v0": (_LILGYM, {"kind": "tower", "start": "flipit"}),
    "recombine/ScatterScratch-v0": (_LILGYM, {"kind": "scatter", "start": "scratch"}),
    "recombine/ScatterFlipIt-v0": (_LILGYM, {"kind": "scatter", "start": "flipit"}),
    "recombine/GSCAN-v0": (_GRID, {"name": "gscan"}),
    "recombine/ReaSCAN-v0": (_GRID, {"name": "reascan"}),
    "recombine/Abstract-v0": (("recombine.envs.abstract:AbstractEnv", ""), {}),
}
"""Id -> entry points (single, and vector where there is one) and arguments."""


def register() -> None:
    """Register every environment with Gymnasium; those already registered are left alone."""
    for name, ((single, vector), arguments) in ENVIRONMENTS.items():
        if name not in gym.registry:
            gym.register(name, entry_point=single, vector_entry_point=vector or None, kwargs=arguments)


register()
