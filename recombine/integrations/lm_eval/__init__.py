"""Task files for lm-evaluation-harness; `recombine path lm-eval` prints this folder."""
