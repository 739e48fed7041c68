"""Play an episode through SkyRL-gym: `pip install "recombine[skyrl]"`."""

import skyrl_gym

import recombine.integrations.skyrl

name = recombine.Episode("recombine/ReaSCAN-v0", index=3).id
env = skyrl_gym.make("recombine-episode", env_config={}, extras={"id": name})
prompt, about = env.init([])
print(prompt[0]["content"])
print(env.step("walk, STOP"))
