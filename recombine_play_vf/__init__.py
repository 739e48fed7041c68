"""What `vf-eval recombine_play_vf` finds: episodes of Recombine in words."""

from recombine.integrations.verifiers import PlayEnv, PlayTaskset

__all__ = ["PlayEnv", "PlayTaskset"]
