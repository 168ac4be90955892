"""
Attack what you release
=======================

The best membership attack is known: Bayes' rule over the public list of candidates. Played 2,000
times at each budget, it stays below the guarantee. The interval is exact (Clopper and Pearson,
99.9 %).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from pacsklearn.audit.parameter_game import ParameterGame
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import registry
from pacsklearn.secrets import balanced_space

X, y = load_iris(return_X_y=True)
space = balanced_space(len(X), n_subsets=32)
support = Support(np.stack([X[space.rows(i)].mean(axis=0) for i in range(32)]))
backend, attack = (
    registry().noise_backend("logdet"),
    registry().make("attack", "optimal_membership"),
)

budgets, results = [1 / 64, 1 / 16, 1 / 4, 1 / 2], []
for budget in budgets:
    law = backend.calibrate(support, Target(budget), IdentityMetric())
    results.append(attack.run(ParameterGame(law, space), n_trials=2000, seed=0))
print(results[0])
assert not any(result.violates() for result in results)

# %%

success = np.array([result.success for result in results])
low, high = np.array([result.confidence_interval() for result in results]).T
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.errorbar(budgets, success, [success - low, high - success], fmt="o", capsize=4, label="measured")
ax.plot(
    budgets, [result.bound for result in results], "--", color="C1", label="the guarantee's bound"
)
ax.axhline(0.5, color="0.6", linewidth=1, label="blind guessing")
ax.set(xscale="log", xlabel="budget (nats)", ylabel="success of the optimal attack")
ax.set_xticks(budgets, ["1/64", "1/16", "1/4", "1/2"])
ax.minorticks_off()
figure.legend(loc="outside upper center", ncols=3)
plt.show()
