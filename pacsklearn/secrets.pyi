# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn.kernel.secret.candidate_space import CandidateSpace as CandidateSpace
from pacsklearn.universe.design import SubsetSeed as SubsetSeed
from pacsklearn.kernel.secret.secret_space import SecretSpace as SecretSpace
from pacsklearn.sampled.sampled import release_sampled as release_sampled
from pacsklearn.sampled.sampled_subsets import PoissonSubsets as PoissonSubsets
from pacsklearn.sampled.sampled_subsets import SampledSubsets as SampledSubsets
from pacsklearn.universe.balanced_space import balanced_space as balanced_space
from pacsklearn.universe.listed_space import listed_space as listed_space
