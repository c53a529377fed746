import json

import pytest

from sentinel_trainer.doctor import NEEDED, version_of


def test_a_package_that_is_missing_is_installed_anew():
    assert version_of("no-package-has-this-name") == {
        "name": "no-package-has-this-name", "ok": False, "found": None, "remedy": "sentinel trainer install --again",
    }


@pytest.mark.parametrize("content", ["", "hi", "Buy milk, and ask Ada about the banner.\n" * 9])
def test_what_is_no_model_is_a_row_beside_those_of_the_packages(trainers, tmp_path, content):
    (tmp_path / "notes.txt").write_text(content)
    rows = rows_of(trainers.run("doctor", "--base", tmp_path / "notes.txt"))
    assert rows["tokenizer"]["ok"] is False and rows["tokenizer"]["remedy"] == "name another model"
    assert "notes.txt is not a GGUF file" in rows["tokenizer"]["found"]


def test_an_architecture_that_cannot_be_loaded_is_a_row_too(trainers, tmp_path):
    from gguf import GGUFWriter

    writer = GGUFWriter(tmp_path / "other.gguf", "mpt")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    rows = rows_of(trainers.run("doctor", "--base", tmp_path / "other.gguf"))
    assert rows["tokenizer"]["ok"] is False and rows["tokenizer"]["remedy"] == "name another model"


def test_a_model_that_is_well_is_a_row_that_is_well(trainers, tiny):
    ended = trainers.run("doctor", "--base", tiny)
    assert ended.code == 0 and all(check["ok"] for check in ended.only("doctor")["checks"]), ended.lines


def rows_of(ended):
    said = ended.only("doctor")
    assert (ended.code, said["ok"]) == (1, False)
    rows = {check["name"]: check for check in said["checks"]}
    assert all(rows[name]["ok"] for name in (*NEEDED, "accelerator")), json.dumps(said)
    return rows
