"""What users choose about Pufferfish releases, as value objects of scikit-learn."""
