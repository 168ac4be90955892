"""Training of torch modules: gradients against loops, the account, and a network on digits."""

from __future__ import annotations

import os
import pickle
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from pacsklearn.exceptions import BudgetExhaustedError, PrivacyLeakWarning
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.srpp import (
    Batches,
    DifferingRows,
    LearningRate,
    NoiseMultiplier,
    PrevalenceScenario,
    Renyi,
    SRPPSGDClassifier,
)

torch = pytest.importorskip("torch", reason="torch is not installed: pip install torch")

from pacsklearn_torch import SRPPTorchClassifier  # noqa: E402
from pacsklearn_torch.row_gradients import ClippedGradients, layer_norms  # noqa: E402
from torch import nn  # noqa: E402

QUIET = pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return (X / 16).reshape(-1, 1, 8, 8).astype(np.float32), y


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip


def classifier(**options):
    return SRPPTorchClassifier(network, **{"batches": 128, "epochs": 2, **options})


@pytest.mark.parametrize("per_layer", [False, True])
def test_a_loop_over_rows_agrees(digits, per_layer):
    X, y = (torch.from_numpy(part[:9]) for part in digits)
    torch.manual_seed(1)
    module = network()
    sizes = tuple(p.numel() for p in module.parameters())
    norms = layer_norms(sizes, 0.5) if per_layer else (0.5,)
    assert np.linalg.norm(norms) == pytest.approx(0.5)
    expected = np.zeros(sum(sizes))
    for i in range(9):
        module.zero_grad()
        nn.functional.cross_entropy(module(X[i : i + 1]), y[i : i + 1]).backward()
        blocks = [p.grad.flatten().double().numpy() for p in module.parameters()]
        blocks = blocks if per_layer else [np.concatenate(blocks)]
        cut = [
            block * min(1, norm / np.linalg.norm(block))
            for block, norm in zip(blocks, norms, strict=True)
        ]
        expected += np.concatenate(cut)
    for chunk in (4, 64):
        found = ClippedGradients(module, norms, chunk).total(X, y)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.all(ClippedGradients(module, norms, 4).total(X[:0], y[:0]) == 0)
    broken = X.clone()
    broken[0] = np.inf
    assert np.all(np.isfinite(ClippedGradients(module, norms, 4).total(broken, y)))


@QUIET
def test_a_linear_module_is_the_linear_model(digits):
    """Softmax over two classes, without noise, on the same batches."""
    X, y = digits[0].reshape(-1, 64)[:200], (digits[1][:200] > 4).astype(int)

    def zero():
        layer = nn.Linear(64, 2)
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
        return layer

    options = {"budget": NoiseMultiplier(0), "batches": 200, "epochs": 30}
    deep = SRPPTorchClassifier(zero, learning_rate=0.25, clipping=1e6, **options).fit(X, y)
    line = SRPPSGDClassifier(learning_rate=0.5, penalty=None, clipping=1e6, **options).fit(X, y)
    # Both scores move, so their difference moves twice as far.
    np.testing.assert_allclose(deep.decision_function(X), line.decision_function(X), atol=1e-4)
    assert deep.guarantee_ is None


@pytest.mark.parametrize("per_layer", [False, True])
def test_a_small_network_on_digits(digits, per_layer):
    X, y = digits
    train, test = np.arange(len(y)) % 4 > 0, np.arange(len(y)) % 4 == 0
    model = classifier(
        budget=Renyi(1e4, order=16.0, allow_exact=True),
        per_layer=per_layer,
        epochs=8,
        learning_rate=LearningRate(0.2, momentum=0.9),
        batches=64,
        random_state=0,
    )
    with pytest.warns(PrivacyLeakWarning):
        model.fit(X[train], y[train])
    assert model.score(X[test], y[test]) > 0.8
    assert model.guarantee_.spent <= 1e4
    text = " ".join(str(model.guarantee_).split())
    assert "1,386 parameters" in text
    assert text.count("norm ") >= 1
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_the_account(digits):
    X, y = (part[:256] for part in digits)
    model = classifier(budget=3.0, epochs=3, scenario=DifferingRows(2), secret_name="digits")
    ledger = MemoryLedger(4.0, unit=model.ledger_unit)
    model.set_params(ledger=ledger).partial_fit(X, y, classes=np.arange(10))
    assert ledger.spent == pytest.approx(1.0) == pytest.approx(model.guarantee_.spent)
    assert len(ledger.events) == model.n_steps_ == 2
    model.partial_fit(X, y).partial_fit(X, y)
    with pytest.raises(BudgetExhaustedError):
        model.partial_fit(X, y)
    assert model.n_steps_ == 6
    fresh = clone(model).set_params(ledger=None).fit(X, y)
    assert model.guarantee_.for_release
    first = next(fresh.module_.parameters()).detach().numpy()
    assert not np.array_equal(first, next(model.module_.parameters()).detach().numpy())


def test_layers_cost_what_their_number_says(digits):
    """Every layer moves by its own norm, so 6 of them cost 6 times as much at equal noise."""
    X, y = (part[:256] for part in digits)
    spent = [
        classifier(
            budget=NoiseMultiplier(9.0),
            batches=Batches(128, accounting="worst-case"),
            per_layer=each,
            epochs=1,
        )
        .fit(X, y)
        .guarantee_.spent
        for each in (False, True)
    ]
    assert spent[0] == pytest.approx(2 * 4 / 2 * (2 / 9.0) ** 2, rel=1e-2)
    assert spent[1] == pytest.approx(6 * spent[0], rel=1e-2)


def test_prevalence(digits):
    X, y = (part[:300] for part in digits)
    scenario = PrevalenceScenario(shares=(0.06, 0.08, 0.1), value=3, n_draws=1, size=200)
    model = classifier(budget=5.0, scenario=scenario, epochs=1).fit(X, y)
    text = " ".join(str(model.guarantee_).split())
    # Shares of .06 and .1 of 200 rows: eight rows in the places of eight others.
    assert "at most 8 of 200 rows differ" in text
    assert "the table's own share is not hidden" in text


class Talkative(nn.Module):
    """Says something about the rows it sees."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 10)

    def forward(self, x):
        sys.stdout.write(f"ROW {x.shape}")
        os.write(1, b"ROW")
        warnings.warn("ROW", UserWarning, stacklevel=1)
        return self.layer(x.flatten(1))


def test_what_a_module_says_of_the_drawn_rows_is_withheld(digits, capfd):
    """It is fitted on the secret training set alone: every word would be about the secret."""
    X, y = (part[:64] for part in digits)
    model = SRPPTorchClassifier(Talkative, batches=32, epochs=1, budget=NoiseMultiplier(8.0))
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert not [each for each in shown if "ROW" in str(each.message)]
    assert "ROW" not in "".join(capfd.readouterr())


class Keeping(nn.Module):
    """Keep whatever it looks at."""

    def __init__(self):
        super().__init__()
        self.inner, self.seen = network(), []

    def forward(self, rows):
        self.seen.append(rows.detach())
        return self.inner(rows)


def test_what_a_module_keeps_of_the_drawn_rows_is_not_released(digits):
    X, y = digits[0][:200], digits[1][:200]
    model = SRPPTorchClassifier(Keeping, epochs=1, batches=64).fit(X, y)
    assert model.module_.seen == []
    model.predict(X[:2])
    assert pickle.loads(pickle.dumps(model)).module_.seen[0].shape == (2, 1, 8, 8)


def test_one_module_that_is_made_twice_is_trained_once(digits):
    X, y = digits[0][:200], digits[1][:200]
    torch.manual_seed(0)
    made = network()
    first, model = made[0].weight.clone(), SRPPTorchClassifier(lambda: made, epochs=1, batches=64)
    released = model.fit(X, y).module_[0].weight.clone()
    clone(model).fit(X, y)
    assert torch.equal(made[0].weight, first)
    assert torch.equal(model.module_[0].weight, released)


@pytest.mark.parametrize("scores", [2, 9])
def test_too_few_scores_are_refused_whichever_rows_are_drawn(digits, scores):
    ledger = MemoryLedger(10.0, classifier(secret_name="digits").ledger_unit)
    made = nn.Sequential(nn.Flatten(), nn.Linear(64, scores))
    model = SRPPTorchClassifier(made, epochs=1, batches=64, secret_name="digits", ledger=ledger)
    with pytest.raises(ValueError, match="one score for each of 10 classes"):
        model.fit(*digits)
    assert ledger.spent == 0
    assert not hasattr(model, "module_")


def test_bad_arguments(digits):
    X, y = (part[:64] for part in digits)

    def mixing():
        return nn.Sequential(nn.Flatten(), nn.BatchNorm1d(64), nn.Linear(64, 10))

    with pytest.raises(ValueError, match="batch"):
        SRPPTorchClassifier(mixing).fit(X, y)
    with pytest.raises(TypeError, match="module"):
        SRPPTorchClassifier(3).fit(X, y)
    with pytest.raises(ValueError, match="classes"):
        classifier().fit(X, np.zeros(64))
    with pytest.raises(ValueError, match="clipping"):
        classifier(clipping=0).fit(X, y)
    for wrong in ({"weight_decay": np.nan}, {"chunk_size": 0}, {"per_layer": "no"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            classifier(**wrong).fit(X, y)
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="finds"):
            classifier(device="cuda").fit(X, y)


class Counting(nn.Module):
    """Drops units, and counts in place how often it was called."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 10))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, rows):
        self.calls.add_(1)
        return self.inner(rows)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_what_a_module_draws_follows_its_seed_and_what_it_writes_is_left_out(digits):
    X, y = (part[:200] for part in digits)
    state = torch.random.get_rng_state()
    one, same, other = (
        SRPPTorchClassifier(
            Counting, epochs=1, batches=64, random_state=0, init_seed=seed
        ).fit(X, y).module_
        for seed in (0, 0, 1)
    )  # fmt: skip
    assert torch.equal(state, torch.random.get_rng_state())
    assert torch.equal(one.inner[2].weight, same.inner[2].weight)
    assert not torch.equal(one.inner[2].weight, other.inner[2].weight)
    assert one.calls == 0


def test_an_instance_is_copied_and_the_same_module_is_made_each_time(digits):
    X, y = (part[:64] for part in digits)
    module = network()
    before = [p.detach().clone() for p in module.parameters()]
    model = SRPPTorchClassifier(module, epochs=1).fit(X, y)
    assert all(torch.equal(p, q) for p, q in zip(module.parameters(), before, strict=True))
    assert model.module_ is not module
    state = torch.random.get_rng_state()
    starts = []

    def recorded():
        made = network()
        starts.append(next(made.parameters()).detach().clone())
        return made

    X, y = digits
    for rows in (slice(64, 128), slice(128, 192)):
        SRPPTorchClassifier(recorded, epochs=1).fit(X[rows], y[rows])
    assert torch.equal(*starts)
    assert torch.equal(state, torch.random.get_rng_state())


def test_importing_the_package_does_not_import_torch():
    import subprocess
    import sys

    code = "import sys, pacsklearn_torch; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)  # noqa: S603
