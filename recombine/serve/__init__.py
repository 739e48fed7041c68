"""The playground: browse, see, answer and change every family in a web browser, and run studies with people.

`app` assembles the pages. `guard` limits, checks and logs every request. `boards` are the boards on which people answer, `changes` are the
editors of examples, and `studies` are the studies with people. Needs `pip install "recombine[serve]"`.
"""
