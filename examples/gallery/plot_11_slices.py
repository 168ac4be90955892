"""
Slices of a secret about the data
=================================

The secret is how frequent large tumours are in the training set; released are the mean radius and
the share of benign tumours. Along each direction two secrets can be told apart by a different
amount. A sliced guarantee averages over directions; whoever holds both numbers is bounded by the
full view.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from pacsklearn import SRPPPrivate
from pacsklearn.srpp import PrevalenceScenario, SliceProfile, Slices
from pacsklearn.srpp.divergence.world_distances import slice_distances
from pacsklearn.srpp.scenarios.scenario import SecretColumn

X, y = load_breast_cancer(return_X_y=True)
large = np.where(X[:, 0] > 14, "large", "small")


def summary(X, y):
    return np.array([X[:, 0].mean() / 10, y.mean()])


# %%
# How far apart the outputs are, along 90 directions, for the pair of secrets that differs most:

scenario = PrevalenceScenario(value="large")
worlds = scenario.worlds(X, y, SecretColumn(large))
outputs = np.stack([summary(*world.data(X, y)) for world in worlds.worlds])
turn = np.linspace(0, 2 * np.pi, 90)
directions = np.column_stack([np.cos(turn), np.sin(turn)])
pairs = [(left.members, right.members) for left, right in worlds.instances()]
distances = slice_distances(outputs, pairs, directions).max(axis=0)

figure, ax = plt.subplots(
    figsize=(4.6, 4.6), subplot_kw={"projection": "polar"}, layout="constrained"
)
ax.plot(turn, distances)
ax.set_rticks([0.05, 0.1, 0.15])
ax.set_rlabel_position(22)  # where no curve is
ax.set_title("Distance between two secrets, by direction", pad=18)
plt.show()

# %%
# Noise for epsilon = 1, calibrated in three ways, and what it comes to in each view. The average
# view is the weakest promise and takes the least noise. The second and the third fit warn that they
# are further releases of one table. Here the rows are public; of private rows release one.

for aggregation in ("average", "joint", "full"):
    released = SRPPPrivate(
        summary,
        budget=1.0,
        slices=Slices(profile=SliceProfile(directions[:-1]), aggregation=aggregation),
        scenario=scenario,
    ).fit(X, y, secret=large)
    costs = released.guarantee_.costs
    views = f"average {costs.average:.2f}, joint {costs.joint:.2f}, full {costs.full:.2f}"
    print(f"{aggregation:8} {views}")
