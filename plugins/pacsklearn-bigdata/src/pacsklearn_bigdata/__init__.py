"""Tables larger than memory, and the candidate subsets of their rows."""

from pacsklearn_bigdata.exceptions import TableError
from pacsklearn_bigdata.hashed_design import HashedDesign
from pacsklearn_bigdata.hashed_space import HashedSpace
from pacsklearn_bigdata.sources import dask_workers
from pacsklearn_bigdata.table import Table

__all__ = ["HashedDesign", "HashedSpace", "Table", "TableError", "dask_workers"]
