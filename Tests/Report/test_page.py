"""The report's page in a real browser: as it looks, prints and reads, and that names in it are text whatever they are."""
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

import browser
import sample

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PICTURES = ROOT / ".build" / "report"
VICINITY = os.environ.get("VICINITY", str(ROOT / ".build" / "release" / "vicinity"))

# How far a text stands out from what is behind it, WCAG 2.1.
CONTRAST = """
(() => {
  const parts = color => (color.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = light(parts(getComputedStyle(document.body).backgroundColor));
  const ratio = color => { const own = light(parts(color));
    return (Math.max(own, paper) + 0.05) / (Math.min(own, paper) + 0.05); };
  const texts = [...document.querySelectorAll('h1,h2,p,dt,dd,th,td,summary,li')].filter(e => e.textContent.trim())
    .map(e => ratio(getComputedStyle(e).color));
  const labels = [...document.querySelectorAll('svg text')].map(e => ratio(getComputedStyle(e).fill));
  const shapes = [...document.querySelectorAll('.c0,.c1,.c2,.c3,.c4,.c5,.mark')].map(e => ratio(getComputedStyle(e).fill));
  return [Math.min(...texts, ...labels), Math.min(...shapes), shapes.length];
})()
"""


class PageTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        history = pathlib.Path(cls.directory.name, "history.jsonl")
        with open(history, "wb") as file:
            subprocess.run([sys.executable, "-B", HERE / "sample.py"], stdout=file, check=True)
        cls.page = pathlib.Path(cls.directory.name, "report.html")
        cls.command = [VICINITY, "report", "--file", history, "--since", "2026-10-31", "--until", "2026-11-30T00:00:00Z"]
        subprocess.run([*cls.command, "--html", cls.page], check=True, env={"TZ": "UTC", "PATH": "/usr/bin:/bin"})
        PICTURES.mkdir(parents=True, exist_ok=True)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.addClassCleanup(cls.directory.cleanup)

    def test_is_its_owners_and_replaces_reports_only(self):
        self.assertEqual(stat.S_IMODE(self.page.stat().st_mode), 0o600)
        other = pathlib.Path(self.directory.name, "letter.txt")
        other.write_text("dear")
        refused = subprocess.run([*self.command, "--html", other], capture_output=True)
        self.assertEqual((refused.returncode, other.read_text()), (73, "dear"))
        self.assertIn(b"--force", refused.stderr)
        self.assertEqual(subprocess.run([*self.command, "--html", self.page]).returncode, 0)
        self.assertEqual(subprocess.run([*self.command, "--html", other, "--force"]).returncode, 0)
        self.assertTrue(other.read_text().startswith("<!DOCTYPE html>"))

    def test_is_quiet_and_whole(self):
        for scheme in ("light", "dark"):
            self.browser.open(self.page, scheme)
            self.browser.screenshot(PICTURES / f"{scheme}.png")
            self.assertEqual(self.browser.complaints(), [])
            self.assertEqual(self.browser.requests(), [f"file://{self.page}"])
            text, shape, count = self.browser.evaluate(CONTRAST)
            self.assertGreaterEqual(text, 4.5, scheme)
            self.assertGreaterEqual(shape, 3, scheme)
            self.assertGreater(count, 100)
        self.browser.open(self.page, "light", width=420)
        self.browser.screenshot(PICTURES / "narrow.png")
        # Nothing but what scrolls by itself is wider than the screen.
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 420)

    def test_prints(self):
        self.browser.open(self.page, "dark")
        self.browser.pdf(PICTURES / "print.pdf")
        text = subprocess.run(["pdftotext", "-layout", PICTURES / "print.pdf", "-"], capture_output=True, check=True).stdout.decode()
        for word in ("Where this machine was", "Networks", "A usual day", "Rules", "office-proxy"):
            self.assertIn(word, text)

    def test_names_are_text(self):
        self.browser.open(self.page)
        self.assertEqual(self.browser.evaluate("document.title"), "Where this machine was")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('script,iframe,object,embed,img,link,a').length"), 0)
        text = self.browser.evaluate("document.body.textContent")
        self.assertIn(sample.HOSTILE, text)
        self.assertIn("caf\u00e9 \"'`&amp; \\xe2\\x80\\xaeevil\\xe2\\x80\\xac \\x1b[31m", text)
        octets = self.page.read_bytes()
        for forbidden in (b"<script", b"\x1b", "\u202e".encode(), b" onload", b" style="):
            self.assertNotIn(forbidden, octets)

    def test_nothing_runs_even_if_it_got_in(self):
        page = self.page.read_text().replace("</main>", "<script>document.title='owned'</script>"
                                             "<style>h1{color:red}</style><img src='https://example.invalid/x.png'></main>")
        broken = pathlib.Path(self.directory.name, "broken.html")
        broken.write_text(page)
        self.browser.open(broken)
        self.assertEqual(self.browser.evaluate("document.title"), "Where this machine was")
        self.assertNotEqual(self.browser.evaluate("getComputedStyle(document.querySelector('h1')).color"), "rgb(255, 0, 0)")
        self.assertTrue(self.browser.complaints())
        # Blocked before anything is sent.
        sent = [event for event in self.browser.events if event.get("method") == "Network.responseReceived"]
        self.assertEqual([event["params"]["response"]["url"] for event in sent], [f"file://{broken}"])

    def test_is_read_aloud(self):
        self.browser.open(self.page)
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        names = {(node.get("role", {}).get("value"), node.get("name", {}).get("value")) for node in nodes}
        for name in ("Days", "Networks", "A usual day", "Rules", "What went wrong"):
            self.assertIn(("heading", name), names)
        drawings = [name for role, name in names if role in ("image", "img")]
        self.assertEqual(len(drawings), 2, drawings)
        self.assertIn(("rowheader", "office"), names)
        self.assertEqual(self.browser.evaluate("document.documentElement.lang"), "en")
        # What a drawing shows stands in a table as well.
        rows = self.browser.evaluate("[...document.querySelectorAll('details table')].map(t => t.tBodies[0].rows.length)")
        self.assertEqual(rows, [30, 24])


if __name__ == "__main__":
    unittest.main()
