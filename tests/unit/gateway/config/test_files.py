"""Which file is read, and what a file may not be."""

from pathlib import Path

import pytest

from gateway.config import ConfigError, load, load_config
from gateway.config.yaml_file import read_yaml

pytestmark = pytest.mark.req("OPS-2")


@pytest.fixture
def system_file(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "etc" / "config.yaml"
    path.parent.mkdir()
    monkeypatch.setattr(load, "SYSTEM_FILE", path)
    return path


def budget(folder: Path, *, path: Path | None = None, **environ: str) -> int:
    return load_config(path=path, environ=environ, sections={}, folder=folder).turns.budget


def write(path: Path, budget: int) -> Path:
    path.write_text(f"turns: {{budget: {budget}}}")
    return path


def test_the_named_file_comes_before_the_variable_the_folder_and_the_system(tmp_path, system_file):
    write(system_file, 1)
    assert budget(tmp_path) == 1
    write(tmp_path / "config.yaml", 2)
    assert budget(tmp_path) == 2
    by_variable = write(tmp_path / "variable.yaml", 3)
    assert budget(tmp_path, PARLEY_CONFIG=str(by_variable)) == 3
    by_option = write(tmp_path / "option.yaml", 4)
    assert budget(tmp_path, path=by_option, PARLEY_CONFIG=str(by_variable)) == 4


def test_a_named_file_that_does_not_exist_is_an_error_and_no_other_is_taken(tmp_path):
    write(tmp_path / "config.yaml", 2)
    missing = tmp_path / "missing.yaml"

    with pytest.raises(ConfigError) as caught:
        budget(tmp_path, path=missing)

    assert str(caught.value) == (
        f"{missing}: cannot be read (No such file or directory); check the path and its permissions"
    )


def test_a_folder_in_the_place_of_the_file_is_an_error(tmp_path):
    (tmp_path / "config.yaml").mkdir()

    with pytest.raises(ConfigError, match="cannot be read"):
        budget(tmp_path)


def test_a_file_that_is_not_utf8_is_an_error(tmp_path):
    (tmp_path / "config.yaml").write_bytes("web: {host: m\xfcller}".encode("latin-1"))

    with pytest.raises(ConfigError, match="is not UTF-8 text; save it as UTF-8"):
        budget(tmp_path)


@pytest.mark.parametrize("text", ["", "# only comments\n", "---\n", "\ufeff# with a byte order mark\n"])
def test_a_file_without_content_changes_nothing(load, text):
    assert load(text).turns.budget == 40


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("turns: {budget: 1", 1),
        ("turns:\n\tbudget: 1", 2),
        ("a: 'x", 1),
        ("turns: 1\n--- \nturns: 2", 2),
        ("a: \x01", 1),
    ],
)
def test_broken_yaml_is_one_problem_with_its_line(problems, text, line):
    (problem,) = problems(text)

    assert problem.startswith(f"config.yaml:{line}: no valid YAML") or "not allowed" in problem


def test_a_list_at_the_top_is_refused(problems):
    assert problems("- a\n") == [
        'config.yaml:1: the file does not hold sections; write "section:" lines as in config.yaml'
    ]


def test_a_key_given_twice_is_named_with_both_lines(problems):
    text = "turns:\n  budget: 5\n  timeout_s: 60\n  budget: 6\n"

    assert problems(text) == [
        "config.yaml:4: turns.budget is given twice, first in line 2; remove one of them"
    ]


def test_plain_values_are_what_they_look_like(tmp_path):
    path = tmp_path / "values.yaml"
    path.write_text("[14:00, no, 0123, 1_000, 2026-01-02, -100123, 0.5, true, ~, chat:-100, 1e3, '1', 0x1f]")

    found = read_yaml(path, {}.get)

    assert found.problems[0].what == "the file does not hold sections"
    path.write_text(f"a: {path.read_text()}")
    assert read_yaml(path, {}.get).layer.values == {
        "a": [
            "14:00",
            "no",
            123,
            "1_000",
            "2026-01-02",
            -100123,
            0.5,
            True,
            None,
            "chat:-100",
            1000.0,
            "1",
            "0x1f",
        ]
    }


def test_anchors_are_followed_and_one_that_contains_itself_is_refused(load, problems):
    assert load("tools:\n  read_only: &safe [a/b]\n  idempotent: *safe\n").tools.idempotent == ("a/b",)
    assert problems("tools: &t\n  read_only: *t\n") == [
        "config.yaml:1: tools.read_only contains itself; write the value out"
    ]


def test_a_tag_is_refused(problems):
    (problem,) = problems("database: !!python/name:os.system x\n")

    assert problem.startswith("config.yaml:1: database has the tag")


def test_variables_are_filled_in_from_environment_then_dotenv(load):
    text = "telegram: {token: 'a-${ONE}-${TWO}', api_base: 'http://$${ONE}'}"

    (account,) = load(text, dotenv="ONE=hidden\nTWO=2\n", ONE="1").accounts

    assert account.settings.token.get_secret_value() == "a-1-2"
    assert account.settings.api_base == "http://${ONE}"


@pytest.mark.req("ACC-4")
@pytest.mark.parametrize("environ", [{}, {"TG_TOKEN": ""}])
def test_a_variable_that_is_not_set_or_empty_is_an_error_with_its_place(problems, environ):
    # C151b: a secret variable that is not set
    assert problems("telegram:\n  token: ${TG_TOKEN}\n", **environ) == [
        (
            "config.yaml:2: telegram.token needs the variable TG_TOKEN, which is not set or empty; "
            "set TG_TOKEN in the environment or in .env"
        )
    ]


def test_a_dollar_brace_without_a_name_is_an_error(problems):
    assert problems("telegram: {token: '${TG-TOKEN}'}") == [
        "config.yaml:1: telegram.token has a ${ that names no variable; write ${NAME}, or $${ for the sign"
    ]
