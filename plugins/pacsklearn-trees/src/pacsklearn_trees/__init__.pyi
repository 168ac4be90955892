# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn_trees.boosters import Boosters as Boosters
from pacsklearn_trees.stacked_forest import StackedForest as StackedForest
