from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
)

from pacsklearn import Nats, PACPrivate, Subsets
from pacsklearn.tabular import (
    Column,
    FixedStructureForestClassifier,
    Schema,
    SchemaEncoder,
    apply_schema,
)

pd = pytest.importorskip("pandas", reason="pandas is not installed")
DESCRIPTOR = {
    "missingValues": ["", "NA"],
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}},
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"], "required": True}},
        {
            "name": "stage",
            "type": "integer",
            "categories": [{"value": 1, "label": "early"}, {"value": 2, "label": "late"}],
            "categoriesOrdered": True,
            "missingValues": ["-1"],
        },
        {"name": "smoker", "type": "boolean", "trueValues": ["yes"], "falseValues": ["no"]},
        {"name": "seen", "type": "date", "constraints": {"minimum": "2020-01-01"}},
        {"name": "place", "type": "geopoint"},
        {"name": "gain", "type": "number", "pacsklearn": {"scale": "log", "edges": [0, 10]}},
        {"name": "note"},
    ],
}


def test_a_frictionless_schema_is_read_and_written_back():
    schema = Schema.from_table_schema(DESCRIPTOR)
    kinds = ["number", "category", "category", "boolean", "date", "ignored", "number", "text"]
    assert [column.kind for column in schema] == kinds
    assert schema["age"].bounds == (0, 120)
    assert schema["age"].missing == ("NA",)
    assert schema["sex"].required
    assert schema["stage"].categories == (1, 2)
    assert schema["stage"].ordered
    assert schema["stage"].missing == ("-1",)
    assert schema["smoker"].categories == ("no", "yes")
    assert schema["gain"].edges == (0, 10)
    document = json.loads(json.dumps(schema.to_table_schema()))
    assert Schema.from_table_schema(document) == schema


@pytest.mark.parametrize("name", ["book.json", "book.yaml"])
def test_files(tmp_path, name):
    pytest.importorskip("yaml", reason="PyYAML is not installed")
    schema = Schema.from_table_schema(DESCRIPTOR)
    schema.write(tmp_path / name)
    assert Schema.read(tmp_path / name) == schema


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "list"),
        ({"columns": []}, "fields"),
        ({"fields": [{"type": "string"}]}, "Field"),
        ({"fields": [{"name": "a", "pacsklearn": {"colour": 1}}]}, "colour"),
        ({"fields": [{"name": "a", "pacsklearn": {"kind": "x"}}]}, "kind"),
        ({"fields": [{"name": "a", "missingValues": "NA"}]}, "missingValues"),
        ({"fields": [{"name": "a"}, {"name": "a"}]}, "called"),
        ({"fields": [{"name": "a", "type": "interger"}]}, "type"),
        ({"fields": [{"name": "a", "type": ["integer"]}]}, "type"),
        ({"fields": [{"name": "a", "categories": "north"}]}, "categories"),
        ({"fields": [{"name": "a", "categories": [{"label": "x"}]}]}, "categories"),
        ({"fields": [{"name": "a", "constraints": {"required": "no"}}]}, "required"),
        ({"fields": [{"name": "a", "categories": ["x"], "categoriesOrdered": "no"}]}, "ordered"),
        ({"fields": [{"name": "a", "type": "boolean", "trueValues": None}]}, "trueValues"),
        ({"fields": [{"name": "a", "type": "number", "pacsklearn": {"edges": 5}}]}, "edges"),
        ({"fields": [{"name": "a", "type": "date", "constraints": {"maximum": "x"}}]}, "'a': high"),
        ({"fields": [{"name": ""}]}, "empty"),
    ],
)
def test_what_is_no_schema_is_refused(document, said):
    with pytest.raises(ValueError, match=said):
        Schema.from_table_schema(document)


def test_a_file_that_is_no_json(tmp_path):
    (tmp_path / "book.json").write_text("fields:\n- name: age\n", encoding="utf-8")
    with pytest.raises(ValueError, match="JSON"):
        Schema.read(tmp_path / "book.json")


@pytest.mark.parametrize("text", [b"fields: [a: b: c}", b"!!python/name:os.system", b"a: \xe9"])
def test_a_file_that_is_no_yaml(tmp_path, text):
    pytest.importorskip("yaml", reason="PyYAML is not installed")
    (tmp_path / "book.yaml").write_bytes(text)
    with pytest.raises(ValueError, match=r"book\.yaml is no"):
        Schema.read(tmp_path / "book.yaml")


def test_columns_of_objects_are_drafted_by_what_they_hold(tmp_path):
    days = [dt.date(2020, 1, 1 + i % 28) for i in range(60)]
    table = pd.DataFrame(
        {
            "day": days,
            "stay": pd.to_timedelta(range(60), unit="h"),
            "code": [1, "A"] * 30,
            "none": pd.Series([None] * 60, dtype=object),
            "band": pd.cut(range(60), [-1, 30, 60]),
        }
    )
    draft = Schema.template(table)
    assert [column.kind for column in draft] == [
        "date",
        "number",
        "category",
        "ignored",
        "category",
    ]
    assert draft["stay"].bounds == (0, 4)  # days
    assert draft["code"].categories == ("1", "A")
    looked_up = Schema.from_table(table)
    assert [column.kind for column in looked_up] == [column.kind for column in draft]
    encoder = SchemaEncoder(looked_up).fit(table)
    looked_up.write(tmp_path / "book.json")
    again = SchemaEncoder(Schema.read(tmp_path / "book.json")).fit(table)
    np.testing.assert_array_equal(again.transform(table), encoder.transform(table))
    assert (encoder.transform(table.drop(columns="none")).std(axis=0)[:3:2] > 0).all()
    with pytest.raises(ValueError, match="several columns of one name"):
        encoder.transform(pd.concat([table, table[["day"]]], axis=1))


def test_types_of_columns_say_what_the_rows_are_not_asked():
    frame = pd.DataFrame(
        {
            "n": [1.0, 2.0],
            "c": pd.Categorical(["b", "b"], categories=["a", "b", "never"]),
            "o": pd.Categorical(["b", "b"], categories=["a", "b"], ordered=True),
            "b": [True, False],
            "d": pd.to_datetime(["2020-01-01", "2021-01-01"]),
            "t": ["x", "y"],
        }
    )
    schema = Schema.from_dtypes(frame, n=(0, 9))
    # Other rows of the same types, or none, give the same schema.
    assert schema == Schema.from_dtypes(frame.iloc[::-1], n=(0, 9))
    assert schema == Schema.from_dtypes(frame.iloc[:0], n=(0, 9))
    assert [column.kind for column in schema] == [
        "number",
        "category",
        "category",
        "boolean",
        "date",
        "text",
    ]
    assert schema["c"].categories == ("a", "b", "never")
    assert schema["o"].ordered
    assert schema.open_columns == ()
    with pytest.raises(ValueError, match="column"):
        Schema.from_dtypes(frame, z=(0, 1))
    with pytest.raises(TypeError, match="ndarray"):
        Schema.from_dtypes(np.zeros((2, 2)))


def test_a_draft_refuses_the_tables_that_fits_refuse(frame):
    with pytest.raises(ValueError, match="several columns of one name"):
        Schema.template(pd.concat([frame, frame[["age"]]], axis=1))
    pl = pytest.importorskip("polars", reason="polars is not installed")
    with pytest.raises(TypeError, match="holds no rows yet"):
        Schema.template(pl.DataFrame({"a": [1]}).lazy())
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    with pytest.raises(TypeError, match="holds no rows yet"):
        Schema.template(dd.from_pandas(frame, npartitions=2))


def test_types_of_polars_and_arrow():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pl.DataFrame({"n": [1], "c": ["b"]}).with_columns(
        c=pl.Series(["b"], dtype=pl.Enum("ab"))
    )
    read = Schema.from_dtypes(table)["c"]
    assert (read.categories, read.ordered) == (("a", "b"), True)
    arrow = pa.Table.from_pandas(pd.DataFrame({"c": pd.Categorical(["b"], categories=["a", "b"])}))
    assert Schema.from_dtypes(arrow)["c"].categories == ("a", "b")


def test_a_draft_marks_what_it_looked_up_and_is_refused_until_confirmed(frame):
    draft = Schema.template(frame)
    assert draft["id"].kind == "category"  # four rows cannot tell names of rows from categories
    assert draft["age"].looked_up == ("low", "high")
    assert draft["ward"].looked_up == ("kind", "categories")
    assert draft["seen"].low == "2020-01-01"
    assert draft["seen"].high == "2040-01-01"
    assert set(draft.open_columns) == set(frame.columns)
    with pytest.raises(ValueError, match="looked") as caught:
        SchemaEncoder(draft).fit(frame)
    assert "mars" not in str(caught.value)
    assert Schema.from_table_schema(draft.to_table_schema()) == draft
    stated = draft.with_column("age", low=0, high=120)
    assert "age" not in stated.open_columns
    assert stated.confirm("id").open_columns == tuple(
        name for name in draft.names if name not in ("age", "id")
    )
    assert draft.confirm().open_columns == ()


def test_a_draft_of_many_rows():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "key": [f"p{i}" for i in range(200)],
            "free": [f"word {i} and more" for i in range(200)],
            "amount": rng.uniform(1.234, 987.6, 200),
            "coded": rng.choice(["1", "2", "x"], 200),
        }
    )
    draft = Schema.template(table)
    kinds = {column.name: column.kind for column in draft}
    assert kinds == {"key": "ignored", "free": "text", "amount": "number", "coded": "category"}
    # Rounded outwards, so that a draft does not hold the extreme person's figure.
    low, high = draft["amount"].bounds
    assert low <= table.amount.min()
    assert high >= table.amount.max()
    assert {low, high}.isdisjoint(table.amount)
    assert Schema.template(np.ones((3, 2))).names == ("x0", "x1")


def test_names():
    schema = Schema([Column("a"), Column("b"), Column("c")])
    assert schema.select(["c", "a"]).names == ("c", "a")
    assert schema.drop("b").names == ("a", "c")
    assert "b" in schema
    assert repr(schema) == "Schema(a: number, b: number, c: number)"
    with pytest.raises(KeyError, match="column"):
        schema.drop("z")
    with pytest.raises(TypeError, match="objects"):
        Schema(["a"])


@pytest.fixture
def sizes():
    return Schema(
        [
            Column("width", low=0, high=1),
            Column("colour", "category", categories=("red", "blue")),
            Column("size", "category", categories=("s", "m", "l"), ordered=True),
        ]
    )


def test_the_schema_supplies_what_auto_gave_up_for(sizes):
    parts = [
        ("hot", OneHotEncoder(), ["colour"]),
        ("rank", make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()), [2]),
        ("bins", KBinsDiscretizer(4, encode="onehot-dense"), slice(0, 1)),
    ]
    columns = ColumnTransformer(parts, remainder="drop")
    given = make_pipeline(columns, LogisticRegression())
    before = clone(given)
    filled = apply_schema(given, sizes)
    assert repr(given) == repr(before)
    hot, rank, bins = (part for _, part, _ in filled[0].transformers)
    assert hot.categories == [["red", "blue"]]
    assert rank[-1].categories == [["s", "m", "l"]]
    assert isinstance(bins, SchemaEncoder)
    forest = apply_schema(FixedStructureForestClassifier(), sizes.select(["width"]))
    np.testing.assert_array_equal(forest.feature_range, [[0], [1]])
    union = apply_schema(FeatureUnion([("hot", OneHotEncoder())]), sizes.select(["colour"]))
    assert union.transformer_list[0][1].categories == [["red", "blue"]]
    splines = apply_schema(SplineTransformer(3), sizes.select(["width"]))
    np.testing.assert_array_equal(splines.knots, [[0], [0.5], [1]])
    later = make_pipeline(StandardScaler(), OneHotEncoder())
    assert (
        apply_schema(later, sizes)[-1].categories == "auto"
    )  # its input is no column of the table
    with pytest.raises(ValueError, match="width"):
        apply_schema(OneHotEncoder(), sizes)


@pytest.mark.soak
def test_supplied_parts_release_parameters(sizes):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "width": rng.uniform(size=200),
            "colour": rng.choice(["red", "blue"], 200),
            "size": rng.choice(["s", "m"], 200),  # nobody here is large
        }
    )
    y = (frame.width + (frame.colour == "red") > 1).astype(int)
    parts = [
        ("hot", OneHotEncoder(), ["colour", "size"]),
        ("bins", KBinsDiscretizer(4, encode="onehot-dense"), ["width"]),
    ]
    asked = make_pipeline(ColumnTransformer(parts), LogisticRegression())
    private = PACPrivate(
        apply_schema(asked, sizes), budget=Nats(2.5, allow_exact=True), secret=Subsets(16)
    ).fit(frame, y)
    assert "released_estimator_" in vars(private)
    assert private.score(frame, y) > 0.8


@pytest.mark.parametrize("inside", [False, True])
def test_splines_over_the_ranges_of_a_schema_are_released(sizes, inside):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"width": rng.uniform(size=400), "colour": rng.choice(["red", "blue"], 400)}
    )
    y = np.sin(6 * frame.width) + (frame.colour == "red")
    parts = [("curve", SplineTransformer(), ["width"]), ("hot", OneHotEncoder(), ["colour"])]
    curve = ColumnTransformer(parts) if inside else SplineTransformer()
    schema = sizes.select(["width", "colour"])
    how = {"budget": 0.25, "schema": schema, "secret": Subsets(16)}
    private = PACPrivate(make_pipeline(curve, Ridge()), **how).fit(frame, y)
    assert private.score(frame, y) > 0.8
    assert private.guarantee_.released == ("ridge: coef_", "ridge: intercept_")


def test_the_table_of_a_data_package():
    schema = {"fields": [{"name": "age", "type": "integer"}]}
    package = {"name": "clinic", "resources": [{"name": "visits", "schema": schema}]}
    for document in (schema, package, package["resources"][0]):
        assert Schema.from_table_schema(document).names == ("age",)
    with pytest.raises(ValueError, match="resources"):
        Schema.from_table_schema({"resources": [*package["resources"]] * 2})


def test_bounds_between_dates_are_dates():
    schema = Schema([Column("start", "date", low="2020-01-01", high="2020-01-09", required=True)])
    for numbers, names in (
        ("thermometer", ["start>=2020-01-05"]),
        ("bins", ["start[..,2020-01-05)", "start[2020-01-05,..)"]),
    ):
        encoder = SchemaEncoder(schema, numbers=numbers, n_bins=2).fit([["2020-01-04"]])
        assert encoder.get_feature_names_out().tolist() == names
        reached = encoder.transform(np.array([["2020-01-04"], ["2020-01-05"]], dtype=object))
        assert reached[:, -1].tolist() == [0.0, 1.0]


def test_a_draft_knows_dates_that_a_file_wrote_as_texts() -> None:
    seen = [f"2021-{1 + i % 12:02}-15" for i in range(80)]
    table = pd.DataFrame({"seen": seen, "code": [f"{day}-x" for day in seen]})
    table.loc[3, "seen"] = None
    draft = Schema.template(table)
    assert draft["seen"].kind == "date"
    assert draft["seen"].bounds == Column("b", "date", low="2021-01-01", high="2022-01-01").bounds
    assert draft["seen"].looked_up == ("kind", "low", "high")
    assert draft["code"].kind == "category"


def test_several_words_for_yes_are_read_or_refused():
    usual = {"trueValues": ["true", "True", "1"], "falseValues": ["false", "False", "0"]}
    field = {"name": "smoker", "type": "boolean"}
    assert Schema.from_table_schema({"fields": [field | usual]})["smoker"].categories == (
        False,
        True,
    )
    with pytest.raises(ValueError, match="trueValues must be one value, got 2"):
        Schema.from_table_schema({"fields": [field | {"trueValues": ["yes", "y"]}]})


@pytest.mark.parametrize("columns", [None, 3])
def test_a_schema_is_made_of_columns(columns):
    with pytest.raises(TypeError, match="columns"):
        Schema(columns)


def test_a_draft_ignores_what_numbers_the_rows_by_value_and_name():
    table = {"Unnamed: 0": np.arange(90), "day": np.arange(90), "x": np.arange(90) / 7}
    draft = Schema.template(pytest.importorskip("pandas").DataFrame(table))
    assert [column.kind for column in draft] == ["ignored", "number", "number"]
    assert draft["Unnamed: 0"].looked_up == ("kind",)


@pytest.mark.parametrize(
    ("change", "meant"),
    [
        ({"tpye": "number"}, "type"),
        ({"constraint": {"minimum": 0}}, "constraints"),
        ({"truevalues": ["yes"]}, "trueValues"),
        ({"missing_values": [-9]}, "missingValues"),
        ({"pacsklern": {"looked_up": ["low"]}}, "pacsklearn"),
        ({"type": "number", "constraints": {"minmum": 0, "maximum": 9}}, "minimum"),
        ({"constraints": {"enums": ["a"]}}, "enum"),
    ],
)
def test_a_misspelt_word_of_a_codebook_is_not_passed_over(change, meant):
    with pytest.raises(ValueError, match=f"Field 'a'.*did you mean '{meant}'"):
        Schema.from_table_schema({"fields": [{"name": "a", **change}]})


def test_words_of_other_programs_in_a_codebook_are_passed_over():
    field = {"name": "a", "type": "integer", "names": ["x"], "category": "z", "unit": "kg", 5: 6}
    limits = {"constraints": {"enum": [1, 2], "unique": True, "maxLength": 3}}
    assert (
        Schema.from_table_schema({"fields": [field | limits], "feild": 1})["a"].kind == "category"
    )
    with pytest.raises(ValueError, match="did you mean 'fields'"):
        Schema.from_table_schema({"feilds": []})
    with pytest.raises(ValueError, match="in quotes"):
        Schema.from_table_schema({"fields": [{"name": 5}]})


def test_an_end_that_is_no_double_is_refused():
    with pytest.raises(ValueError, match="high must be a finite number"):
        Column("a", low=0, high=10**400)


@pytest.mark.parametrize(("months", "warned"), [(range(1, 13), True), (["01", "12"] * 6, False)])
def test_categories_that_no_number_is_read_as_are_named(months, warned, recwarn):
    """10, 11 and 12 were read, and 01 to 09 were none of the categories."""
    schema = Schema(
        [Column("month", "category", categories=tuple(f"{i:02d}" for i in range(1, 13)))]
    )
    SchemaEncoder(schema).check_table(pd.DataFrame({"month": months}))
    said = [
        str(each.message) for each in recwarn if "read as the category '01'" in str(each.message)
    ]
    assert len(said) == warned


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("twice.json", '{"fields": [{"name": "a", "type": "string", "type": "date"}]}'),
        ("twice.yaml", "fields: []\npacksage: x\nfields: []\n"),
        ("twice.yaml", "fields:\n- {name: a, constraints: {minimum: 0, minimum: 1}}\n"),
    ],
)
def test_what_a_codebook_says_twice_is_refused(tmp_path, name, text):
    """The last one was taken, and the first was passed over in silence."""
    if name.endswith("yaml"):
        pytest.importorskip("yaml", reason="PyYAML is not installed")
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"twice\..*: one object says '(type|fields|minimum)' twice"
    ):
        Schema.read(tmp_path / name)


def test_anchors_of_yaml_may_bring_words_that_are_said_again(tmp_path):
    pytest.importorskip("yaml", reason="PyYAML is not installed")
    text = """
    limits: &limits {minimum: 0, maximum: 9}
    fields: &all
    - {name: a, type: number, constraints: *limits}
    - {name: b, type: number, constraints: {<<: *limits, maximum: 5}, all: *all}
    """
    (tmp_path / "codebook.yaml").write_text(text, encoding="utf-8")
    schema = Schema.read(tmp_path / "codebook.yaml")
    assert schema["a"].bounds == (0, 9)
    assert schema["b"].bounds == (0, 5)


def test_a_codebook_that_begins_with_a_mark_of_its_encoding_is_read(tmp_path):
    text = json.dumps({"fields": [{"name": "naïve", "type": "string"}]}, ensure_ascii=False)
    (tmp_path / "codebook.json").write_text(text, encoding="utf-8-sig")
    assert Schema.read(tmp_path / "codebook.json").names == ("naïve",)
