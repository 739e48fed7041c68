"""Play one ReaSCAN episode in words. Here the expert replies; put your model in its place."""

import recombine

episode = recombine.Episode("recombine/ReaSCAN-v0", index=17, split="a1")
print(episode.messages[0]["content"])
while not episode.done:
    reply = episode.expert()[0]  # your_model(episode.messages)
    turn = episode.act(reply)
    print(f"> {reply}\n{turn.info['said']}")
print("solved:", episode.solved, "reward:", episode.reward)
