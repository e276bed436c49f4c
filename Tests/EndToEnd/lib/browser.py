"""The browser in which pages and drawings are looked at."""

import functools
import shutil

from lib import cases


@functools.cache
def browser():
    """A headless Chromium, which ends with this process."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise cases.Skipped("the Python package playwright is missing") from None
    if program is None:
        raise cases.Skipped("chromium is missing")
    return sync_playwright().start().chromium.launch(executable_path=program, args=["--no-sandbox"])
