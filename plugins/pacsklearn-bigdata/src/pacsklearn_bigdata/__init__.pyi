# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn_bigdata.exceptions import TableError as TableError
from pacsklearn_bigdata.hashed_design import HashedDesign as HashedDesign
from pacsklearn_bigdata.hashed_space import HashedSpace as HashedSpace
from pacsklearn_bigdata.sources import dask_workers as dask_workers
from pacsklearn_bigdata.table import Table as Table
