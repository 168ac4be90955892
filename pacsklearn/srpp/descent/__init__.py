"""Linear models trained by private stochastic gradient descent."""
