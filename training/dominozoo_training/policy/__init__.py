"""What a policy is, and how it is kept."""
