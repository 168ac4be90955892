from __future__ import annotations

import errno
import json
import sqlite3
import sys
from functools import partial

import joblib
import pytest
import typer

from pacsklearn import __version__
from pacsklearn.audit import auditor
from pacsklearn.audit.attack import AttackResult
from pacsklearn.audit.audit_record import Audit
from pacsklearn.cli import console
from pacsklearn.cli.app import app
from pacsklearn.kernel.ledger.log import VERSION
from pacsklearn.plots.published_schema import check_document
from pacsklearn.plugins import Attack, PluginFailure, Registry, register, unregister
from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve
from tests.audit.broken import TooQuiet


def test_curve_prints_saves_and_draws(call, folder):
    base = ("curve", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier")
    small = ("--subsets", 16, "--releases", 5, "--nats", "1/16,1", "--noise", "logdet,eigen")
    result = call(*base, *small, "--output", "c.json", "--plot", "c.png")
    assert "logdet" in result.stdout
    assert (folder / "c.png").read_bytes().startswith(b"\x89PNG")
    curve = PrivacyUtilityCurve.from_json((folder / "c.json").read_text())
    assert curve.budgets == (1 / 16, 1)
    assert len(json.loads(call(*base, *small, "--json").stdout)["points"]) == 4


def test_a_picture_without_matplotlib_is_refused_before_anything_is_computed(
    call, released, folder, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    curve = ("curve", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier")
    audit = ("audit", "rows.csv", "model.statement.json")
    for words in (curve, audit):
        result = call(*words, "--output", "x.json", "--plot", "x.png", code=2)
        assert 'pip install ".[plot]"' in result.stderr
        assert not (folder / "x.json").exists()


def test_an_audit_of_a_sound_release_passes(call, released, folder):
    base = ("audit", "rows.csv", "model.statement.json", "--trials", 20)
    result = call(*base, "--output", "a.json", "--plot", "a.png")
    assert "no attack refutes" in result.stdout
    audit = Audit.from_json((folder / "a.json").read_text())
    assert audit.passed
    assert (folder / "a.png").exists()
    again = call(*base, "--attacks", "identification,lira", "--json")
    assert [each["attack"] for each in json.loads(again.stdout)["results"]] == [
        "identification",
        "lira",
    ]


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("guarantee", 3), ("title", None), ("estimator", 3), ("params", 3), ("budget", "x"),
        ("budget", None), ("secret", None),
    ],
)  # fmt: skip
def test_a_statement_whose_parts_were_exchanged_is_no_defect(call, released, folder, part, value):
    changed = json.loads((folder / "model.statement.json").read_text())
    (changed if part in changed else changed["recipe"])[part] = value
    (folder / "changed.json").write_text(json.dumps(changed))
    assert part in call("audit", "rows.csv", "changed.json", code=2).stderr


def test_a_table_without_rows_is_said_to_be_one(call, folder):
    (folder / "head.csv").write_text("a,b,kind\n")
    assert "no rows" in call("schema", "head.csv", "--output", "s.json", code=2).stderr


@pytest.mark.product(only=2)
@pytest.mark.parametrize(
    ("option", "name", "word"),
    [
        ("--output", "pacsklearn-ledger.db", "database"),
        ("--checklist", "c.txt", ".html"),
        ("--plot", "p.foo", ".png"),
        ("--plot", "p", ".png"),  # matplotlib would write p.png, over what is there
        ("--output", ".", "folder"),
    ],
)
def test_what_an_audit_cannot_write_is_refused_before_it(
    call, released, folder, monkeypatch, option, name, word
):
    monkeypatch.setattr(auditor, "run_audit", None)
    words = ("audit", "rows.csv", "model.statement.json", option, name, "--force")
    assert word in call(*words, code=2).stderr


def test_a_violated_audit_exits_with_one(call, released, monkeypatch):
    leaky = AttackResult("lira", "membership of one unit", 1000, 990, 0.5, 0.7)
    found = Audit("a broken model", (leaky,), 0.999, 0.1, 16, 150, 0)
    monkeypatch.setattr(auditor, "run_audit", lambda *_, **__: found)
    result = call("audit", "rows.csv", "model.statement.json", code=1)
    assert "GUARANTEE REFUTED" in result.stdout
    result = call("audit", "rows.csv", "model.statement.json", "--json", code=1)
    assert json.loads(result.stdout)["passed"] is False


def test_any_violated_line_of_the_output_check_exits_with_one(call, released, folder):
    """No attack refutes it, but the house allows less than the model's promise."""
    base = ("audit", "rows.csv", "model.statement.json", "--trials", 20, "--attacks")
    base += ("identification", "--purpose", "teaching")
    result = call(*base, "--membership", "50.1%", "--checklist", "c.json", code=1)
    assert "VIOLATED: Is the success" in result.stdout
    document = json.loads((folder / "c.json").read_text())
    check_document(document)
    assert [line["safe"] for line in document["lines"] if line["verdict"] == "violated"] == [
        "outputs"
    ]
    result = call(*base, "--membership", "99.9%", "--checklist", "c.html", "--json")
    assert json.loads(result.stdout)["checklist"]["passed"] is True
    assert "Output check" in (folder / "c.html").read_text()


def test_an_audit_of_other_rows_is_refused(call, released, folder, table):
    table[:100].to_csv(folder / "fewer.csv", index=False)
    result = call("audit", "fewer.csv", "model.statement.json", code=2)
    assert "do not give the statement's guarantee" in result.stderr
    assert "no privacy statement" in call("audit", "rows.csv", "fewer.csv", code=2).stderr


@pytest.mark.soak
def test_a_report_is_one_page(call, released, folder):
    call(
        "audit", "rows.csv", "model.statement.json", "--attacks", "identification", "--trials", 20,
        "--output", "a.json",
    )  # fmt: skip
    call("report", "model.statement.json", "--audit", "a.json", "--output", "r.html")
    page = (folder / "r.html").read_text()
    assert "Audit (curator only)" in page
    call(
        "report", "model.statement.json", "--audit", "a.json", "--for-publication", "--output",
        "p.html",
    )  # fmt: skip
    assert "curator only" not in (folder / "p.html").read_text()
    printed = call("report", "model.statement.json", "--output", "r.json", "--json").stdout
    assert json.loads(printed)["statement"] == json.loads((folder / "r.json").read_text())
    (folder / "list.json").write_text("[]")
    for other in ("rows.csv", "list.json"):
        assert "no Audit" in call(
            "report", "model.statement.json", "--audit", other, "--output", "x.html", code=2
        ).stderr  # fmt: skip
    assert "end in .html" in call(
        "report", "model.statement.json", "--output", "x.pdf", code=2
    ).stderr  # fmt: skip


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (("--nats", "1/64"), "success", 0.58815),
        (("--nats", "2^-6"), "success", 0.58815),
        (("--nats", "1/64", "--prior", "1/100"), "success", 0.03213),
        (("--membership", "58.815%"), "nats", 1 / 64),
        (("--nats", "1/64"), "epsilon", 0.356),
        (("--epsilon", "1"), "success", 0.73106),
        (("--nats", "1/4", "--answers", "100"), "nats_per_answer", 0.0025),
        (("--epsilon", "1", "--delta", "1e-5", "--per-answer", "2^-8"), "answers", 28),
        (("--identification", "20%"), "nats", 0.47628),
        (("--k-of-n", "35:14.56%", "--prior", "1/100"), "nats", 0.26410),
        (("--renyi", "1@8"), "epsilon", 2.2143),
    ],
)
def test_budgets_are_converted(call, words, name, value):
    found = json.loads(call("budget", *words, "--json").stdout)
    assert found[name] == pytest.approx(value, rel=2e-3)
    assert "nats" in call("budget", *words).stdout


def test_a_budget_is_given_once(call):
    assert "the success alone" in call("budget", "--identification", "5%").stdout
    assert "exactly one" in call("budget", code=2).stderr
    assert "Give one" in call("budget", "--nats", "1", "--membership", "60%", code=2).stderr
    assert "--prior" in call("budget", "--k-of-n", "35:20%", code=2).stderr
    assert "must be a number" in call("budget", "--nats", "1/0", code=2).stderr
    assert call("budget", "--nats", "4", "--json").stdout.count("null") == 1
    assert "missing" in call("budget", "--budget", '{"name": "nats"}', code=2).stderr
    assert "Known names" in call("budget", "--budget", '{"name": "zz"}', code=2).stderr
    assert "order 4" in call("budget", "--budget", '{"name": "renyi", "epsilon": 1}').stdout


def test_a_ledger_is_shown_and_verified(call, folder):
    base = ("release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16)
    founded = call("ledger", "found", "u.db", "--ceiling", "1/2", "--per-user", "1/4", "--json")
    assert json.loads(founded.stdout)["per_user"] == 0.25
    assert "founded once" in call("ledger", "found", "u.db", "--ceiling", "1", code=2).stderr
    same = call("ledger", "found", "h.db", "--ceiling", "1", "--high-water", "h.db", code=2)
    assert "another file" in same.stderr
    assert not (folder / "h.db").exists()
    call("ledger", "found", "l.db", "--ceiling", "1/2")
    call(*base, "--ledger", "sqlite:///l.db", "--output", "m.joblib")
    shown = json.loads(call("ledger", "show", "l.db", "--json").stdout)
    assert shown["spent"] == pytest.approx(1 / 16)
    assert shown["events"][0]["kind"] == "parameters"
    assert "parameters" in call("ledger", "show", "sqlite:///l.db").stdout
    assert "as they were written" in call("ledger", "verify", "l.db").stdout
    call("ledger", "verify", "l.db", "--position", shown["position"])
    assert f"version {VERSION}" in call("ledger", "migrate", "l.db").stdout
    assert "There is no ledger" in call("ledger", "migrate", "none.db", code=2).stderr
    call("ledger", "verify", "l.db", "--position", "9:abc", code=1)
    assert "rows>:<hash" in call("ledger", "verify", "l.db", "--position", "x", code=2).stderr
    with sqlite3.connect(folder / "l.db") as database:
        master = "SELECT name FROM sqlite_master WHERE type='trigger'"
        triggers = [name for (name,) in database.execute(master)]
        database.executescript("".join(f"DROP TRIGGER {name};" for name in triggers))
        database.execute("UPDATE log SET line = replace(line, '0.06', '0.03')")
    database.close()
    result = call("ledger", "verify", "l.db", "--json", code=1)
    assert json.loads(result.stdout)["error"] == "LedgerCorruptedError"
    assert "was altered" in result.stderr
    signed = ("--signed-by", "A. Curator", "--reason", "a row was changed")
    result = call("ledger", "repair", "l.db", "--to", "new.db", *signed)
    # The row as it was written is in the file's log still, and is found there by its hash.
    assert "1 rows kept, 1 set aside" in result.stdout
    repaired = json.loads(call("ledger", "show", "new.db", "--json").stdout)
    assert repaired["spent"] == shown["spent"]
    call("ledger", "verify", "new.db")
    assert (
        "already a file"
        in call("ledger", "repair", "l.db", "--to", "new.db", *signed, code=2).stderr
    )
    assert "There is no ledger" in call("ledger", "show", "none.db", code=2).stderr


def test_plugins_are_listed_with_what_failed(call, monkeypatch):
    class Mine(Attack):
        name, description = "mine", "of my own"

        def run(self, game, n_trials, seed):
            raise NotImplementedError

    register(Mine)
    failure = PluginFailure("pacsklearn-broken", "1.2", "ImportError", "no module named torch")
    monkeypatch.setattr(Registry, "failures", property(lambda _: (failure,)))
    try:
        text = call("plugins").stdout
        found = json.loads(call("plugins", "--json").stdout)
    finally:
        unregister(Mine)
    assert "pacsklearn-broken 1.2 (ImportError: no module named torch)" in text
    assert "mine" in text
    assert "mine" in [each["name"] for each in found["plugins"]["attack"]]
    assert found["failures"][0]["distribution"] == "pacsklearn-broken"


@pytest.mark.soak
def test_a_student_is_published(call, folder):
    base = (
        "distill", "rows.csv", "public.csv", "--target", "kind", "--estimator",
        "sklearn.neighbors.KNeighborsClassifier", "--student", "LogisticRegression",
        "--student-params", '{"max_iter": 500}', "--subsets", 16,
    )  # fmt: skip
    refused = call(*base, "--nats", "2", "--output", "s.joblib", code=2)
    assert "Here that is --allow-exact." in refused.stderr
    assert not (folder / "s.joblib").exists()
    result = call(*base, "--nats", "2", "--allow-exact", "--output", "s.joblib", "--json")
    statement = json.loads(result.stdout)
    assert statement["n_kept"] <= statement["n_public"] == 150
    assert joblib.load(folder / "s.joblib").n_features_in_ == 4
    assert json.loads((folder / "s.statement.json").read_text())["title"].startswith("Logistic")


def test_the_chance_of_a_wrong_label_is_looked_at_before_any_file(call):
    words = ("--target", "kind", "--estimator", "SVC", "--student", "SVC", "--output", "s.joblib")
    refused = call("distill", "none.csv", "no.csv", *words, "--alpha", "1.5", code=2)
    assert "alpha must be a number strictly between 0 and 1" in refused.stderr


def test_files_that_a_full_disk_does_not_take_are_named(call, released, folder, full_disk):
    """It said that no space was left, and not for what."""
    for words, name in (
        (("report", "model.statement.json", "--output"), "r.html"),
        (("report", "model.statement.json", "--output"), "r.json"),
        (("schema", "rows.csv", "--output"), "s.yaml"),
        (("curve", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier", "--subsets",
          16, "--releases", 5, "--nats", "1", "--noise", "eigen", "--plot"), "c.png"),
    ):  # fmt: skip
        with full_disk():
            failed = call(*words, name, code=2)
        assert f"; nothing was written there: {name}" in failed.stderr
        assert not (folder / name).exists()


def test_a_full_standard_output_is_told_of_on_the_other(call, monkeypatch):
    def full(*_, err=False):
        if not err:
            raise OSError(errno.ENOSPC, "No space left on device")
        said.append(_[0])

    said = []
    monkeypatch.setattr(typer, "echo", full)
    monkeypatch.setattr(console, "note", partial(full, err=True))
    for words in ((), ("--json",)):
        call("budget", "--nats", "1", *words, code=2)
    assert len(said) == 2
    assert all("what was charged or written stays so: standard output" in each for each in said)


def test_a_defect_is_one_line(call, monkeypatch):
    from pacsklearn.kernel.bounds import dp_equivalent

    def broken(*_):
        raise RuntimeError("a row: 1, 2, 3")

    monkeypatch.setattr(dp_equivalent, "dp_epsilon", broken)
    result = call("budget", "--nats", "1", code=3)
    assert "a row" not in result.output
    assert "RuntimeError" in result.stderr


def test_the_version_is_printed(call):
    assert call("--version").stdout.strip() == __version__
    assert "release" in call("--help").stdout


def test_every_option_of_every_command_says_what_it_is():
    def parameters(command, name="pacsklearn"):
        for sub, each in getattr(command, "commands", {}).items():
            yield from parameters(each, f"{name} {sub}")
        yield from ((name, each) for each in command.params)

    listed = list(parameters(typer.main.get_command(app)))
    assert len(listed) > 100
    assert [(name, each.name) for name, each in listed if not each.help] == []


@pytest.mark.soak
def test_a_leaking_plugin_is_found_out(call):
    """A noise backend that scales its noise by 0.05; the exit code says so."""

    class Quiet(TooQuiet):
        name = "quiet"

    register(Quiet)
    try:
        call(
            "release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--noise", "quiet",
            "--subsets", 16, "--output", "m.joblib", "--json",
        )  # fmt: skip
        done = call(
            "audit", "rows.csv", "m.statement.json", "--attacks", "optimal_membership", "--trials",
            300, code=1,
        )  # fmt: skip
    finally:
        unregister(Quiet)
    assert "VIOLATED" in done.output
