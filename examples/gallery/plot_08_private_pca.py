"""
Private principal components
============================

Components that explain nearly the same variance may turn into one another from subset to subset.
The canonical form turns every candidate's basis towards a common one before noise is measured. The
mean is released too, and noised. The second fit warns that it is a further release of one table.
Here the rows are public; of private rows release one.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from pacsklearn import Nats, PACPrivate, Subsets

X, _ = load_digits(return_X_y=True)
rows = {"no privacy": PCA(4).fit(X)}
for name, budget in (("1 nat", 1.0), ("1/16 nat", 1 / 16)):
    private = PACPrivate(PCA(4), budget=Nats(budget), secret=Subsets(512)).fit(X)
    rows[name] = private.released_estimator_

figure, axes = plt.subplots(len(rows), 5, figsize=(7, 4.4), layout="constrained")
for line, (name, model) in zip(axes, rows.items(), strict=True):
    for ax, image in zip(line, [model.mean_, *model.components_], strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray")
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name)
for ax, title in zip(axes[0], ["mean", *(f"component {i}" for i in range(1, 5))], strict=True):
    ax.set_title(title, fontsize=9)
plt.show()

# %%
# How well the digits are restored from four numbers each:

for name, model in rows.items():
    error = ((X - model.inverse_transform(model.transform(X))) ** 2).mean()
    print(f"{name:10}  mean squared error {error:.2f}")
