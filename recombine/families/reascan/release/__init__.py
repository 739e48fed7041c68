"""The release recipe: what the original generator does, its quirks included."""
