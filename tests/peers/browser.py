"""Opens files in headless Chromium and says what a reader would run into.

Usage: browser.py CHROMIUM [--shots FOLDER] FILE...

Each file is opened at 320 and 1440 pixels, by day and by night, and as it goes to paper; the second is
measured at 480, 800 and 1120 pixels too. For each view one line of JSON: messages of the console, requests
beyond the file itself, by how many pixels the page is wider than its window, the smallest letter, texts that
leave their drawing, marks of an axis that touch each other, words of heads that are broken, the contrast of
text, how many pairs of sections there are, and how many of them stand beside each other. With --shots the
views are kept as pictures.

Only the standard library: the browser is spoken to over a pair of pipes.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURE = """(() => {
  const root = document.documentElement;
  const seen = [...document.querySelectorAll('svg')].filter(e => e.getClientRects().length);
  const luminance = color => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255);
    const line = v => v <= .03928 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4);
    const [r, g, b] = parts.map(line);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + .05) / (y + .05);
  };
  const outside = [], touching = [], broken = [];
  let smallest = Infinity, least = Infinity;
  const body = document.body || root;
  const ground = getComputedStyle(body).backgroundColor;
  for (const e of document.querySelectorAll('p, td, th, h1, h2, h3, caption')) {
    const style = getComputedStyle(e);
    smallest = Math.min(smallest, parseFloat(style.fontSize));
    if (ground !== 'rgba(0, 0, 0, 0)') least = Math.min(least, contrast(style.color, ground));
  }
  for (const svg of seen) {
    const box = svg.getBoundingClientRect();
    const scale = box.width / (svg.viewBox.baseVal.width || box.width);
    const ticks = [];
    for (const text of svg.querySelectorAll('text')) {
      const style = getComputedStyle(text);
      smallest = Math.min(smallest, parseFloat(style.fontSize) * scale);
      const b = text.getBoundingClientRect();
      const slack = 1;
      if (b.left < box.left - slack || b.right > box.right + slack ||
          b.top < box.top - slack || b.bottom > box.bottom + slack) {
        outside.push(text.textContent);
      }
      if (ground !== 'rgba(0, 0, 0, 0)') least = Math.min(least, contrast(style.fill, ground));
      ticks.push([b, text.textContent]);
    }
    for (let i = 0; i < ticks.length; i++) for (let j = 0; j < i; j++) {
      const [a, s] = ticks[i], [b, t] = ticks[j];
      if (a.left < b.right - 1 && b.left < a.right - 1 &&
          a.top < b.bottom - 4 && b.top < a.bottom - 4) touching.push(s + ' | ' + t);
    }
  }
  for (const head of document.querySelectorAll('thead th:not(.long)')) {
    const text = head.firstChild;
    for (const word of (text ? text.textContent : '').matchAll(/[\\p{Script=Latin}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      // Some words have several boxes in one line; other scripts break where they like.
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top / 4)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
  return {
    over: root.scrollWidth - root.clientWidth,
    drawings: seen.length,
    pairs: document.querySelectorAll('.pair').length,
    abreast: [...document.querySelectorAll('.pair')].filter(pair => {
      const [a, b] = [...pair.children].map(part => part.getBoundingClientRect());
      return a.top === b.top && a.right <= b.left;
    }).length,
    smallest, contrast: least, outside, touching, broken,
    named: seen.every(e => e.getAttribute('role') === 'img' && e.querySelector('title') &&
      e.querySelector('desc')),
    height: root.scrollHeight,
  };
})()"""


# Widths at which a page is measured again.
BETWEEN = [480, 800, 1120]


class Browser:
    """One browser, spoken to in messages that end with a zero byte."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="browser-")
        to_it, self.writer = os.pipe()
        self.reader, from_it = os.pipe()

        def wire():
            # The browser reads from 3 and writes to 4.
            low, high = os.dup(to_it), os.dup(from_it)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self.process = subprocess.Popen(
            [
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-extensions",
                "--disable-background-networking",
                "--hide-scrollbars",
                "--force-color-profile=srgb",
                f"--user-data-dir={self.folder.name}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            preexec_fn=wire,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_it)
        os.close(from_it)
        self.number = 0
        self.rest = b""
        self.events = []
        self.session = None

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.reader, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if self.session and not method.startswith("Target."):
            asked["sessionId"] = self.session
        os.write(self.writer, json.dumps(asked).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait(self, method):
        while True:
            for event in self.events:
                if event.get("method") == method:
                    return
            self.events.append(self.message())

    def open_tab(self):
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.ask(f"{domain}.enable")
        return target

    def end(self):
        self.session = None
        try:
            self.ask("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()


def complaints(events, address):
    """What the console said, and what was asked for beyond the file."""
    said, asked = [], []
    for event in events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Log.entryAdded":
            said.append(params["entry"].get("text", ""))
        elif method == "Runtime.consoleAPICalled":
            said.append(json.dumps(params.get("args")))
        elif method == "Runtime.exceptionThrown":
            said.append(json.dumps(params.get("exceptionDetails")))
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if url != address:
                asked.append(url)
    return said, asked


def resize(browser, width):
    browser.ask(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )


def measure(browser, path):
    found = browser.ask("Runtime.evaluate", expression=MEASURE, returnByValue=True)
    if "value" not in found["result"]:
        raise RuntimeError(f"{path}: {found}")
    return found["result"]["value"]


def between(browser, path, told, shots):
    """Adds what is wrong at widths between the narrowest and the widest."""
    for width in BETWEEN:
        resize(browser, width)
        found = measure(browser, path)
        told["over"] = max(told["over"], found["over"])
        told["smallest"] = min(told["smallest"], found["smallest"])
        for fault in ["outside", "touching", "broken"]:
            told[fault] += [f"{width}: {text}" for text in found[fault]]
        if shots:
            picture = browser.ask("Page.captureScreenshot", captureBeyondViewport=True, format="png")
            whole = Path(shots) / f"{Path(path).stem}-{width}.png"
            whole.write_bytes(base64.b64decode(picture["data"]))


def look(browser, path, view, shots):
    """Opens one file in one view."""
    width, dark, paper = view
    target = browser.open_tab()
    resize(browser, width)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    media = "print" if paper else "screen"
    browser.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])
    browser.events.clear()
    address = Path(path).resolve().as_uri()
    browser.ask("Page.navigate", url=address)
    browser.wait("Page.loadEventFired")
    told = measure(browser, path)
    name = f"{'paper' if paper else width}{'-dark' if dark else ''}"
    if paper:
        pdf = browser.ask("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        told["paper"] = len(base64.b64decode(pdf["data"]))
    if shots:
        picture = browser.ask("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        whole = Path(shots) / f"{Path(path).stem}-{name}.png"
        whole.write_bytes(base64.b64decode(picture["data"]))
        top = 0
        while told["height"] > 1300 and top < told["height"]:
            clip = {"x": 0, "y": top, "width": width, "height": 1300, "scale": 1}
            picture = browser.ask(
                "Page.captureScreenshot", captureBeyondViewport=True, clip=clip, format="png"
            )
            part = Path(shots) / f"{Path(path).stem}-{name}-{top:05}.png"
            part.write_bytes(base64.b64decode(picture["data"]))
            top += 1300
    if width > max(BETWEEN) and not dark:
        between(browser, path, told, shots)
    said, asked = complaints(browser.events, address)
    told.update(file=str(path), view=name, console=said, requests=asked)
    browser.ask("Target.closeTarget", targetId=target)
    return told


def main():
    program, *files = sys.argv[1:]
    shots = None
    if files[:1] == ["--shots"]:
        shots, files = files[1], files[2:]
    views = [(320, False, False), (1440, False, False), (1440, True, False), (700, True, True)]
    browser = Browser(program)
    try:
        for path in files:
            for view in views:
                print(json.dumps(look(browser, path, view, shots)), flush=True)
    finally:
        browser.end()


if __name__ == "__main__":
    main()
