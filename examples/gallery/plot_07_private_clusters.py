"""
Private cluster centres
=======================

K-Means names its clusters in any order, so the candidates' centres are first matched to one
another. That costs no privacy: it changes no prediction. Then the centres are noised together.
The second and the third fit warn that they are further releases of one table. Here the rows are
public; of private rows release one.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from pacsklearn import Nats, PACPrivate, Subsets

X = load_iris().data[:, 2:]
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True, layout="constrained")
for ax, budget in zip(axes, ("1/64", "1/4", "1"), strict=True):
    nats = float(Fraction(budget))
    model = PACPrivate(
        KMeans(3, n_init=3, random_state=0), budget=Nats(nats), secret=Subsets(64)
    ).fit(X)
    for cluster, place in enumerate(model.released_estimator_.cluster_centers_):
        ax.plot(*X[model.predict(X) == cluster].T, ".", color=f"C{cluster}", alpha=0.5)
        label = None if cluster else "released centre, in the colour of its rows"
        style = {"color": f"C{cluster}", "markeredgecolor": "#737373", "markersize": 12}
        ax.plot(*place, "X", label=label, **style)
    ax.set(title=f"budget {budget} nat", xlabel="petal length (cm)")
axes[0].set(ylabel="petal width (cm)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center")
plt.show()

# %%

print(model.guarantee_.promise)
