"""The sound recipe: worlds are grown so that every law holds, and never repaired."""
