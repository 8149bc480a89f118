"""A real browser on a real server: Debian's Chromium, driven by Playwright."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from patience import PATIENCE
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

expect.set_options(timeout=PATIENCE * 1_000)

CHROMIUM = shutil.which("chromium")
#: A page that breaks the policy says so in an event.
WATCH = """
window.broken = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.broken.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


def need_chromium() -> None:
    """On a laptop without it the tests are left out; in CI, never."""
    if CHROMIUM is None:
        said = "there is no chromium; install it: apt-get install chromium"
        pytest.fail(said) if os.environ.get("CI") else pytest.skip(said)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser without a window."""
    need_chromium()
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=options, timeout=PATIENCE * 1_000
        )
        yield browser
        browser.close()


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[str]:
    """The address, token and all, of a server that was started in a folder."""
    command = [sys.executable, "-m", "nearly", "serve", *arguments, "--port", "0", "--quiet"]
    environment = {name: value for name, value in os.environ.items() if name != "NEARLY_TOKEN"}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        try:
            yield address
        finally:
            server.terminate()


class Visit:
    """A page whose errors are noted, with no network but the server's."""

    def __init__(self, browser: Browser, address: str, *, scheme: str = "light") -> None:
        parts = urlsplit(address)
        self.base = f"http://{parts.netloc}"
        self.errors: list[str] = []
        self.context: BrowserContext = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": 1000, "height": 800},
            accept_downloads=True,
        )
        self.context.add_init_script(WATCH)
        self.context.route("**/*", self._let)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE * 1_000)
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(address)

    def _let(self, route: Route) -> None:
        if route.request.url.startswith((self.base + "/", "data:", "blob:")):
            route.continue_()
        else:
            self.errors.append(f"asked elsewhere: {route.request.url}")
            route.abort()

    def _note(self, message: object) -> None:
        if message.type in ("error", "warning"):  # type: ignore[attr-defined]
            self.errors.append(message.text)  # type: ignore[attr-defined]

    def go(self, path: str) -> Page:
        """Another page of the server."""
        self.page.goto(self.base + path)
        return self.page

    def end(self) -> None:
        """Nothing was wrong on any page."""
        self.errors += self.page.evaluate("window.broken")
        self.context.close()
        assert self.errors == []
