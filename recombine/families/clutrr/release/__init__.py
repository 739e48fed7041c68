"""Recipe `release`: what the original generator does, and how its rows are judged."""
