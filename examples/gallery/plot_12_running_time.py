"""
Hiding a running time
=====================

Square-and-multiply takes 40 microseconds more for every bit of the key that is set. A running
time can only be prolonged. Among all random delays that reveal at most so much about the key, the
one of least mean is computed, and compared with rounding up to buckets and with constant time.
"""

import matplotlib.pyplot as plt
import numpy as np

from pacsklearn import PrivacySession
from pacsklearn.padding.least_padding import bucket_padding, least_padding

times = np.array([40 * (8 + key.bit_count()) for key in range(256)])
values, counts = np.unique(times, return_counts=True)
weights = counts / 256

budgets = np.geomspace(0.02, 1.6, 12)
random = [least_padding(values, weights, budget).expected for budget in budgets]
buckets = [bucket_padding(values, weights, budget).expected for budget in budgets]

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.plot(budgets, random, "o-", label="random delay of least mean")
ax.plot(budgets, buckets, "s--", label="best buckets")
ax.axhline(weights @ (values[-1] - values), color="#737373", linewidth=1, label="constant time")
ax.set(xscale="log", xlabel="budget (nats)", ylabel="mean delay (microseconds)", ylim=(0, None))
figure.legend(loc="outside upper center", ncols=2)
ax.grid(alpha=0.3)
plt.show()

# %%
# A session draws the delay and charges it. The value is never below the true time.


def running_time(key):
    return 40 * (8 + key.bit_count())


with PrivacySession.over(range(256), budget=1 / 2, secret=0b1011_0010) as session:
    release = session.release_function(running_time, budget=1 / 4, noise="one_sided")
print(release.value, "microseconds, of", running_time(0b1011_0010))
print(release.guarantee.promise)
