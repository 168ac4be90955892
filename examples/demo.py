"""Release private models of real data, and see what privacy costs.

Run with ``make demo``.
"""

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import AutoPrivateClassifier, Membership, PACPrivate
from pacsklearn.tabular import privacy_utility_curve

BUDGETS = [1 / 64, 1 / 16, 1 / 4, 1, 4]
MODELS = {
    "linear SVM": make_pipeline(StandardScaler(), LinearSVC(C=0.01)),
    "linear discriminant": make_pipeline(
        StandardScaler(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.9)
    ),
}

console = Console(width=96)
X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
console.rule("Breast cancer (Wisconsin): 569 tumours, 30 measurements")
console.print(
    f"{len(X_train)} rows to learn from, {len(X_test)} to test on. A release hides which half of "
    "the rows it was fitted on."
)

auto = AutoPrivateClassifier(budget=Membership(0.60)).fit(X_train, y_train)
console.rule("The best of a short list, membership told at most 60 times of 100")
console.print(f"  {auto.guarantee_.promise}", highlight=False)
console.print(f"\n  chosen and published: {auto.released_estimator_!r}", highlight=False)
console.print(f"  accuracy of this release on the test rows: {auto.score(X_test, y_test):.1%}")

for number, (name, model) in enumerate(MODELS.items()):
    private = PACPrivate(model, budget=1 / 4).fit(X_train, y_train)
    console.rule(f"A private {name}, budget 1/4 nat")
    guarantee = private.guarantee_
    console.print(str(guarantee) if number == 0 else f"  {guarantee.promise}", highlight=False)
    console.print(f"\n  published: {private.released_estimator_!r}", highlight=False)
    console.print(
        f"  accuracy of this release on the test rows: {private.score(X_test, y_test):.1%}"
    )

table = Table(title="Mean test accuracy over 100 releases")
table.add_column("budget (nats)")
table.add_column("membership success at most", justify="right")
for name in MODELS:
    table.add_column(name, justify="right")
    table.add_column("membership capped", justify="right")
curves = {
    name: privacy_utility_curve(
        model,
        X_train,
        y_train,
        X_test=X_test,
        y_test=y_test,
        budgets=BUDGETS,
        noise=["logdet", "criterion"],
        n_releases=100,
    )
    for name, model in MODELS.items()
}
columns = [curve.of(noise) for curve in curves.values() for noise in ("logdet", "criterion")]
for row in zip(*columns, strict=True):
    table.add_row(
        f"{row[0].budget:g}",
        f"{np.ceil(1000 * row[0].posterior_membership) / 10:.1f}%",
        *(f"{point.mean:.1%}" for point in row),
    )
table.add_section()
table.add_row(
    "no noise",
    "100.0%",
    *(cell for curve in curves.values() for cell in (f"{curve.noiseless_score:.1%}", "")),
)
table.add_row(
    "no privacy",
    "100.0%",
    *(cell for curve in curves.values() for cell in (f"{curve.all_rows_score:.1%}", "")),
)
console.print(table)
console.print(
    "A budget covers whatever may be asked about the rows; where membership is capped "
    "(Membership) the same success is promised about that alone, with less noise."
)
console.print(
    f"Choosing a budget from this table is the curator's business: the table itself was computed "
    f"from the private rows ({np.size(BUDGETS)} budgets) and is not a release."
)
