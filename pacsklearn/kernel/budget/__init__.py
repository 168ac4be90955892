"""What an adversary has to achieve, and how likely it is under a belief."""
