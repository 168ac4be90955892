"""A scikit-learn classifier around a torch module, trained privately."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pacsklearn._sklearn_compat import Interval
from pacsklearn.kernel.outputs.withheld import silence
from pacsklearn.srpp.descent.descent import LearningRate
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.kept_model import kept_if_refused
from pacsklearn.srpp.parameters.run_choices import SCENARIO, RunChoices
from pacsklearn.srpp.parameters.stated import stated
from pacsklearn.srpp.release.open_run import opened_run, planned_unit
from pacsklearn.srpp.release.run import PrivateRun
from pacsklearn.srpp.release.run_statement import run_guarantee
from pacsklearn.srpp.release.training_rows import training_rows
from pacsklearn.srpp.scenarios.checks import stated_column
from pacsklearn.universe.quoting import quoting_nothing

__all__ = ["SRPPTorchClassifier"]

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SRPPTorchClassifier(ClassifierMixin, BaseEstimator):
    """Torch module trained by noised gradient steps, so that a secret about the data stays hidden.

    Parameters
    ----------
    module : callable or torch.nn.Module
        A function without arguments that makes the module, or a module to be copied. It gives one
        score for each class, and its first parameters are public.
    budget, scenario, batches, learning_rate, secret_name, ledger, random_state
        As in :class:`pacsklearn.srpp.SRPPSGDClassifier`.
    epochs : int, default=20
    clipping : float, default=1.0
        To which the gradient of every row is clipped.
    per_layer : bool, default=False
        Clip every parameter tensor by itself, to ``clipping`` times the root of its share of the
        parameters.
    weight_decay : float, default=0.0
        Strength of a squared penalty, added after the noise.
    chunk_size : int, default=64
        Rows whose gradients are in memory at once.
    init_seed : int, default=0
        Public seed under which ``module`` is called, and draws what it draws itself (dropout).
    device : str, default="cpu"
        Where the module runs.

    Attributes
    ----------
    module_ : torch.nn.Module
        Holds only noised numbers and what it was made with.
    classes_ : ndarray of shape (n_classes,)
    guarantee_ : PufferfishGuarantee or None
        What is promised about all steps so far; None without noise.
    n_iter_, n_steps_ : int
        Epochs and steps taken.
    """

    module: Any
    budget: Any = 1.0
    _: KW_ONLY
    scenario: Any = None
    clipping: float = 1.0
    per_layer: bool = False
    batches: Any = 64
    learning_rate: Any = 0.5
    epochs: int = 20
    weight_decay: float = 0.0
    chunk_size: int = 64
    init_seed: int = 0
    device: str = "cpu"
    secret_name: str | None = None
    ledger: Any = None
    random_state: Any = None

    draws_its_own_secret: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SCENARIO,
        "clipping": [Interval(Real, 0, None, closed="neither")],
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "per_layer": ["boolean"],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "chunk_size": [Interval(Integral, 1, None, closed="left")],
        "init_seed": [Integral],
    }

    def fit(self, X: Any, y: Any, *, secret: Any = None, realized: Any = None) -> Any:
        """Train a new module; a run of its own.

        Parameters
        ----------
        X : array-like of shape (n_rows, ...)
            Scaled by public constants.
        y : array-like of shape (n_rows,)
        secret : array-like of shape (n_rows,), optional
            What the scenario is about; the labels when not given.
        realized : object, optional
            The true secret, for scenarios that must be told.
        """
        choices = RunChoices.of(self)
        with kept_if_refused(self, forgetting=_PRIVATE), _drawing_by(self.init_seed):
            return self._train(choices, X, y, secret, realized, self.epochs, None)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, *, secret: Any = None, realized: Any = None
    ) -> Any:
        """Run one more epoch, on the account of the run so far; parameters as in ``fit``."""
        choices = RunChoices.of(self)
        seed = self.init_seed + getattr(self, "n_steps_", 0)
        with kept_if_refused(self), _drawing_by(seed):
            return self._train(choices, X, y, secret, realized, 1, classes, goes_on=True)

    @property
    def ledger_unit(self) -> str:
        """Unit of a ledger that can bear runs like this one."""
        return planned_unit(RunChoices.of(self))

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the classes; with two classes, of the second minus the first.

        Parameters
        ----------
        X : array-like of shape (n_rows, ...)

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes, of shape (n_rows, n_classes)."""
        scores = self._scores(X)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels."""
        return np.asarray(self.classes_[self._scores(X).argmax(axis=1)])

    def _train(
        self,
        choices: RunChoices,
        X: Any,
        y: Any,
        secret: Any,
        realized: Any,
        epochs: int,
        classes: Any,
        *,
        goes_on: bool = False,
    ) -> Any:
        torch = _torch()
        from pacsklearn_torch.row_gradients import ClippedGradients, layer_norms

        first = not hasattr(self, "module_")
        X, y = quoting_nothing(
            "X",
            lambda: validate_data(self, X, y, reset=first, dtype=np.float32, allow_nd=True),
        )
        quoting_nothing("y", lambda: check_classification_targets(y))
        if not hasattr(self, "classes_"):
            self.classes_ = np.unique(y if classes is None else classes)
        codes = self._codes(y)
        if first:
            self.module_ = self._made(torch)
            self.n_iter_ = self.n_steps_ = 0
            self._velocity = None
        module = self.module_.to(self._device(torch))
        sizes = tuple(p.numel() for p in module.parameters())
        norms = layer_norms(sizes, self.clipping) if self.per_layer else (float(self.clipping),)
        clipping = GradientClipping(norms, sizes if self.per_layer else (sum(sizes),))
        column = stated_column(secret, X, y, None, None)
        record = getattr(self, "_record", None)
        rows = training_rows(choices, X, y, column, realized, record=record, goes_on=goes_on)
        X, codes = rows.of(X), rows.of(codes)
        steps = -(-rows.n_rows // rows.batch_size)
        rate = stated(LearningRate, self.learning_rate, "learning_rate")
        n_planned = self.epochs * steps
        before = self.n_steps_
        self._rehearse(torch, np.zeros_like(X[:1]), norms)
        run = opened_run(
            choices,
            rows,
            clipping=clipping,
            n_steps=n_planned,
            record=record,
            begun=before > 0,
        )
        gradients = ClippedGradients(module, norms, self.chunk_size)
        module.train()
        try:
            for _ in range(epochs):
                for _ in range(steps):
                    batch = run.next_batch()
                    images = torch.from_numpy(X[batch]).to(module_device(module))
                    labels = torch.from_numpy(codes[batch]).to(module_device(module))
                    mean = run.noised_mean(gradients.total(images, labels))
                    self._step(torch, mean, rate, n_planned)
                self.n_iter_ += 1
        finally:
            run.close()
            module.eval()
            if self.n_steps_ > before:
                self._record = run.record
                self.guarantee_ = None
                if isinstance(run, PrivateRun):
                    self.guarantee_ = run_guarantee(
                        run,
                        delta=choices.budget.delta,
                        dimension=f"{sum(sizes):,} parameters, at every step",
                        public=_PUBLIC,
                    )
        return self

    def _rehearse(self, torch: Any, zeros: Any, norms: tuple[float, ...]) -> None:
        """Use a copy of the module on a row of zeros: in a step an error is about drawn rows."""
        from pacsklearn_torch.row_gradients import ClippedGradients

        trial = copy.copy(self)
        trial.module_ = copy.deepcopy(self.module_)
        with silence():
            trial._scores(zeros)
        device = module_device(self.module_)
        row, label = torch.from_numpy(zeros), torch.zeros(1, dtype=torch.int64)
        gradients = ClippedGradients(trial.module_.train(), norms, 1)
        gradients.total(row.to(device), label.to(device))

    def _step(self, torch: Any, mean: Floats, rate: LearningRate, n_planned: int) -> None:
        """Take one step, a function of what was noised alone."""
        size = rate.size(self.n_steps_, n_planned)
        # Counted first: an interrupt may not leave a step in the module and out of the statement.
        self.n_steps_ += 1
        parameters = list(self.module_.parameters())
        with torch.no_grad():
            vector = torch.cat([p.detach().flatten().to("cpu", torch.float64) for p in parameters])
            direction = torch.from_numpy(mean) + self.weight_decay * vector
            if rate.momentum > 0:
                if self._velocity is not None:
                    direction = direction + rate.momentum * self._velocity
                self._velocity = direction
            vector = vector - size * direction
            start = 0
            for p in parameters:
                p.copy_(vector[start : start + p.numel()].reshape(p.shape).to(p))
                start += p.numel()

    def _made(self, torch: Any) -> Any:
        if isinstance(self.module, torch.nn.Module):
            made = copy.deepcopy(self.module)
        elif callable(self.module):
            with _drawing_by(self.init_seed):
                # A function may give one module twice: the steps of a fit are in its own alone.
                made = copy.deepcopy(self.module())
        else:
            made = None
        if not isinstance(made, torch.nn.Module):
            raise TypeError(
                "module must be a torch module or a function that makes one, got an object of type "
                f"{type(self.module).__name__}."
            )
        mixing = torch.nn.modules.batchnorm._BatchNorm
        names = [name for name, part in made.named_modules() if isinstance(part, mixing)]
        if names:
            raise ValueError(
                f"module has layers that mix the rows of a batch ({', '.join(names)}): clipping "
                "one row would not bound what it changes. Use GroupNorm or LayerNorm."
            )
        if not any(p.requires_grad for p in made.parameters()):
            raise ValueError("module has no parameters to train.")
        if not all(p.requires_grad for p in made.parameters()):
            raise ValueError(
                "module has parameters that are frozen; leave them out of the parameters, as "
                "buffers, so that they get no noise."
            )
        return made

    def _device(self, torch: Any) -> Any:
        device = torch.device(self.device)
        if device.type == "cuda" and not torch.cuda.is_available():
            raise ValueError(
                f"device={self.device!r} needs a GPU, and torch finds none here; use device='cpu'."
            )
        return device

    def _codes(self, y: Any) -> NDArray[np.int64]:
        if self.classes_.size < 2:
            raise ValueError(
                f"y must have at least two classes, got {self.classes_.size} class; there is "
                "nothing to tell apart."
            )
        codes = np.searchsorted(self.classes_, y)
        if np.any(codes == self.classes_.size) or np.any(self.classes_[codes] != y):
            raise ValueError(
                "y has labels that are not among the classes of the first call; name all classes "
                "there, partial_fit(X, y, classes=...)."
            )
        return np.asarray(codes, dtype=np.int64)

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "module_")
        torch = _torch()
        X = validate_data(self, X, reset=False, dtype=np.float32, allow_nd=True)
        device, found = module_device(self.module_), []
        with torch.no_grad():
            for start in range(0, len(X), 1024):
                part = torch.from_numpy(X[start : start + 1024]).to(device)
                found.append(self.module_(part).to("cpu", torch.float64).numpy())
        scores = np.concatenate(found)
        if scores.ndim != 2 or scores.shape[1] < self.classes_.size:
            raise ValueError(
                f"module must give one score for each of {self.classes_.size} classes, got an "
                f"array of shape {scores.shape}."
            )
        return np.asarray(scores[:, : self.classes_.size])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


_PRIVATE = ("_record", "_velocity")
_PUBLIC = (
    "the module as it was made",
    "number and shape of the rows",
    "classes_",
    "batch size, number of steps and every parameter of the estimator",
)


@contextmanager
def _drawing_by(seed: int) -> Iterator[None]:
    """Have a module draw by a public seed, and leave the stream of other code as it was."""
    torch = _torch()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def module_device(module: Any) -> Any:
    """Return where a module's parameters are."""
    return next(module.parameters()).device


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "SRPPTorchClassifier needs torch, which is not installed: pip install torch."
        ) from error
    return torch
