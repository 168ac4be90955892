"""Secrets drawn afresh from all subsets."""
