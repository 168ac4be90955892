from __future__ import annotations

import dataclasses
import io
from http.client import IncompleteRead
from urllib.error import URLError

import pytest

from pacsklearn.datasets import download
from pacsklearn.datasets.cleveland import CLEVELAND
from pacsklearn.datasets.download import locate
from pacsklearn.datasets.storage import read_table

LINE = "63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,0.0,6.0,0"
ADVICE = r"by hand and put 'heart\+disease\.zip' into .*PACSKLEARN_DATA"


@pytest.fixture
def dataset():
    return dataclasses.replace(CLEVELAND, n_rows=2)


@pytest.fixture
def original(zipped):
    return zipped({"processed.cleveland.data": f"{LINE}\n{LINE}\n"})


@pytest.fixture
def serve(monkeypatch):
    requests = []

    def start(answer):
        def urlopen(request, timeout):
            requests.append(request.full_url)
            if isinstance(answer, Exception):
                raise answer
            return io.BytesIO(answer)

        monkeypatch.setattr(download, "urlopen", urlopen)
        return requests

    return start


def test_download_is_converted_and_kept(tmp_path, dataset, original, serve):
    requests = serve(original)
    path = locate(dataset, tmp_path / "cache", download=True)
    assert path == tmp_path / "cache" / "cleveland_heart.csv"
    assert read_table(path, dataset.columns) == [LINE.split(",")] * 2
    assert locate(dataset, tmp_path / "cache", download=True) == path
    assert requests == ["https://archive.ics.uci.edu/static/public/45/heart+disease.zip"]


def test_download_goes_to_the_home_folder_by_default(private_home, dataset, original, serve):
    serve(original)
    path = locate(dataset, None, download=True)
    assert path == private_home / "pacsklearn_data" / "cleveland_heart.csv"


def test_environment_variable_is_looked_at(tmp_path, monkeypatch, dataset):
    monkeypatch.setenv("PACSKLEARN_DATA", str(tmp_path))
    (tmp_path / "cleveland_heart.csv").touch()
    assert locate(dataset, None, download=False) == tmp_path / "cleveland_heart.csv"


def test_an_original_put_in_place_by_hand_needs_no_network(tmp_path, dataset, original):
    (tmp_path / "heart+disease.zip").write_bytes(original)
    path = locate(dataset, tmp_path, download=False)
    assert len(read_table(path, dataset.columns)) == 2


def test_missing_without_download(tmp_path, dataset):
    with pytest.raises(FileNotFoundError, match=ADVICE) as info:
        locate(dataset, tmp_path, download=False)
    assert "load_cleveland found none of 'cleveland_heart.csv'" in str(info.value)
    assert str(tmp_path) in str(info.value)
    assert dataset.url in str(info.value)


@pytest.mark.parametrize(
    "error", [URLError("no route"), TimeoutError("timed out"), IncompleteRead(b"")]
)
def test_network_failure(tmp_path, dataset, serve, error):
    serve(error)
    with pytest.raises(OSError, match=ADVICE) as info:
        locate(dataset, tmp_path, download=True)
    assert dataset.url in str(info.value)
    assert not (tmp_path / "cleveland_heart.csv").exists()


def test_wrong_number_of_rows_is_not_kept(tmp_path, original, serve):
    serve(original)
    with pytest.raises(OSError, match="expected"):
        locate(CLEVELAND, tmp_path, download=True)
    assert not (tmp_path / "cleveland_heart.csv").exists()


def test_cut_off_rows_are_not_kept(tmp_path, dataset, zipped, serve):
    serve(zipped({"processed.cleveland.data": f"{LINE}\n63.0,1.0\n"}))
    with pytest.raises(OSError, match="expected"):
        locate(dataset, tmp_path, download=True)


def test_a_web_page_instead_of_the_archive(tmp_path, dataset, serve):
    serve(b"<html>sign in</html>")
    with pytest.raises(OSError, match="readable"):
        locate(dataset, tmp_path, download=True)


def test_too_large_an_answer(tmp_path, dataset, serve, monkeypatch):
    monkeypatch.setattr(download, "MAX_ARCHIVE_BYTES", 5)
    serve(b"123456")
    with pytest.raises(OSError, match="bytes"):
        locate(dataset, tmp_path, download=True)


def test_unwritable_folder(tmp_path, dataset, original, serve):
    serve(original)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="data_home"):
        locate(dataset, tmp_path / "file", download=True)


def test_only_https(tmp_path, dataset):
    insecure = dataclasses.replace(dataset, url="http://example.org/a.zip")
    with pytest.raises(ValueError, match="https"):
        locate(insecure, tmp_path, download=True)
