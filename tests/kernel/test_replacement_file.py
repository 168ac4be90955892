"""A file is there whole or not at all, for its owner only."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from pacsklearn.cli.publication import disk_room
from pacsklearn.kernel.ledger.replacement_file import replace_text, replacement_file
from pacsklearn.plots.page import Page
from pacsklearn.tabular.schema.schema import write_document


def test_the_file_appears_at_the_end_for_its_owner_only(tmp_path):
    target = tmp_path / "model"
    target.write_bytes(b"old and longer")
    with replacement_file(target) as file, disk_room(file, 4096, target):
        file.write(b"new")
        assert target.read_bytes() == b"old and longer"
        (made,) = (path for path in tmp_path.iterdir() if path != target)
        assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [target]


def _fail(file, error):
    file.write(b"half")
    raise error


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_fails_leaves_the_earlier_file(tmp_path, error):
    target = tmp_path / "model"
    target.write_bytes(b"old")
    with pytest.raises(error), replacement_file(target) as file:
        _fail(file, error)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_no_link_is_followed_that_somebody_has_put_there(tmp_path, monkeypatch):
    target, others = tmp_path / "model", tmp_path / "others"
    others.write_bytes(b"theirs")
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=0))
    with replacement_file(target):
        (made,) = tmp_path.glob(".model.*")
    made.symlink_to(others)
    with pytest.raises(FileExistsError), replacement_file(target):
        pytest.fail("the block ran")
    assert others.read_bytes() == b"theirs"


def test_a_full_disk_shows_before_the_block(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with (
        pytest.raises(OSError, match="room"),
        replacement_file(tmp_path / "m") as file,
        disk_room(file, 1, tmp_path / "m"),
    ):
        pytest.fail("the block ran")
    assert not list(tmp_path.iterdir())


def test_folders_and_devices_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", "/dev/null"):
        with pytest.raises(IsADirectoryError, match="folder"), replacement_file(place):
            pytest.fail("the block ran")
    assert not Path("/dev/null").is_file()


def test_what_dead_processes_of_this_host_left_is_removed(tmp_path):
    killed = (
        "import os, signal\n"
        "from pacsklearn.kernel.ledger.replacement_file import replacement_file\n"
        "with replacement_file('model'):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", killed], cwd=tmp_path, check=False)  # noqa: S603 - ours
    (left,) = tmp_path.iterdir()
    *_, host, process, number = left.name.split(".")
    elsewhere = tmp_path / f".model.not-{host}.{process}.{number}"
    elsewhere.touch()
    with replacement_file(tmp_path / "model"), replacement_file(tmp_path / "model"):
        assert len(list(tmp_path.iterdir())) == 3  # nothing of a process that is alive is removed
    assert {path.name for path in tmp_path.iterdir()} == {"model", elsewhere.name}


class _Told(Page):
    def to_dict(self):
        return {"new": True}

    def to_html(self):
        return "new"


@pytest.mark.parametrize(
    "write",
    [
        lambda place: replace_text(place, "new"),
        lambda place: _Told().save(place),
        lambda place: write_document(place, {"new": True}),
    ],
    ids=["text", "page", "codebook"],
)
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, write):
    """Half a page stood in its place, with --force too."""
    place = tmp_path / "page.json"
    place.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            write(place)
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]
    write(place)
    assert "new" in place.read_text()
    # Others may read it, as whatever this process writes.
    (tmp_path / "another").touch()
    assert place.stat().st_mode == (tmp_path / "another").stat().st_mode
