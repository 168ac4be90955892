"""What is publicly known about a table's columns, and encoders that need nothing else."""
