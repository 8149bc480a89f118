"""The memory that control groups allow, read from trees of files as Linux shows them."""

from pathlib import Path

import pytest

from nearly.control_group import memory_limits

#: Where version 2 is mounted, and version 1 beside it.
UNIFIED = "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
MEMORY = "36 25 0:30 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory"
OTHERS = (
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "35 25 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "40 25 0:33 / /run/user rw - tmpfs tmpfs rw,size=1k"
)


def tree(root: Path, groups: str, mounts: str, limits: dict[str, str]) -> list[int]:
    """What is read of a machine that shows these files."""
    files = {"proc/self/cgroup": groups, "proc/self/mountinfo": f"{OTHERS}\n{mounts}\n", **limits}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return memory_limits(root)


def test_every_group_around_this_one_counts(tmp_path: Path) -> None:
    limits = {
        "sys/fs/cgroup/user.slice/memory.max": "300\n",
        "sys/fs/cgroup/user.slice/app.slice/memory.max": "max\n",
        "sys/fs/cgroup/user.slice/app.slice/run.scope/memory.max": "700\n",
        "sys/fs/cgroup/other.slice/memory.max": "1\n",
    }
    assert tree(tmp_path, "0::/user.slice/app.slice/run.scope\n", UNIFIED, limits) == [700, 300]


def test_version_1_has_a_tree_for_memory(tmp_path: Path) -> None:
    groups = "5:cpu,cpuacct:/busy\n4:memory:/jobs/one\n0::/\n"
    limits = {
        "sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/jobs/memory.limit_in_bytes": "500\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/busy/memory.limit_in_bytes": "1\n",
    }
    assert min(tree(tmp_path, groups, MEMORY, limits)) == 500


def test_both_versions_side_by_side(tmp_path: Path) -> None:
    unified = UNIFIED.replace("/sys/fs/cgroup ", "/sys/fs/cgroup/unified ")
    limits = {
        "sys/fs/cgroup/memory/jobs/memory.limit_in_bytes": "500\n",
        "sys/fs/cgroup/unified/jobs/memory.max": "400\n",
    }
    groups = "4:memory:/jobs\n0::/jobs\n"
    assert sorted(tree(tmp_path, groups, f"{MEMORY}\n{unified}", limits)) == [400, 500]


@pytest.mark.parametrize(
    ("groups", "mount"),
    [
        ("4:memory:/docker/abc\n", MEMORY.replace(" / ", " /docker/abc ", 1)),  # sees its own only
        ("4:memory:/\n", MEMORY),  # in a namespace of its own
        ("4:memory:/docker/abc/inner\n", MEMORY.replace(" / ", " /docker/abc ", 1)),
        ("4:memory:/../elsewhere\n", MEMORY),  # moved out of its namespace
        ("4:memory:/kubepods/one\n", MEMORY.replace(" / ", " /docker/abc ", 1)),
    ],
)
def test_a_container_sees_a_part_of_the_tree(tmp_path: Path, groups: str, mount: str) -> None:
    limits = {"sys/fs/cgroup/memory/memory.limit_in_bytes": "600\n"}
    assert tree(tmp_path, groups, mount, limits) == [600]


def test_where_nothing_is_told_nothing_is_limited(tmp_path: Path) -> None:
    assert memory_limits(tmp_path) == []
    assert tree(tmp_path, "0::/a/b\n", UNIFIED, {}) == []
