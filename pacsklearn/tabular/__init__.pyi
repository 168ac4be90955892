# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn.tabular.additive.classifier import AdditiveClassifier as AdditiveClassifier
from pacsklearn.tabular.additive.regressor import AdditiveRegressor as AdditiveRegressor
from pacsklearn.tabular.choosing.auto_private import AutoPrivateClassifier as AutoPrivateClassifier
from pacsklearn.tabular.choosing.auto_private import AutoPrivateRegressor as AutoPrivateRegressor
from pacsklearn.tabular.choosing.fit_plan import FitPlan as FitPlan
from pacsklearn.tabular.choosing.privacy_curve import privacy_utility_curve as privacy_utility_curve
from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve as PrivacyUtilityCurve
from pacsklearn.tabular.choosing.verdict import Utility as Utility
from pacsklearn.tabular.choosing.verdict import Verdict as Verdict
from pacsklearn.tabular.forests.classifier import FixedStructureForestClassifier as FixedStructureForestClassifier
from pacsklearn.tabular.forests.regressor import FixedStructureForestRegressor as FixedStructureForestRegressor
from pacsklearn.tabular.schema.apply_schema import apply_schema as apply_schema
from pacsklearn.tabular.schema.column import Column as Column
from pacsklearn.tabular.schema.schema_columns import SchemaColumns as SchemaColumns
from pacsklearn.tabular.schema.encoder import SchemaEncoder as SchemaEncoder
from pacsklearn.tabular.schema.queries import SchemaQueries as SchemaQueries
from pacsklearn.tabular.schema.schema import Schema as Schema
from pacsklearn.tabular.stepwise.classifier import StepwiseClassifier as StepwiseClassifier
from pacsklearn.tabular.stepwise.regressor import StepwiseRegressor as StepwiseRegressor
from pacsklearn.tabular.students.distillation import DistilledModel as DistilledModel
from pacsklearn.tabular.students.distillation import distill as distill
