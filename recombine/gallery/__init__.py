"""The gallery: one page of puzzles from every family that a person can play, with the proof and the careless readers."""
