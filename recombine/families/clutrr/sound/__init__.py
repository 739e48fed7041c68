"""Recipe `sound`: proofs drawn from a grammar of kinship, true families around them, and balanced targets."""
