"""
What an adversary comes to believe
==================================

A session tracks what anybody who saw all answers now knows of the secret. Here a conversation is
rehearsed: 32 candidates answer queries about wines, and the probability of each is followed. The
session calibrates every answer against this belief.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from pacsklearn.audit.transcript_game import TranscriptGame
from pacsklearn.plots import BeliefDisplay
from pacsklearn.secrets import balanced_space

X, y = load_wine(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=60, stratify=y, random_state=0)
space = balanced_space(len(y), n_subsets=32, strata=y)
tree = DecisionTreeClassifier(max_depth=3, random_state=0)
game = TranscriptGame.rehearse(tree, X, y, X_new, space, step_budget=1 / 16, n_queries=60)

BeliefDisplay.from_rehearsal(game.predictions, space, step_budget=1 / 16)
plt.show()

# %%
# With a smaller step budget the belief hardly moves.

BeliefDisplay.from_rehearsal(game.predictions, space, step_budget=1 / 1024)
plt.show()
