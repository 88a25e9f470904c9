"""How busy the machine is, whoever uses it."""

from __future__ import annotations

import os
import re
from typing import Any

MEMORY = "/proc/meminfo"


def load() -> dict[str, Any]:
    """What heartbeats say of the machine, as far as its operating system tells. It takes microseconds."""
    about: dict[str, Any] = {"cpus": os.cpu_count() or 0, "load1": 0.0}
    try:
        about["load1"] = round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):  # Windows has none
        pass
    total, free = _memory()
    if total:
        about |= {"memory_bytes": total, "memory_used_bytes": max(total - free, 0)}
    return about


def _memory() -> tuple[int, int]:
    """How many bytes of memory there are, and how many of them programs may have yet; 0 if nobody knows."""
    try:
        with open(MEMORY, encoding="ascii") as f:
            sizes = {name: int(kib) << 10 for name, kib in re.findall(r"^(\w+): +(\d+) kB$", f.read(), re.MULTILINE)}
        return sizes["MemTotal"], sizes["MemAvailable"]
    except (OSError, LookupError, ValueError):
        return 0, 0
