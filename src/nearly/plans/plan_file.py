"""A plan as a JSON file: saved whole, and loaded only when it is exactly a plan."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.plans.file import open_folder
from nearly.plans.parser import FlawError, parse_plan
from nearly.plans.plan import PLAN_VERSION, Plan

__all__ = ["load_plan", "plan_as_json", "save_plan"]


def save_plan(plan: Plan, path: Path, *, force: bool = False) -> None:
    """Write the plan as JSON."""
    from nearly.sinks import Outputs  # late: applying a plan needs nothing so heavy

    with Outputs(force=force) as outputs, outputs.open(path) as file:
        file.write(plan_as_json(plan))


def plan_as_json(plan: Plan) -> bytes:
    """What a plan's file holds. Names that are no text keep their bytes, as lone surrogates."""
    plain = {"version": PLAN_VERSION, **asdict(plan)}
    text = json.dumps(plain, ensure_ascii=True, allow_nan=False, indent=2)
    return text.encode() + b"\n"


def load_plan(path: Path) -> Plan:
    """Read a plan; what is not exactly a plan, or reaches out of its folder, is refused."""
    try:
        plain = json.loads(path.read_bytes())
        plan = parse_plan(plain)
        _check_inside(plan)
    except FileNotFoundError:
        raise MissingError(f"there is no plan {str(path)!r}; make one with nearly dedup") from None
    except OSError as error:
        raise UnreadableError(f"the plan {str(path)!r} cannot be read: {error.strerror}") from error
    except (FlawError, ValueError, RecursionError) as error:
        raise SourceError(
            f"{str(path)!r} is not a plan that can be applied: {error}. "
            "Make the plan again with nearly dedup."
        ) from error
    return plan


def _check_inside(plan: Plan) -> None:
    """Symbolic links must not lead out of the folder."""
    with open_folder(plan.folder):
        folder = os.path.realpath(plan.folder).rstrip("/") + "/"
    for path in {p for removal in plan.removals for p in (removal.path, removal.survivor)}:
        if not os.path.realpath(folder + path).startswith(folder):
            raise FlawError(f"{path!r} leaves the folder through a symbolic link")
