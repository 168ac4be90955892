"""
Private answers
===============

A support vector machine with an RBF kernel keeps training rows, so it is never published. It
answers queries instead. Where all candidates agree an answer is free and exact; elsewhere it is
noised and charged.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pacsklearn import Answers, PACPrivate, Subsets

wine = load_wine(as_frame=True)
X = wine.data[["alcohol", "flavanoids"]].to_numpy()
private = PACPrivate(
    make_pipeline(StandardScaler(), SVC()), budget=1 / 2, release=Answers(2000), secret=Subsets(64)
).fit(X, wine.target)

alcohol, flavanoids = np.meshgrid(np.linspace(11, 15, 40), np.linspace(0.2, 5.2, 40))
queries = np.column_stack([alcohol.ravel(), flavanoids.ravel()])
print(private.preview(queries))

# %%
# What the answers were charged is far below the ceiling, but it is the ceiling that bounds what the
# mechanism may reveal.

answers = private.predict(queries)
print(f"{private.guarantee_.metered:.3g} nats metered, ceiling {private.guarantee_.spent:.3g}")

# %%

colours = ListedColormap(["#0072B2", "#D55E00", "#009E73"])
figure, ax = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
ax.pcolormesh(alcohol, flavanoids, answers.reshape(alcohol.shape), cmap=colours, alpha=0.45)
ax.scatter(*X.T, c=wine.target, cmap=colours, edgecolor="white", linewidth=0.6, s=24)
ax.set(xlabel="alcohol (%)", ylabel="flavanoids", title="1,600 private answers")
plt.show()
