"""Public data sets used in the examples, the tests and the benchmarks.

Every loader looks for its file in the folder given as `data_home`, then in the
folder named by the environment variable ``PACSKLEARN_DATA``, then in
``~/pacsklearn_data``, and fetches the original from the UCI Machine Learning
Repository when none of them has it.
"""

from pacsklearn.datasets.loader import loader_of

__all__ = ["load_adult", "load_cleveland", "load_rice", "load_student"]

load_adult = loader_of("adult")
load_cleveland = loader_of("cleveland")
load_rice = loader_of("rice")
load_student = loader_of("student")
