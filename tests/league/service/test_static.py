"""The files that `collectstatic` writes beside each file, and those that it keeps from an earlier run."""

from __future__ import annotations

import gzip
from pathlib import Path

import brotli
from django.core.files.storage import FileSystemStorage

from league.service.static_storage import FrugalCompressor, HashedStaticFiles

STYLE = b"body { margin: 0; padding: 0 }\n" * 100


def test_what_is_compressed_already_is_left_and_all_else_is_compressed(tmp_path: Path) -> None:
    names = ("left.css", "damaged.css", "older.css", "cut.css", "new.css")
    for name in names:
        (tmp_path / name).write_bytes(STYLE)
    quick = brotli.compress(STYLE, quality=1)
    (tmp_path / "left.css.br").write_bytes(quick)
    (tmp_path / "damaged.css.br").write_bytes(b"no brotli")
    (tmp_path / "damaged.css.gz").write_bytes(b"no gzip")
    (tmp_path / "older.css.br").write_bytes(brotli.compress(STYLE * 2))
    (tmp_path / "older.css.gz").write_bytes(gzip.compress(STYLE * 2))
    (tmp_path / "cut.css.gz").write_bytes(gzip.compress(STYLE)[:-9])

    for name in names:
        packer = FrugalCompressor(quiet=True)
        written = packer.compress(str(tmp_path / name))
        assert written == [str(tmp_path / f"{name}{ending}") for ending in (".br", ".gz")]
        assert brotli.decompress((tmp_path / f"{name}.br").read_bytes()) == STYLE
        assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()) == STYLE

    assert (tmp_path / "left.css.br").read_bytes() == quick
    assert (tmp_path / "new.css.br").read_bytes() == brotli.compress(STYLE) != quick


def test_a_second_name_of_a_content_gets_what_the_first_one_has(tmp_path: Path) -> None:
    for name in ("a.css", "a.0123456789ab.css", "tiny.css"):
        (tmp_path / name).write_bytes(STYLE if name.startswith("a") else b"a{}")
    (tmp_path / "a.css.br").write_bytes(brotli.compress(STYLE, quality=1))
    packer = FrugalCompressor(quiet=True)

    packer.compress(str(tmp_path / "a.css"))
    packer.compress(str(tmp_path / "a.0123456789ab.css"))

    assert (tmp_path / "a.0123456789ab.css.br").read_bytes() == brotli.compress(STYLE, quality=1)
    assert packer.compress(str(tmp_path / "tiny.css")) == []  # it would be longer


def test_what_a_script_imports_is_asked_for_by_the_name_under_which_it_is_compressed(tmp_path: Path) -> None:
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "large.js").write_text("export const one = 1;\n" * 50)
    (tmp_path / "page.js").write_text(
        'import {\n  one,\n} from "./vendor/large.js";\nimport { two } from "./two.js";\n'
    )
    (tmp_path / "two.js").write_text("export const two = 2;\n")
    storage = HashedStaticFiles(location=tmp_path, base_url="/static/")
    paths = {name: (FileSystemStorage(tmp_path), name) for name in ("page.js", "two.js", "vendor/large.js")}

    list(storage.post_process(paths))

    text = (tmp_path / storage.hashed_files["page.js"]).read_text()
    for name in ("vendor/large.js", "two.js"):
        assert f'"./{storage.hashed_files[name]}"' in text
        assert name not in text
    assert (tmp_path / f"{storage.hashed_files['vendor/large.js']}.br").exists()
