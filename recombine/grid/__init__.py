"""What gSCAN and ReaSCAN share: one grid with objects, boxes, relations and an agent.

codes     the numbers behind the names, and the layout of a world in arrays
kernel    boards, sets, matching, planner, simulator (a kernel module: interpreted or compiled)
world     the readable `World`, and its columns in a batch
play      plan, replay and parse action texts for one world
matching  noun phrases and descriptions of one world: which objects fit, and why others do not
tensor    the n × n × d arrays that the published models read
describe  ascii maps and plain-language descriptions
draw      pictures (SVG, PNG) on a canvas; graph: relation graphs
documents the released JSON documents as a stream
"""
