"""Pictures of the web app for the documentation, light and dark: docs/screens/*.png.

python tools/make_screenshots.py

It needs Chromium, and runs the sample that comes with nearly on a server of its own.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import Visit, launched, served  # noqa: E402
from playwright.sync_api import Page  # noqa: E402

TARGET = ROOT / "docs" / "screens"
#: Of a picture, which is looked at and not measured.
COLOURS = 48
SCREENS = {
    "start": "/",
    "settings": "/run/sample-1/settings",
    "run": "/run/sample-1",
    "overview": "/r/sample-1/overview",
    "pairs": "/r/sample-1/pairs",
    "pair": "/r/sample-1/pair/2",
    "clusters": "/r/sample-1/clusters",
    "cluster": "/r/sample-1/cluster/1",
    "tuner": "/r/sample-1/tuner?bands=20&rows=5",
    "learn": "/learn?step=9#signatures",
    "clean": "/r/sample-1/clean",
    "label": "/r/sample-1/label?size=5",
    "compare": "/r/sample-1/compare?with=sample-2",
    "programs": "/api",
}


def run_sample(visit: Visit, threshold: str) -> None:
    """As a user would; its result stays for all pictures."""
    page = visit.go("/")
    page.get_by_role("button", name="Try it with a sample").click()
    page.get_by_label("least similarity").fill(threshold)
    page.get_by_role("button", name="Find", exact=True).click()
    page.wait_for_url("**/overview")


def keep(page: Page, name: str) -> None:
    """One picture, in few colours."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS).save(TARGET / f"{name}.png", optimize=True)


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="nearly-screens-") as folder,
        launched() as browser,
        served(Path(folder)) as address,
    ):
        for scheme in ("light", "dark"):
            visit = Visit(browser, address, scheme=scheme)
            if scheme == "light":
                run_sample(visit, "0.3")
                run_sample(visit, "0.6")
            for name, path in SCREENS.items():
                # A pair has its texts below its numbers.
                height = 1_000 if name == "pair" else 720
                visit.page.set_viewport_size({"width": 1000, "height": height})
                page = visit.go(path)
                if name == "cluster":
                    page.locator("#heat").hover(position={"x": 40, "y": 10})
                page.wait_for_timeout(200)
                keep(page, f"{name}-{scheme}")
            visit.end()


if __name__ == "__main__":
    main()
