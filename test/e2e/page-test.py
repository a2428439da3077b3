"""weir inspect --html writes one page that says what the artifact says, does no harm, and can be looked at."""

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import weirtest
from weirtest import MODELS, SMALL_GPT

BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)

needs_browser = unittest.skipUnless(BROWSER, "no Chromium is here (tools/dev/setup installs one)")

HOSTILE = """// </script><script>document.title = "harmed"</script><img src=x onerror=alert(1)> <!-- \u202e
config note = 3
model net(x: [b, 4]) -> [b, 4] {
  return linear(x, 4) as last
}
train {
  input x: f32[8, 4]
  steps 3
  loss  mse(net(x), x * note)
  update sgd(0.1)
}
"""


class Elements(html.parser.HTMLParser):
    """Every element of a page, and the text of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.scripts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.lasttag == "script":
            self.scripts[-1] += data


class Page(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.models = {}  # of artifacts that were compiled

    def compiled(self, model, *options):
        artifact = self.folder / f"{pathlib.Path(model).stem}.weirx"
        done = self.weir("compile", model, *options, "-o", artifact)
        self.models[artifact] = model
        return artifact, done.stderr

    def model_of(self, artifact):
        return ["--model", self.models[artifact]] if artifact in self.models else []

    def page(self, artifact, **more):
        """The page's path, and its facts."""
        path = artifact.with_suffix(".html")
        self.weir("inspect", artifact, "--html", path, *self.model_of(artifact), **more)
        return path, json.loads(Elements(path.read_text()).scripts[0])

    def gpt(self, *options):
        artifact, _ = self.compiled(MODELS / "gpt-char.weir", *SMALL_GPT, *options)
        return artifact, *self.page(artifact)

    # What it says.

    def check_entry(self, entry, page, facts, plan):
        name = entry["name"]
        memory = next(e for e in facts["memory"]["entries"] if e["entry"] == name)
        actions = re.findall(r"^ +plan\.(?:launch|call|copy|loop|record|wait)\b", plan[name], re.M)
        self.assertEqual(len(entry["actions"]), len(actions))
        scratch = [b for b in entry["buffers"] if b[0] >= 0]
        alive = [sum(b[1] for b in scratch if b[2] <= at <= b[3]) for at in range(len(entry["actions"]) or 1)]
        self.assertEqual(max(alive), memory["largest_live"])
        self.assertEqual(alive[memory["peak_action"]], memory["largest_live"])
        ends = [b[0] + b[1] for b in scratch]
        persistent = facts["memory"]["persistent"]
        self.assertEqual(max(ends, default=persistent) - persistent, memory["scratch"])
        for i, (at, size, first, last, *_) in enumerate(scratch):
            for other, bytes_, begin, end, *_ in scratch[:i]:
                self.assertFalse(at < other + bytes_ and other < at + size and first <= end and begin <= last)
        works = facts["kernels"] + facts["calls"]
        runs = [0] * len(works)
        for number, (work, _, _, times, again, reads, writes) in enumerate(entry["actions"]):
            self.assertLess(again, number)
            for place in filter(lambda place: place >= 0, reads + writes):
                _, _, first, last, *_ = entry["buffers"][place]
                self.assertTrue(first <= number <= last, f"action {number} touches buffer {place}")
            if work >= 0:
                runs[work] += times
        for work, often in zip(works, runs):
            told = work["launches"].get(name, 0) if "launches" in work else work["times"] if work["entry"] == name else 0
            self.assertEqual(often, told, work)

    def test_says_what_inspect_says(self):
        for options in ([], ["--microbatches", 2, "--precision", "bf16"]):
            with self.subTest(options):
                artifact, _, page = self.gpt(*options)
                facts = json.loads(self.weir("inspect", artifact, "--json").stdout)
                for what in ("model", "target", "kernels", "calls", "step", "configs"):
                    self.assertEqual(page["facts"][what], facts[what])
                self.assertEqual([v[0] for v in page["variables"]], [v["name"] for v in facts["variables"]])
                text = self.weir("inspect", artifact, "--plan").stdout
                parts = re.split(r"^ +plan\.entry @(\w+)", text, flags=re.M)
                plan = dict(zip(parts[1::2], parts[2::2]))
                self.assertEqual([e["name"] for e in page["entries"]], list(plan))
                for entry in page["entries"]:
                    with self.subTest(entry["name"]):
                        self.check_entry(entry, page, facts, plan)

    def test_types(self):
        _, _, page = self.gpt("--precision", "bf16")
        step = next(e for e in page["entries"] if e["name"] == "step")
        types = {page["strings"][b[6]] for b in step["buffers"] if b[6] >= 0}
        self.assertLessEqual({"bf16", "f32", "i32"}, types)
        known = sum(b[6] >= 0 or page["strings"][b[4]] == "partial sums" for b in step["buffers"])
        self.assertEqual(known, len(step["buffers"]))
        self.assertIn("bf16", {t for e in page["elements"] for t in e["reads"]})

    def test_what_is_computed_again(self):
        """As many kernels as the compiler says; it knows, the page finds out."""
        model = MODELS / "gpt-char.weir"
        sizes = ["--set", "layers=3", "--set", "width=32", "--set", "context=32", "--set", "batch=8"]
        artifact, _ = self.compiled(model, *sizes)
        fixed, whole = self.taken(artifact)
        artifact, note = self.compiled(model, *sizes, "--threads", 2, "--memory", fixed + int(0.75 * (whole - fixed)))
        told = int(re.search(r"recomputes (\d+) of its \d+ kernels", note)[1])
        self.assertGreater(told, 2)
        _, page = self.page(artifact)
        step = next(e for e in page["entries"] if e["name"] == "step")
        kernels = page["facts"]["kernels"]
        again = [a for a in step["actions"] if a[4] >= 0]
        # The parts of a kernel, kernel_46_rows0 and what follows it, are one.
        symbols = [kernels[a[0]]["symbol"] if a[0] < len(kernels) else f"call {a[0]}" for a in again]
        parts = [re.match(r"kernel_\d+|", symbol)[0] for symbol in symbols]
        follow = [part and part == before and one != other
                  for part, before, one, other in zip(parts[1:], parts, symbols[1:], symbols)]
        self.assertEqual(len(again) - sum(map(bool, follow)), told)
        for action in again:
            self.assertEqual(step["actions"][action[4]][0], action[0])

    def test_model_beside_it(self):
        artifact, _, page = self.gpt()
        self.assertEqual(page["files"][0]["text"], (MODELS / "gpt-char.weir").read_text())
        self.assertEqual(page["files"][0]["note"], "")
        model = self.write("net.weir", HOSTILE)
        artifact, _ = self.compiled(model)
        os.utime(model, (artifact.stat().st_mtime + 60,) * 2)
        self.assertIn("changed after", self.page(artifact)[1]["files"][0]["note"])
        other = self.write("net.txt", HOSTILE)
        self.assertIn("only files named", self.page(self.compiled(other)[0])[1]["files"][0]["note"])

    def test_follows_no_path_of_the_artifact(self):
        """Which may come from anywhere: only what lies beside it, or what the user names."""
        text = HOSTILE.replace("\u202e", "")
        private = self.folder / "private"
        private.mkdir()
        model = private / "net.weir"
        model.write_text(text)
        artifact, _ = self.compiled(model)
        self.assertEqual(self.page(artifact)[1]["files"][0]["text"], text)
        del self.models[artifact]
        file = self.page(artifact)[1]["files"][0]
        self.assertEqual(file["name"], str(model))
        self.assertEqual(file["text"], "")
        self.assertIn("no such file is beside the artifact; --model FILE names it", file["note"])
        # A link beside it leads elsewhere too.
        beside = self.folder / "net.weir"
        beside.symlink_to(model)
        self.assertEqual(self.page(artifact)[1]["files"][0]["text"], "")
        beside.unlink()
        beside.write_text(text)
        self.assertEqual(self.page(artifact)[1]["files"][0]["text"], text)
        page = self.folder / "page.html"
        self.fails(2, r"--model \S+/gpt-char.weir: expected one of the files that the artifact was compiled from: \S+net.weir",
                   "weir", "inspect", artifact, "--html", page, "--model", MODELS / "gpt-char.weir")  # fmt: skip
        copy = self.folder / "copy" / "net.weir"
        copy.parent.mkdir()
        copy.write_text(text)
        self.fails(2, r"--html .*: would overwrite a file that --model .* reads", "weir", "inspect", artifact, "--html", copy, "--model", copy)
        self.assertEqual(copy.read_text(), text)
        self.fails(2, "--model requires --html", "weir", "inspect", artifact, "--model", model)
        self.assertFalse(page.exists())

    def test_artifacts_of_before(self):
        """Whose kernels may be in a form that is read no more: everything but the types is there."""
        for stored in sorted((weirtest.ROOT / "test/artifact/formats").glob("*.weirx")):
            with self.subTest(stored.name):
                artifact = self.folder / stored.name
                shutil.copy(stored, artifact)
                page = self.page(artifact)[1]
                self.assertTrue(page["entries"])
                self.assertEqual(any(e["reads"] for e in page["elements"]), page["no_types"] == "")

    # What it may not do.

    def hostile(self):
        """An artifact whose file, comment, model's name and label are HTML."""
        folder = self.folder / "<" / "script><img src=x onerror=alert(1)>"
        folder.mkdir(parents=True)
        model = folder / "<!--.weir"
        model.write_text(HOSTILE.replace("net(", "nine_long("))
        artifact = self.folder / "hostile.weirx"
        self.weir("compile", model, "-o", artifact)
        raw = artifact.read_bytes()
        self.assertIn(b"nine_long", raw)
        artifact.write_bytes(raw.replace(b"nine_long", b"</script>"))
        subprocess.run([os.environ["WEIR_REHASH"], artifact, artifact], check=True)
        self.models[artifact] = model
        return artifact

    def test_hostile_names_are_text(self):
        path, page = self.page(self.hostile())
        self.assertEqual(page["facts"]["model"], "</script>")
        elements = Elements(path.read_text())
        self.assertEqual(elements.names.count("script"), 2)
        self.assertNotIn("img", elements.names)
        self.assertNotIn("\u202e", path.read_text())

    def test_loads_nothing(self):
        path = self.gpt()[1]
        elements = Elements(path.read_text())
        self.assertFalse([a for a in elements.attributes if a[0] in ("src", "href", "srcset", "data")])
        policy = next(value for name, value in elements.attributes if name == "content" and "default-src" in value)
        self.assertIn("default-src 'none'", policy)
        addresses = re.sub(re.escape("http://www.w3.org/2000/svg"), "", elements.scripts[1])
        self.assertNotRegex(addresses, r"https?:|innerHTML|insertAdjacentHTML|eval\(|@import|url\(")

    def test_deep_models_are_small_pages(self):
        artifact, _ = self.compiled(MODELS / "gpt-char.weir", *SMALL_GPT[2:], "--set", "layers=40")
        path, page = self.page(artifact)
        self.assertGreater(sum(len(e["actions"]) for e in page["entries"]), 2000)
        self.assertLess(path.stat().st_size, 1_000_000)

    # How it is written.

    def test_keeps_what_it_reads(self):
        model = self.write("net.weir", HOSTILE)
        artifact, _ = self.compiled(model)
        link = self.folder / "link.html"
        link.symlink_to(artifact)
        for path in (artifact, link):
            self.fails(2, r"--html .*: would overwrite a file that ARTIFACT .* reads", "weir", "inspect", artifact, "--html", path)
        self.fails(2, r"--html .*: would overwrite a file that MODEL .* reads", "weir", "inspect", artifact, "--html", model)
        self.assertEqual(model.read_text(), HOSTILE)
        self.weir("inspect", artifact)

    def test_failures(self):
        artifact, page, _ = self.gpt()
        for option in ("--json", "--plan", "--precision"):
            self.fails(2, "excludes", "weir", "inspect", artifact, "--html", page, option)
        self.fails(8, "cannot", "weir", "inspect", artifact, "--html", self.folder / "nowhere" / "a.html")
        self.fails(2, "empty", "weir", "inspect", artifact, "--html", "")
        before = page.read_text()
        damaged = self.folder / "damaged.weirx"
        damaged.write_bytes(artifact.read_bytes()[:-1])
        self.fails(3, "damaged.weirx|truncated|damaged", "weir", "inspect", damaged, "--html", page)
        self.assertEqual(page.read_text(), before)
        self.assertEqual(self.weir("inspect", artifact, "--html", "-", *self.model_of(artifact)).stdout, before)

    # What a browser makes of it.

    def browse(self, page, *options, script=""):
        """What the browser has made of the page and of a script behind it: the document as text."""
        copy = page.with_name(f"{page.stem}-probed.html")
        copy.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
        command = [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000", "--hide-scrollbars",
            "--virtual-time-budget=5000", f"--user-data-dir={self.folder / 'profile'}", *options, copy.as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def probe(self, page, script):
        """The value of an expression in the page."""
        document = self.browse(page, "--dump-dom", script=f"document.documentElement.dataset.probe = JSON.stringify({script})")
        self.assertIn('data-state="drawn"', document)
        return json.loads(html.unescape(re.search(r'data-probe="([^"]*)"', document)[1]))

    @needs_browser
    def test_is_drawn(self):
        artifact, page, facts = self.gpt()
        document = self.browse(page, "--dump-dom")
        self.assertIn('data-state="drawn"', document)
        self.assertRegex(document, r'<p id="error" class="message" role="alert" hidden="">')
        step = next(e for e in facts["entries"] if e["name"] == "step")
        memory = next(e for e in facts["facts"]["memory"]["entries"] if e["entry"] == "step")
        peak = facts["facts"]["memory"]["persistent"] + memory["largest_live"]
        self.assertIn(f"peak {peak:,} bytes at action {memory['peak_action']:,}", document)
        rectangles = re.findall(r'<rect class="buffer ', document)
        self.assertEqual(len(rectangles), sum(b[0] >= 0 for b in step["buffers"]))
        works = facts["facts"]["kernels"] + facts["facts"]["calls"]
        used = {action[0] for action in step["actions"] if action[0] >= 0}
        self.assertEqual(document.count('<circle class="work '), sum(works[work]["bytes"] > 0 for work in used))
        for line in (MODELS / "gpt-char.weir").read_text().splitlines():
            self.assertIn(html.escape(line.partition("//")[0], quote=False), document)
        picture = self.folder / "page.png"
        self.browse(page, f"--screenshot={picture}")
        self.assertGreater(picture.stat().st_size, 20_000)

    @needs_browser
    def test_every_entry_is_drawn(self):
        for model in ("mnist-cnn", "lora", "moe"):
            with self.subTest(model):
                page, _ = self.page(self.compiled(MODELS / f"{model}.weir", *weirtest.small(model)[0])[0])
                counts = self.probe(page, """page.entries.map(entry => {
                  draw(entry.name);
                  return document.querySelectorAll('rect.buffer').length - entry.buffers.filter(one => one[0] >= 0).length;
                })""")
                self.assertEqual(set(counts), {0})

    @needs_browser
    def test_lines_and_rectangles_light_each_other(self):
        page = self.gpt()[1]
        lit = self.probe(page, """(() => {
          const point = element => element.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 9, clientY: 9}));
          const lit = where => [...document.querySelectorAll(where + '.lit')].map(one => Number(one.dataset.id));
          const line = focusState.entry.series[0].line;
          point(document.querySelector(`#source [data-id="${line}"]`));
          const buffers = lit('rect.buffer'), works = lit('circle.work');
          const rect = document.querySelector('rect.buffer');
          point(rect);
          const told = document.getElementById('tip').textContent;
          const back = lit('#source .line');
          point(document.body);
          const none = document.querySelectorAll('.lit').length;
          return {line, buffers, works, buffer: Number(rect.dataset.id), back, none, told,
            hidden: document.getElementById('tip').hidden,
            expected: focusState.entry.scratch.filter(one => one.line === line).map(one => one.id),
            bytes: focusState.entry.buffers[rect.dataset.id].bytes, of: focusState.entry.buffers[rect.dataset.id].line};
        })()""")
        self.assertEqual(sorted(lit["buffers"]), lit["expected"])
        self.assertTrue(lit["works"])
        self.assertEqual(lit["none"], 0)
        self.assertTrue(lit["hidden"])
        self.assertIn(lit["of"], lit["back"])
        self.assertIn(f"{lit['bytes']:,}", lit["told"])
        self.assertRegex(lit["told"], r"(?s)alive.*action \d+ to \d+.*line.*gpt-char\.weir:\d+")

    @needs_browser
    def test_keys(self):
        page = self.gpt()[1]
        told = self.probe(page, """(() => {
          const press = (element, key) => element.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, key}));
          const tip = document.getElementById('tip'), text = () => tip.hidden ? '' : tip.textContent;
          const [memory, arena, scatter] = document.querySelectorAll('svg');
          press(memory, 'Home');
          const first = text();
          press(memory, 'ArrowRight');
          const second = text();
          press(arena, 'ArrowRight');
          const buffer = text();
          press(arena, 'Enter');
          const chosen = document.getElementById('details').textContent;
          press(document.body, 'Escape');
          const let_go = document.getElementById('details').textContent;
          press(scatter, 'ArrowRight');
          const work = text();
          const row = document.querySelector('#works [data-row]');
          row.focus();
          press(row, 'ArrowDown');
          return {first, second, buffer, chosen, let_go, work, at: document.activeElement.rowIndex,
            stops: document.querySelectorAll('#works [tabindex="0"]').length};
        })()""")
        self.assertIn("action 0:", told["first"])
        self.assertIn("action 1:", told["second"])
        self.assertIn("read by", told["buffer"])
        self.assertEqual(told["chosen"], told["buffer"])
        self.assertIn("Escape", told["let_go"])
        self.assertIn("of the cost", told["work"])
        self.assertEqual(told["at"], 2)
        self.assertEqual(told["stops"], 1)

    @needs_browser
    def test_hostile_names_do_no_harm(self):
        page, _ = self.page(self.hostile())
        state = self.probe(page, """({title: document.title, heading: document.querySelector('h1').textContent,
          elements: document.querySelectorAll('img, svg script, main script').length})""")
        self.assertEqual(state, {"title": "</script> - Weir", "heading": "</script>", "elements": 0})


if __name__ == "__main__":
    weirtest.main()
