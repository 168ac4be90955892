from __future__ import annotations

import json

import joblib
import numpy as np
import pandas as pd
import pytest

from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger


def test_a_model_and_its_statement_come_out(released, folder, table):
    model = joblib.load(folder / "model.joblib")
    assert model.predict(table[["a", "b", "c", "d"]]).shape == (150,)
    assert released["schema"] == "pacsklearn-privacy-statement/1"
    guarantee = PACGuarantee.from_json(json.dumps(released["guarantee"]))
    assert guarantee.budget == 1 / 16
    assert guarantee.for_release
    assert released["recipe"]["estimator"] == "RidgeClassifier"


def test_json_is_all_that_is_printed(call):
    result = call(
        "release", "rows.csv", "--target", "kind", "--estimator",
        "sklearn.preprocessing.StandardScaler + sklearn.linear_model.RidgeClassifier",
        "--params", '{"ridgeclassifier__alpha": 10}', "--subsets", 16, "--output", "m.joblib",
        "--json",
    )  # fmt: skip
    assert json.loads(result.stdout)["guarantee"]["secret"]["n_candidates"] == 16


@pytest.mark.product(only=1)
@pytest.mark.parametrize(("words", "dealt"), [((), True), (("--blocks", 0), False)])
def test_recipe_and_guarantee_say_how_subsets_were_dealt(call, words, dealt):
    release = ("release", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier")
    done = call(*release, *words, "--subsets", 16, "--output", "m.joblib", "--json")
    stated = json.loads(done.stdout)
    assert stated["recipe"]["secret"]["blocks"] == (8 if dealt else None)
    assert ("in blocks" in stated["guarantee"]["secret"]["dealt"]) == dealt


def test_parquet_groups_and_a_ledger(call, folder, table):
    pytest.importorskip("pyarrow")
    people = table.assign(person=np.arange(150) // 2).set_index("person")
    people.to_parquet(folder / "rows.parquet")
    call("ledger", "found", "l.db", "--ceiling", "1")
    call(
        "release", "rows.parquet", "--target", "kind", "--groups", "person", "--estimator",
        "Ridge", "--subsets", 16, "--output", "m.joblib", "--ledger", "sqlite:///l.db",
    )  # fmt: skip
    ledger = SharedLedger("sqlite:///l.db")
    assert len(ledger.events) == 1
    statement = json.loads((folder / "m.statement.json").read_text())
    assert statement["guarantee"]["secret"]["unit"] == "group"
    assert statement["guarantee"]["secret"]["n_units"] == 75


@pytest.mark.soak
def test_releases_of_a_file_are_counted_beside_the_output(call, folder):
    words = ("release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16)
    assert "Warning" not in call(*words, "--output", "a.joblib").stderr
    second = call(*words, "--output", "b.joblib", "--nats", "1/8", "--json")
    assert "release 2 of rows.csv" in second.stderr
    assert "about its release alone" in second.stderr
    shown = call("ledger", "show", "pacsklearn-ledger.db", "--dataset", "rows.csv", "--json")
    charged = json.loads(shown.stdout)["spent"]
    assert charged == pytest.approx(3 / 16)
    statement = json.loads(second.stdout)
    assert statement["promise"].startswith("This release alone.")
    assert str(folder) not in json.dumps(statement)
    capped = call(*words, "--membership", "70%", "--output", "c.joblib", "--json")
    assert "release 3 of rows.csv" in capped.stderr
    certified = json.loads(capped.stdout)["guarantee"]["mutual_information"]
    shown = call("ledger", "show", "pacsklearn-ledger.db", "--dataset", "rows.csv", "--json")
    assert json.loads(shown.stdout)["spent"] == pytest.approx(3 / 16 + certified)
    assert "Warning" not in call(*words, "--ledger", "none", "--output", "e.joblib").stderr


def test_a_refused_command_founds_no_ledger(call, folder):
    (folder / "m.joblib").write_bytes(b"")
    words = ("release", "rows.csv", "--target", "kind", "--estimator", "Ridge")
    call(*words, "--output", "m.joblib", code=2)
    assert not (folder / "pacsklearn-ledger.db").exists()


BASE = ("release", "rows.csv", "--output", "m.joblib", "--subsets", "16")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "nothing", "--estimator", "Ridge"), "no column 'nothing'"),
        (("--target", "kind", "--estimator", "os.system"), "must be a scikit-learn estimator"),
        (("--target", "kind", "--estimator", "sklearn.svm._base.BaseSVC"), "must be a scikit"),
        (("--target", "kind", "--estimator", "sklearn.svm.Nothing"), "no estimator"),
        (("--target", "kind", "--estimator", "sklearn.utils.check_array"), "is not an estimator"),
        (("--target", "kind", "--estimator", "Nothing"), "give the qualified name"),
        (("--target", "kind", "--estimator", "Ridge", "--params", "{"), "no JSON"),
        (("--target", "kind", "--estimator", "Ridge", "--params", "[1]"), "JSON object"),
        (("--target", "kind", "--estimator", "Ridge", "--params", '{"x": 1}'), "no parameter 'x'"),
        (
            ("--target", "kind", "--estimator", "Ridge + Ridge", "--params", '{"memory": "/tmp"}'),
            "disk cache",
        ),
        (("--target", "kind", "--estimator", "Ridge", "--nats", "much"), "nats must be"),
        (("--target", "kind", "--estimator", "Ridge", "--membership", "60"), "60 % is 0.60"),
        (
            ("--target", "kind", "--estimator", "Ridge", "--membership", "60%", "--nats", "1/4"),
            "Give one budget: one of --nats, --membership",
        ),
        (("--target", "kind", "--estimator", "Ridge", "--nats", "0"), "positive"),
        (("--target", "kind", "--estimator", "Ridge", "--noise", "loud"), "No noise backend"),
        (
            ("--target", "kind", "--estimator", "sklearn.neighbors.KNeighborsClassifier"),
            "No canonicalizer supports",
        ),
        (("--target", "kind", "--estimator", "sklearn.svm.SVC"), "pacsklearn distill"),
        (("--jobs", "0"), "n_jobs must be None or an integer other than 0"),
    ],
)
def test_mistakes_are_said_in_one_line_and_leave_nothing(call, folder, words, message):
    result = call(*BASE, *words, code=2)
    assert message in result.stderr
    assert not (folder / "m.joblib").exists()
    failed = call(*BASE, *words, "--json", code=2)
    assert json.loads(failed.stdout)["exit_code"] == 2


@pytest.mark.parametrize(
    "words",
    [
        ("--output", "rows.csv"),
        ("--output", "m.joblib", "--statement", "./rows.csv"),
        ("--output", "m.joblib", "--statement", "m.joblib"),
        ("--output", "m.json", "--schema", "m.json"),
        ("--output", "l.db", "--ledger", "l.db"),
        ("--output", "m.joblib", "--statement", "l.db", "--ledger", "sqlite:///./l.db"),
    ],
)
def test_what_is_read_is_never_replaced(call, folder, words):
    before = (folder / "rows.csv").read_bytes()
    failed = call("release", "rows.csv", "--target", "kind", *words, "--force", code=2)
    assert "must be two files" in failed.stderr
    assert (folder / "rows.csv").read_bytes() == before


def test_the_account_of_a_release_is_never_replaced_by_it(call, folder):
    """The model stood where its ledger was, and one of both was lost."""
    base = ("release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16)
    for words in (
        ("--output", "pacsklearn-ledger.db"),
        ("--output", "m.joblib", "--statement", "./pacsklearn-ledger.db"),
    ):
        assert "pacsklearn-ledger.db" in call(*base, *words, code=2).stderr
    assert not list(folder.glob("*ledger*"))


def test_a_link_that_leads_to_itself_is_replaced_by_a_release(call, folder):
    (folder / "m.joblib").symlink_to("m.joblib")
    words = ("--estimator", "Ridge", "--subsets", 16, "--output", "m.joblib", "--force")
    call("release", "rows.csv", "--target", "kind", *words)
    assert (folder / "m.joblib").is_file()


def test_numbers_may_be_fractions(call):
    release = ("release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16)
    done = call(*release, "--rate", "1/4", "--output", "m.joblib", "--json")
    assert json.loads(done.stdout)["recipe"]["secret"]["rate"] == 0.25
    assert "--rate must be a number" in call(*release, "--rate", "x", "-o", "n", code=2).stderr


def test_nothing_is_replaced_unasked(call, released):
    again = ("release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16)
    assert "is there already" in call(*again, "--output", "model.joblib", code=2).stderr
    call(*again, "--output", "model.joblib", "--force")
    assert "There is no folder" in call(*again, "--output", "no/m.joblib", code=2).stderr


def test_no_cell_is_quoted(call, folder):
    (folder / "words.csv").write_text("a,kind\nunique-patient-name,0\n1,1\n" * 8)
    result = call(
        "release", "words.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 4,
        "--output", "m.joblib", code=2,
    )  # fmt: skip
    assert "unique-patient-name" not in result.output
    (folder / "bad.csv").write_text('a,kind\n"unique-patient-name,0\n')
    result = call(
        "release", "bad.csv", "--target", "kind", "--estimator", "Ridge", "--output", "m.joblib",
        code=2,
    )  # fmt: skip
    assert "unique-patient-name" not in result.output


def test_a_budget_that_is_spent_is_refused(call, folder):
    base = (
        "release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16,
        "--ledger", "sqlite:///l.db",
    )  # fmt: skip
    assert "ledger found" in call(*base, "--output", "one.joblib", code=2).stderr
    call("ledger", "found", "l.db", "--ceiling", "1/8")
    call(*base, "--output", "one.joblib")
    call(*base, "--output", "more.joblib")  # a release is no ceiling
    result = call(*base, "--output", "two.joblib", code=2)
    assert "exhausted" in result.stderr
    assert not (folder / "two.joblib").exists()


def test_the_target_may_be_named_as_what_is_secret(call, folder):
    call(
        "release", "rows.csv", "--target", "kind", "--estimator", "GaussianNB",
        "--renyi", "2@8", "--secret", "kind", "--output", "m.joblib",
    )  # fmt: skip
    stated = json.loads((folder / "m.statement.json").read_text())
    assert stated["recipe"]["about"] is None
    assert stated["guarantee"]["framework"] == "Sliced Renyi Pufferfish"


@pytest.mark.parametrize("who", ["user", "project"])
def test_who_is_charged_is_asked_for_by_the_option(call, folder, who):
    call("ledger", "found", "l.db", "--ceiling", "1", f"--per-{who}", "1/8")
    refused = call(
        "release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16,
        "--ledger", "l.db", "--output", "one.joblib", code=2,
    )  # fmt: skip
    assert f"Here that is --{who}." in " ".join(refused.stderr.split())


@pytest.mark.soak
def test_a_release_is_charged_to_who_asked_for_it(call, folder):
    call(
        "ledger", "found", "l.db", "--ceiling", "1", "--per-user", "1/8", "--dataset", "ward",
    )  # fmt: skip
    base = (
        "release", "rows.csv", "--target", "kind", "--estimator", "Ridge", "--subsets", 16,
        "--nats", "1/8", "--output",
    )  # fmt: skip
    ours = ("--ledger", "l.db", "--dataset", "ward")
    call(*base, "one.joblib", *ours, "--user", "ann", "--project", "trial")
    refused = " ".join(call(*base, "two.joblib", *ours, "--user", "ann", code=2).stderr.split())
    assert "budget of user 'ann' is exhausted: 0.125 nats are spent" in refused
    assert "the ceiling is 0.125" in refused
    call(*base, "two.joblib", *ours, "--user", "bob")
    assert SharedLedger("sqlite:///l.db", dataset="ward").spent == pytest.approx(0.25)
    assert "name the ledger" in call(*base, "three.joblib", "--user", "ann", code=2).stderr


@pytest.mark.soak
def test_a_model_is_chosen_and_can_be_audited(call, folder, table):
    call(
        "release", "rows.csv", "--target", "kind", "--subsets", 8, "--nats", 1,
        "--subset-seed", 0, "--output", "m.joblib",
    )  # fmt: skip
    statement = json.loads((folder / "m.statement.json").read_text())
    assert any("possible outcomes" in text for _, text in statement["guarantee"]["details"])
    assert statement["recipe"]["estimator"].startswith("StandardScaler + ")
    model = joblib.load(folder / "m.joblib")
    assert np.mean(model.predict(table[["a", "b", "c", "d"]]) == table["kind"]) > 0.6
    call(
        "audit", "rows.csv", "m.statement.json", "--attacks", "identification", "--trials", 20,
        "--json",
    )  # fmt: skip


@pytest.mark.soak
def test_a_chosen_constant_and_a_number(call, folder, table):
    call(
        "release", "rows.csv", "--target", "d", "--drop", "kind", "--regression",
        "--constant", 1.5, "--nats", 1e-9, "--subsets", 16, "--output", "m.joblib",
    )  # fmt: skip
    statement = json.loads((folder / "m.statement.json").read_text())
    assert statement["recipe"]["estimator"] == "a constant"
    assert set(joblib.load(folder / "m.joblib").predict(table[["a", "b", "c"]])) == {1.5}
    said = call("audit", "rows.csv", "m.statement.json", code=2).stderr
    assert "a public constant" in said  # and not that no estimator is called so


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name its column by --target"),
        (("--target", "kind", "--estimator", "Ridge", "--regression"), "give one"),
        (("--target", "kind", "--constant", 1), "goes with --constant"),
        (("--target", "kind", "--regression"), "goes with --constant"),
        (("--target", "a", "--regression", "--constant", 0), "--constant 0 says nothing"),
        (("--target", "kind", "--params", "{}"), "the model is chosen"),
        (("--target", "a"), "give --regression"),
        (("--target", "kind", "--schema", "twice.json"), "target"),
        (("--schema", "list.json"), "which columns"),
    ],
)
def test_a_model_is_named_or_chosen(call, folder, words, message):
    (folder / "twice.json").write_text('{"fields": [], "pacsklearn": {"aim": "kind"}}')
    (folder / "list.json").write_text('{"fields": [], "pacsklearn": {"target": ["kind"]}}')
    result = call(*BASE, *words, code=2)
    assert message in " ".join(result.output.split())


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "words",
    [("--k-of-n", "60:60%"), ("--budget", '{"name": "k_of_n", "k": 60, "cap": 0.6}')],
)
def test_a_cap_on_many_rows_is_stated_in_the_recipe(call, words):
    release = ("release", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier")
    done = call(*release, "--subsets", 16, *words, "--output", "m.joblib", "--json")
    stated = json.loads(done.stdout)
    budget = stated["recipe"]["budget"]
    assert (budget["name"], budget["k"], budget["cap"]) == ("k_of_n", 60, 0.6)
    assert stated["recipe"]["secret"] == {
        "n": 16,
        "rate": 0.5,
        "blocks": 8,
        "seed": None,
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--k-of-n", "60%"), "--k-of-n must be such as 35:20%"),
        (("--membership", "35:20%"), "--membership must be a number such as"),
        (("--budget", "[]"), "must be a JSON object"),
        (("--budget", "0.25"), "nats are --nats"),
        (("--budget", "{}"), "budget must name"),
        (("--renyi", "1"), "--renyi must be such as 1@4"),
        (("--membership", "60%,70%"), "Give one budget"),
        (("--secret", "kind"), "--secret names a column"),
        (("--renyi", "1@4", "--subsets", "16"), "--renyi hides a share"),
        (("--renyi", "0@4"), "epsilon must be a number"),
        (
            ("--budget", '{"name": "nats", "nats": 1}', "--k-of-n", "35:20%"),
            "Give one budget: one of --k-of-n, --budget",
        ),
    ],
)
def test_a_budget_that_cannot_be_read_is_refused(call, words, expected):
    release = ("release", "rows.csv", "--target", "kind", "--estimator", "RidgeClassifier")
    done = call(*release, *words, "--output", "m.joblib", code=2)
    assert expected in done.stderr


def test_one_command_from_a_table_and_its_codebook(call, folder):
    rng = np.random.default_rng(0)
    ill = np.arange(160) % 2
    people = pd.DataFrame(
        {
            "": range(160),
            "age": np.where(ill == 1, 60, 30) + rng.integers(0, 15, 160),
            "ward": np.where(ill == 1, "north", "south"),
            "ill": ill,
        }
    )
    people.to_csv(folder / "p.csv", index=False)
    call("schema", "p.csv", "--target", "ill", "--output", "codebook.json")
    draft = json.loads((folder / "codebook.json").read_text())
    assert draft["pacsklearn"] == {"target": "ill"}
    for field in draft["fields"]:
        field.get("pacsklearn", {}).pop("looked_up", None)
    draft["fields"] = [*draft["fields"][1:], {"name": "ill", "type": "integer"}]
    (folder / "codebook.json").write_text(json.dumps(draft))
    words = ("release", "p.csv", "--membership", "75%", "--subsets", 8, "--json")
    result = call(*words, "--schema", "codebook.json", "-o", "y.joblib")
    assert "For the curator alone" in result.stderr
    statement = json.loads(result.stdout)
    assert "neg_log_loss" not in result.stdout
    assert "looked up" not in result.stdout
    model = joblib.load(folder / "y.joblib")
    assert np.mean(model.predict(people) == ill) > 0.7
    result = call(
        *words, "--schema", "from table", "--target", "ill", "-o", "t.joblib",
        "--estimator", "SchemaEncoder+LogisticRegression",
        "--params", '{"logisticregression__C": 2}',
    )  # fmt: skip
    statement = json.loads(result.stdout)["guarantee"]
    assert "published exactly" in statement["headline"]
    assert any("Unnamed: 0 is left out" in fact for fact in statement["public"])


def test_columns_of_one_name_are_refused_as_in_python(call, folder):
    (folder / "twice.csv").write_text("a,a,kind\n1,2,0\n2,1,1\n")
    words = ("--target", "kind", "--estimator", "Ridge", "-o", "m.joblib")
    assert "several columns of one name (a)" in call("release", "twice.csv", *words, code=2).stderr
    (folder / "none.csv").write_text("Smith,Smith,7\nJones,2,0\n")
    assert "Smith" not in call("release", "none.csv", *words, code=2).stderr


@pytest.mark.soak
def test_a_property_of_the_table_is_hidden_and_the_release_audited(call, folder):
    call(
        "release", "rows.csv", "--target", "a", "--estimator", "Ridge", "--renyi", "2@8",
        "--secret", "kind", "--output", "m.joblib",
    )  # fmt: skip
    stated = json.loads((folder / "m.statement.json").read_text())
    assert stated["recipe"]["budget"] == {"name": "renyi", "epsilon": 2.0, "order": 8.0}
    assert stated["guarantee"]["framework"] == "Sliced Renyi Pufferfish"
    assert stated["guarantee"]["spent"] <= 2
    audit = ("audit", "rows.csv", "m.statement.json", "--trials", 30)
    assert "VIOLATED" not in call(*audit, "--renyi", "100@8").stdout
    assert "VIOLATED" in call(*audit, "--renyi", "1e-3@2", code=1).stdout
    assert "states nothing" in call(*audit, "--membership", "60%", code=2).stderr
