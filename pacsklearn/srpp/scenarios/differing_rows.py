"""The secret is whatever a few rows decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pacsklearn._validation import check_integer
from pacsklearn.exceptions import ScenarioError
from pacsklearn.srpp.scenarios.scenario import Scenario, SecretColumn, Worlds


@final
@dataclass(frozen=True)
class DifferingRows(Scenario):
    """Hide everything that a number of rows decide: any two data sets that differ in so many.

    For private gradient descent, which needs no more than that number. The data sets are not
    enumerated, so nothing is assumed about what the rows could have been instead, or about which
    ones differ.

    Parameters
    ----------
    count : int, default=1
        Most rows in which two data sets differ, known without looking at the data: 20 where a
        class may have 20 records more or less.

    Notes
    -----
    *Guarantee.* Prior-free: worst-case group privacy (srpp, appendix A.4) with rows that secrets
    influence locally (appendix D.4).
    """

    name = "differing_rows"
    count: int = 1

    redrawn = False
    releases = "the model fitted on the rows given"

    @property
    def protects(self) -> str:
        if self.count == 1:
            return "what any single row holds"
        return f"whatever any {self.count:,} rows decide"

    @property
    def description(self) -> str:
        return f"DifferingRows(count={self.count})"

    def most_differing(self, n_rows: int) -> int:
        return min(check_integer(name="count", value=self.count, minimum=1), n_rows)

    def worlds(self, X: Any, y: Any, secret: SecretColumn | None) -> Worlds:
        raise ScenarioError(
            "DifferingRows is about all data sets that differ in some rows and does not enumerate "
            "them; only SRPPSGDClassifier and SRPPSGDRegressor can use it. Use PrevalenceScenario "
            "or SimulatorScenario here."
        )
