"""The release recipe: what the original generator does, as lists of items."""
