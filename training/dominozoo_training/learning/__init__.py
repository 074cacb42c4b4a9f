"""How a policy gets better: configuration, rollouts, PPO, the trainer."""
