"""Public data sets used in the examples, the tests and the benchmarks.

Every loader looks for its file in the folder given as `data_home`, then in the
folder named by the environment variable ``PACSKLEARN_DATA``, then in
``~/pacsklearn_data``, and fetches the original from the UCI Machine Learning
Repository when none of them has it.
"""

from pacsklearn.datasets.adult import load_adult
from pacsklearn.datasets.cleveland import load_cleveland
from pacsklearn.datasets.rice import load_rice
from pacsklearn.datasets.student import load_student

__all__ = ["load_adult", "load_cleveland", "load_rice", "load_student"]
