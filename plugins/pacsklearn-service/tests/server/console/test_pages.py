"""The console through the application: what it shows, to whom, and what it never shows."""

from __future__ import annotations

import asyncio
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from pacsklearn_service.server.recipe import Recipe
from pacsklearn_service.server.web.worker import curator_app
from service_house.house import STEP, House, contested_rows
from service_house.local_link import LocalLink

from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

PAGES = ["/console", "/console/datasets/clinic", "/console/models/risk", "/console/keys",
         "/console/audit"]  # fmt: skip
VOID = {"meta", "link", "input", "rect", "line", "path"}


class Reader(HTMLParser):
    """Elements of a page with their attributes; fails on tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


class Browser:
    """Keeps cookies, as a browser does."""

    def __init__(self, house: House) -> None:
        self._house, self.cookies = house, httpx.Cookies()

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def run() -> httpx.Response:
            transport = httpx.ASGITransport(self._house.app(curator_app))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://test", cookies=self.cookies
            ) as client:
                told = await client.request(method, path, **options)
                self.cookies = client.cookies
                return told

        return asyncio.run(run())

    def sign_in(self, key: str, **headers: str) -> httpx.Response:
        return self.ask("POST", "/console/sign-in", data={"key": key}, headers=headers)


@pytest.fixture
def browser(house: House) -> Browser:
    found = Browser(house)
    assert found.sign_in(house.key("curator", "curate")).status_code == 303
    return found


def csv(rows: Any) -> bytes:
    lines = ["x0,x1,x2,x3", *(",".join(map(repr, row)) for row in rows.tolist())]
    return "\n".join(lines).encode()


@pytest.mark.parametrize("path", PAGES)
def test_nobody_sees_a_page_without_a_curators_key(house: House, path: str) -> None:
    nobody = Browser(house)
    told = nobody.ask("GET", path)
    assert (told.status_code, told.headers["location"]) == (303, "/console/sign-in")
    assert nobody.sign_in(house.key("ann")).status_code == 403
    assert nobody.sign_in("pac_nobody_nothing").status_code == 401
    assert not nobody.cookies
    nobody.cookies.set("pacsklearn_console", house.key("ann"))
    told = nobody.ask("GET", path)
    assert told.status_code == 403
    assert "clinic" not in told.text


@pytest.mark.parametrize("path", ["/console/sign-in", *PAGES])
def test_pages_load_nothing_but_their_style(browser: Browser, path: str) -> None:
    told = browser.ask("GET", path)
    assert told.status_code == 200
    policy = told.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "script" not in policy
    assert told.headers["cache-control"] == "no-store"
    page = Reader(told.text)
    assert not {"script", "style", "iframe", "img", "object"} & {tag for tag, _ in page.found}
    assert [each["href"] for each in page.all("link")] == ["/console/style.css"]
    for _, attributes in page.found:
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
        assert not str(attributes.get("href", "/")).startswith(("http", "//"))


def test_the_style_loads_nothing(house: House) -> None:
    style = Browser(house).ask("GET", "/console/style.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "prefers-color-scheme: dark" in style.text
    assert "url(" not in style.text
    assert "@import" not in style.text


@pytest.mark.parametrize("path", ["/console/sign-in", *PAGES])
def test_pages_are_for_keyboards_and_screen_readers(browser: Browser, path: str) -> None:
    page = Reader(browser.ask("GET", path).text)
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("h1")) == len(page.all("main")) == 1
    first = page.all("a")[0]
    assert first["href"] == "#content"
    ids = [str(attributes["id"]) for _, attributes in page.found if "id" in attributes]
    assert "content" in ids
    assert len(ids) == len(set(ids))
    labelled = {each["for"] for each in page.all("label")}
    for field in page.all("input") + page.all("select"):
        assert field["id"] in labelled
    assert all("scope" in each for each in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    for picture in page.all("svg"):
        assert picture["role"] == "img"
        assert picture.get("aria-label") or picture.get("aria-labelledby")
    for named in (each["aria-labelledby"] for each in page.all("svg") if "aria-labelledby" in each):
        assert set(str(named).split()) <= set(ids)


def test_the_figures_are_those_of_the_ledger(house: House, browser: Browser) -> None:
    caller = house.user("zoe", quota=0.25)
    house.ask(caller, contested_rows(7, seed=21))
    text = browser.ask("GET", "/console/datasets/clinic").text
    facts = house.coordinator.catalog.datasets("clinic")[0]
    assert f"{facts['remaining']:.4g} of 4 nats remain" in text
    assert f">{round((0.6875 - facts['spent']) / STEP):,}" in text
    row = text.partition('<th scope="row">zoe</th>')[2].partition("</tr>")[0]
    assert f"{7 * STEP:,.4g}" in row
    assert f"{0.25 - 7 * STEP:,.4g}" in row
    burnt = burn_down(house, 200)["points"]
    charges = [event.charge for event in house.coordinator.catalog.ledger("clinic").events]
    assert [left for _, left in burnt] == pytest.approx(
        [4.0 - sum(charges[:k]) for k in range(len(charges) + 1)]
    )
    thinned = burn_down(house, 1)
    assert [tuple(each) for each in thinned["points"]] == [
        (0, 4.0), (len(charges), facts["remaining"])
    ]  # fmt: skip


def test_a_long_ledger_is_read_once_and_by_parts(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, told = burn_down(house, 200)["points"], []
    charges = SharedLedger.charges

    def noted(ledger: SharedLedger, *given: Any) -> Any:
        told.append(charges(ledger, *given))
        return told[-1]

    monkeypatch.setattr(SharedLedger, "charges", noted)
    house.ask(house.user("lou"), contested_rows(1, seed=23))
    after = burn_down(house, 200)["points"]
    assert [len(events) for events in told] == [1]
    assert [left for _, left in after[:-1]] == [left for _, left in before]
    assert burn_down(house, 200)["points"] == after
    found, row = [], 0
    while events := curator_asks(house, "ledger", after=row, limit=2)["events"]:
        assert len(events) <= 2
        found += [each["charge"] for each in events]
        row = events[-1]["row"]
    ledger = house.coordinator.catalog.ledger("clinic")
    assert found == [event.charge for event in ledger.events]


def test_the_price_of_a_file_before_paying(house: House, browser: Browser) -> None:
    rows = contested_rows(9, seed=22)
    house.ask(house.user("kim"), rows[:4])
    before = house.spent
    path = "/console/models/risk"

    def show(user: str, content: bytes) -> httpx.Response:
        files = {"rows": ("rows.csv", content, "text/csv")}
        return browser.ask("POST", path, data={"user": user}, files=files)

    kim = show("kim", csv(rows)).text
    assert f"At most {5 * STEP:.4g} nats for kim" in kim
    assert "9 rows, of which 4 were asked before" in " ".join(kim.split())
    house.user("lee", quota=8 * STEP)
    lee = show("lee", csv(rows)).text
    assert f"At most {9 * STEP:.4g} nats for lee" in lee
    assert "may pass the user&#39;s quota" in lee or "may pass the user's quota" in lee
    assert house.spent == before
    for text in (kim, lee):
        assert not [value for value in rows.ravel().tolist() if repr(value) in text]
    wrong = show("kim", b"a,b\n0.1234567,2\n")
    assert wrong.status_code == 422
    assert "0.1234567" not in wrong.text
    assert browser.ask("POST", path, content=b"x").status_code == 400


def test_a_page_without_a_version_is_that_of_the_first(house: House, browser: Browser) -> None:
    recipe = {"name": "risk", "version": 2, "dataset": "clinic", "estimator": "GaussianNB",
              "budget": 0.5, "secret": {"n": 16},
              "release": {"query_budget": 2 * STEP}}  # fmt: skip
    house.coordinator.catalog.fit(Recipe(**recipe), lambda _: None)
    publish = "/v1/models/risk@2/publish?overcommit=true"
    assert house.call("POST", publish, user="curator").is_success
    files = {"rows": ("rows.csv", csv(contested_rows(3, seed=23)), "text/csv")}
    house.user("may")
    for name, step in (("risk", STEP), ("risk@2", 2 * STEP)):
        page = browser.ask("POST", f"/console/models/{name}", data={"user": "may"}, files=files)
        assert f"At most {3 * step:.4g} nats for may" in page.text
        told = house.call("GET", f"/v1/models/{name}/guarantee", user="curator").json()
        assert told["budget"] == (0.5 if "@" in name else 0.6875)
    assert house.call("POST", "/v1/models/risk@2/withdraw", user="curator").is_success


def test_nothing_secret_is_shown(house: House, browser: Browser) -> None:
    own = browser.cookies["pacsklearn_console"]
    keys = [house.key("curator", "curate"), house.key("ann"), own]
    values = [repr(float(value)) for value in house.X[:20].ravel()]
    for path in PAGES:
        text = browser.ask("GET", path).text
        assert not [key for key in keys if key in text or key.split("_", 2)[2] in text]
        assert not [value for value in values if value in text]


def test_signing_in_gives_a_short_key_and_signing_out_revokes_it(house: House) -> None:
    browser = Browser(house)
    given = house.key("curator", "curate")
    told = browser.sign_in(given)
    cookie = told.headers["set-cookie"]
    assert given not in cookie
    for word in ("HttpOnly", "SameSite=strict", "Path=/console", "Max-Age=28800"):
        assert word in cookie
    short = browser.cookies["pacsklearn_console"]
    name = short.split("_")[1]
    assert name in browser.ask("GET", "/console/keys").text
    assert browser.ask("POST", "/console/sign-out").status_code == 303
    assert house.coordinator.callers.find(short) is None
    browser.cookies.set("pacsklearn_console", short)
    assert browser.ask("GET", "/console").status_code == 303


@pytest.mark.parametrize(
    ("trust", "scheme", "is_secure"),
    [(True, None, True), (True, "https", True), (True, "http", False), (False, "https", False)],
)
def test_the_browsers_key_stays_within_tls(
    house: House, monkeypatch: pytest.MonkeyPatch, trust: bool, scheme: str | None, is_secure: bool
) -> None:
    trusting = house.settings.model_copy(update={"trust_proxy": trust})
    app = curator_app(LocalLink(house.operations), trusting)
    monkeypatch.setattr(house, "app", lambda _: app)
    headers = {"x-forwarded-proto": scheme} if scheme else {}
    given = Browser(house).sign_in(house.key("curator", "curate"), **headers)
    assert ("Secure" in given.headers["set-cookie"]) == is_secure


def test_forms_of_other_sites_are_refused(house: House, browser: Browser) -> None:
    other = {"sec-fetch-site": "cross-site"}
    assert browser.ask("POST", "/console/sign-out", headers=other).status_code == 403
    assert browser.ask("POST", "/console/models/risk", headers=other).status_code == 403
    assert browser.sign_in(house.key("curator", "curate"), **other).status_code == 403
    assert browser.ask("GET", "/console").status_code == 200


def test_names_cannot_carry_markup(browser: Browser) -> None:
    told = browser.ask("GET", "/console/datasets/%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    assert told.status_code == 404
    assert "<script" not in told.text
    wrong = browser.sign_in("<script>alert(1)</script>")
    assert "<script" not in wrong.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/console/nowhere", 404), ("GET", "/console/", 404),
     ("GET", "/console/audit?after=x", 422), ("GET", "/console/sign-out", 405),
     ("POST", "/console/models/risk", 400), ("GET", "/console/models/none", 404)],
)  # fmt: skip
def test_every_refusal_is_a_page(browser: Browser, method: str, path: str, status: int) -> None:
    told = browser.ask(method, path, content=b"x" if method == "POST" else None)
    assert (told.status_code, told.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert '<a href="/console">' in told.text
    assert browser.ask(method, "/v1/nowhere").headers["content-type"].endswith("json")


def test_text_that_runs_from_right_to_left_turns_nothing_else_around(
    house: House, browser: Browser
) -> None:
    target = "\u202eabc"
    columns = {"a": house.X[:, 0], target: house.y}
    house.coordinator.catalog.add_dataset("turned", columns, target, 1.0)
    assert f"target <bdi>{target}</bdi>, since" in browser.ask("GET", "/console").text
    assert house.call("DELETE", "/v1/datasets/turned", user="curator").is_success


def test_the_audit_log_shows_names_as_they_are_written(house: House, browser: Browser) -> None:
    refused = house.call("POST", "/v1/users", user="curator", json={"name": "\u202eevil"})
    assert refused.status_code == 422
    text = browser.ask("GET", "/console/audit").text
    assert "<td>\\u202eevil</td>" in text
    assert "\u202e" not in text


def test_a_model_that_another_coordinator_leads_raises_no_alarm(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(house.coordinator), "answering", lambda _: [])
    assert "does not answer" in browser.ask("GET", "/console/datasets/clinic").text
    monkeypatch.setattr(type(house.coordinator.database), "led", {})
    text = browser.ask("GET", "/console/datasets/clinic").text
    assert "does not answer" not in text
    assert "another coordinator" in text


def burn_down(house: House, most: int) -> Any:
    return curator_asks(house, "burn_down", most=most)


def curator_asks(house: House, operation: str, **facts: Any) -> Any:
    key = house.key("curator", "curate")
    return house.operations(operation)(key, {"dataset": "clinic", **facts}, b"")
