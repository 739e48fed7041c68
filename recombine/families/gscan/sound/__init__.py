"""The sound recipe: every word is needed, and several objects could have been meant."""
