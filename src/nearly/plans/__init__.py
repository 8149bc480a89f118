"""Plans: which files of a folder are to be removed, written down first and carried out later.

    choose_files  what was found → what can be planned: files, not symbolic links
    make_plan     the files to remove → a Plan of Removals, with the hashes of what was compared
    save_plan     a plan → JSON; load_plan reads it back, and refuses what is no plan
    check_plan    what would be done now, as Decisions; apply_plan does it

Time passes between a plan and its application, and anything may have changed, so every
file is hashed again right before it is touched. A file is removed only while its survivor
stands beside it with the bytes it had; what changed is refused. Both are locked meanwhile,
and so is the folder: no two plans are carried out there at once. Nothing outside the plan's
folder is reached: paths are walked from the folder, one part at a time, through no
symbolic link.
"""

from nearly.plans.draft import make_plan
from nearly.plans.link import Chosen, choose_files
from nearly.plans.plan import Plan, Removal
from nearly.plans.plan_file import load_plan, plan_as_json, save_plan
from nearly.plans.removal import Decision, apply_plan, check_plan

__all__ = [
    "Chosen",
    "Decision",
    "Plan",
    "Removal",
    "apply_plan",
    "check_plan",
    "choose_files",
    "load_plan",
    "make_plan",
    "plan_as_json",
    "save_plan",
]
