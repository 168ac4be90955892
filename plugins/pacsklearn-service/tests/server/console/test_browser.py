"""The console in a real Chromium, by keyboard; ``PACSKLEARN_SCREENSHOTS`` may name a folder."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from pacsklearn_service.server.web.worker import curator_app
from service_house.house import STEP, House, contested_rows
from service_house.live import own_port
from service_house.local_link import LocalLink

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def url(house: House) -> Iterator[str]:
    own = own_port()
    app = curator_app(LocalLink(house.operations), house.settings)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, args=([own],), daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{own.getsockname()[1]}/console"
    server.should_exit = True
    thread.join(30)


@pytest.mark.soak
def test_a_curator_at_the_keyboard(house: House, url: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get("PACSKLEARN_SCREENSHOTS", tmp_path))
    rows = tmp_path / "rows.csv"
    rows.write_text("x0,x1,x2,x3\n0.01,0.02,-0.01,0.003\n0.02,0.02,-0.01,0.003\n")
    for i, n_rows in enumerate((30, 80, 45, 10)):
        house.ask(house.user("ann"), contested_rows(n_rows, seed=30 + i))
    key = house.key("curator", "curate")
    with playwright.sync_playwright() as drivers:
        browser = drivers.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        grounds = [_visit(browser, scheme, url, key, rows, folder) for scheme in ("light", "dark")]
        browser.close()
    assert grounds[0] != grounds[1]


def _visit(browser: Any, scheme: str, url: str, key: str, rows: Path, folder: Path) -> str:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1000, "height": 700})
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type(key)
    page.keyboard.press("Enter")
    page.wait_for_url(url)
    # What no script could read, a script of this page cannot read either.
    assert page.evaluate("document.cookie") == ""
    page.screenshot(path=folder / f"console-home-{scheme}.png")
    page.get_by_role("link", name="clinic").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/datasets/clinic")
    assert page.get_by_role("img", name="Budget left after every entry").is_visible()
    assert page.get_by_role("rowheader", name="ann").is_visible()
    page.screenshot(path=folder / f"console-dataset-{scheme}.png", full_page=True)
    ground: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.goto(f"{url}/models/risk")
    page.get_by_label("CSV file").set_input_files(rows)
    page.get_by_label("Who would ask").select_option("ann")
    page.get_by_role("button", name="Show the price").press("Enter")
    assert f"At most {2 * STEP:.4g} nats for ann" in page.get_by_role("status").inner_text()
    page.screenshot(path=folder / f"console-price-{scheme}.png")
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(f"{url}/datasets/clinic")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Sign out").press("Enter")
    page.wait_for_url(f"{url}/sign-in")
    assert complaints == []  # the policy blocked nothing, so nothing needed it
    assert {each for each in asked if not each.startswith(url)} == set()
    context.close()
    return ground
