"""The playground: browse, see, answer and change every family in a web browser, and run studies with people.

`app` puts the pages together. `guard` is the only door: it limits, checks and logs every request. `boards` hold what can be done
with a world, `changes` what can be altered in it, and `studies` what people are asked. Needs `pip install "recombine[serve]"`.
"""
