"""
Capping one attack instead of all information
=============================================

Both curves promise the same bound on how often an adversary can tell whether a row was used.
``logdet`` does it by bounding all information about the secret, ``criterion`` by bounding that
success alone. The second promises less, and takes less noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from pacsklearn.capping.criterion import CriterionBackend
from pacsklearn.kernel.bounds.posterior_success import mutual_information_for_success
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.secrets import balanced_space

X = load_iris().data[::2]
space = balanced_space(len(X), n_subsets=32)
support = Support(np.stack([X[space.rows(i)].mean(axis=0) for i in range(32)]))

caps = [0.55, 0.65, 0.8]
power = {"logdet": [], "criterion": []}
backends = {"logdet": LogdetBackend(), "criterion": CriterionBackend(n_certificate=2**11)}
for cap in caps:
    information = Target(mutual_information_for_success(cap))
    membership = Target(cap, MembershipCriterion(space))
    for name, target in (("logdet", information), ("criterion", membership)):
        law = backends[name].calibrate(support, target, IdentityMetric())
        power[name].append(law.noise_power)
    print(f"{cap:.0%}: {power['logdet'][-1] / power['criterion'][-1]:.1f} times less noise power")

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for (name, values), style in zip(power.items(), ("o-", "s--"), strict=True):
    ax.plot(caps, values, style, label=name)
ax.set(yscale="log", xlabel="membership success, at most", ylabel="noise power on four means (cm²)")
ax.xaxis.set_major_formatter("{x:.0%}")
ax.grid(alpha=0.3)
figure.legend(loc="outside upper center", ncols=2)
plt.show()
