"""Reinforcement learning on lilGym: PPO with and without stop forcing, and the policies of the paper.

    recombine train ppo --env TowerScratch --policy set --with forcing=relabel --out runs/tower
    recombine reproduce lilgym-table1 --scale smoke --out runs

`ppo.py` is the algorithm, `heads.py` how an action is chosen, `policies.py` names what reads the state, `train.py` a run.
PyTorch is imported only below here.
"""

from __future__ import annotations

from recombine.errors import UnknownName

__all__ = ["ENVS", "find_env"]

ENVS: dict[str, tuple[str, str]] = {
    "TowerScratch": ("tower", "scratch"),
    "TowerFlipIt": ("tower", "flipit"),
    "ScatterScratch": ("scatter", "scratch"),
    "ScatterFlipIt": ("scatter", "flipit"),
}
"""Short name of an environment -> kind of scene, and start."""


def find_env(name: str) -> tuple[str, str]:
    """Kind and start of an environment; `recombine/TowerScratch-v0` and `TowerScratch` mean the same."""
    short = name.removeprefix("recombine/").removesuffix("-v0")
    if short not in ENVS:
        raise UnknownName("environment", name, ENVS)
    return ENVS[short]
