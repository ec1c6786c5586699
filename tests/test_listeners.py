"""Which listener a name means."""

import pytest

from earwitness.errors import UserError
from earwitness.listeners import open_listener, trained_in


@pytest.mark.parametrize("name", ["google:x", "openai:x", "scripted:x", "yamnet"])
def test_a_folder_takes_no_name_of_another_listener(name, tmp_path, monkeypatch):
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert trained_in(name) is None
    assert trained_in(f"./{name}") == tmp_path.relative_to(tmp_path) / name
    assert str(trained_in(f"trained:{name}")) == name


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("yament", "yamnet"),
        ("scriptd:a.jsonl", "scripted"),
        ("gogle:gemini-2.5-pro", "google:gemini-2.5-pro"),
    ],
)
def test_an_unknown_name_gets_the_nearest(name, meant):
    with pytest.raises(UserError, match=rf"no listener '{name}'.*\n.*Did you mean '{meant}'\?"):
        open_listener(name)
