"""
The shape of the noise
======================

Two means of each candidate subset of the irises are released at 1 nat. The five backends
differ in what they know about the cloud of candidates' outputs: its total variance
(``isotropic``), its variance along each number (``diagonal``), its principal axes (``eigen``), the
entropy that those axes allow (``logdet``), or the cloud itself (``residual``).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space

X, y = load_iris(return_X_y=True)
space = balanced_space(len(X), n_subsets=32)
means = np.stack([X[space.rows(i)][:, [0, 2]].mean(axis=0) for i in range(32)])

figure, ax = plt.subplots(figsize=(7.4, 4.6), layout="constrained")
ax.plot(*means.T, ".", color="#737373", markersize=4, label="candidates")
circle = np.stack([np.cos(turn := np.linspace(0, 2 * np.pi, 200)), np.sin(turn)])
styles = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1))]
for name, style in zip(
    ["isotropic", "diagonal", "eigen", "logdet", "residual"], styles, strict=True
):
    law = registry().noise_backend(name).calibrate(Support(means), Target(1.0), IdentityMetric())
    root = (law.step * law.scale)[:, None] * law.axes
    outline = means.mean(axis=0)[:, None] + root.T @ circle
    ax.plot(*outline, linestyle=style, label=f"{name}: power {law.noise_power:.3f}")
    print(f"{name:10} {law.noise_power:.4f}  {law.proof}")
ax.set(xlabel="mean sepal length (cm)", ylabel="mean petal length (cm)", aspect="equal")
ax.set(xlim=(5.6, 6.1), ylim=(3.5, 4.0))  # a few candidates lie outside
ax.set_title("One standard deviation of the noise, 1 nat")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
