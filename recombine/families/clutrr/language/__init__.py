"""The language of the stories: a store of paraphrases written here, plain sentences, questions, and a reader of all of them.

`store.tables(style, portion, fraction)` gives the word tables; `realize.realize(...)` words facts in plain Python;
`kernel.realize_story(...)` does the same over arrays for mass generation; `parser.read_story(...)` reads any of it back by
other means. `original.tables(path)` makes the same tables from the original template files, for those who have them.
"""
