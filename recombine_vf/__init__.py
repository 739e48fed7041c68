"""What `vf-eval recombine_vf` finds: rows of Recombine as prompts."""

from recombine.integrations.verifiers import RowTaskset

__all__ = ["RowTaskset"]
