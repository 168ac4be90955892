"""
What a budget means
===================

A budget in nats bounds every inference. Here for two questions: whether one row was used (blind
guessing is right half of the time), and which of 128 candidates was drawn. The second picture gives
the epsilon of a differentially private mechanism whose bound on the first question is the same;
the two definitions have nothing else in common.
"""

import matplotlib.pyplot as plt
import numpy as np

from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.bounds.posterior_success import posterior_success

budgets = np.geomspace(1 / 256, 4, 200)
member = [posterior_success(budget, 1 / 2) for budget in budgets]
subset = [posterior_success(budget, 1 / 128) for budget in budgets]

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4), layout="constrained")
left.plot(budgets, member, label="was this row used? (blind: 1/2)")
left.plot(budgets, subset, "--", label="which subset was it? (blind: 1/128)")
left.set(ylabel="success of any attack, at most", ylim=(0, 1.02))
left.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
open_ended = np.array([dp_epsilon(success) if success < 1 else np.inf for success in member])
right.plot(budgets, open_ended, color="C2")
right.set(ylabel="epsilon with the same bound", yscale="log")
right.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
for ax in (left, right):
    ax.set(xlabel="budget (nats)", xscale="log")
    ax.set_xticks(
        [1 / 256, 1 / 64, 1 / 16, 1 / 4, 1, 4], ["1/256", "1/64", "1/16", "1/4", "1", "4"]
    )
    ax.minorticks_off()
    ax.grid(alpha=0.3)
plt.show()

# %%
# From ln 2 = 0.69 nats on, the bound on membership is 1: nothing is promised about a single row.

print(posterior_success(1 / 16, 1 / 2), posterior_success(0.7, 1 / 2))
