"""The command carillon-worker: runs the executor that a module has."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from .errors import ConfigurationError
from .executor import Executor


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="carillon-worker", description="Run the executor of a Python module.")
    parser.add_argument("app", help="MODULE:NAME of an Executor, such as reports:app")
    args = parser.parse_args(argv)
    module, _, name = args.app.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        app = getattr(importlib.import_module(module), name or "app")
    except (ImportError, AttributeError, ConfigurationError) as e:
        print(f"carillon-worker: {args.app}: {e}", file=sys.stderr)
        return 2
    if not isinstance(app, Executor):
        print(f"carillon-worker: {args.app} is a {type(app).__name__}; it must be a carillon.Executor", file=sys.stderr)
        return 2
    app.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
