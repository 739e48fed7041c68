"""Random actions in 8 gSCAN episodes at once with TorchRL: `pip install "recombine[torchrl]"`."""

from recombine.integrations.torchrl import vector_env

if __name__ == "__main__":
    env = vector_env("recombine/GSCAN-v0", num_envs=8, horizon=20)
    rollout = env.rollout(100, break_when_any_done=False)
    print(f"{int(rollout['next', 'done'].sum())} episodes ended; mean reward {float(rollout['next', 'reward'].mean()):.4f}")
