import importlib.util
from pathlib import Path

from carillon.testing import run_handler

FOLDER = Path(__file__).parents[1]


def test_the_readme_has_the_example_which_works():
    text = (FOLDER / "examples" / "reports.py").read_text()
    assert text.partition("\n\n")[2] in (FOLDER / "README.md").read_text()
    spec = importlib.util.spec_from_file_location("reports", FOLDER / "examples" / "reports.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    end = run_handler(module.app, "report", {"region": "north", "rows": 3})
    assert end.status == "succeeded" and end.result == {"written": 3} and end.logged("begun north")
    assert run_handler(module.app, "report", {"region": "mars"}).final
