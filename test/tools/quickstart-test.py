"""tools/quickstart, tools/dev/build and tools/dev/setup say what they do and how far they are, with other programs in the places of theirs."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Scripts(unittest.TestCase):
    """A folder that looks like a checkout, whose `bin` stands first on the PATH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "tools/dev").mkdir(parents=True)

    def script(self, name, body):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def run_script(self, name, *arguments, status=0):
        """What it prints on standard output and on standard error."""
        shutil.copy(ROOT / name, self.root / name)
        environment = dict(os.environ, PATH=f"{self.root / 'bin'}:{os.environ['PATH']}")
        done = subprocess.run([self.root / name, *arguments], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def without_package(self, apt):
        (self.root / "tools/dev/packages.txt").write_text("one  # comment\ntwo\n")
        self.script("bin/dpkg-query", '[ "$3" = two ] || echo installed')
        self.script("bin/id", "echo 0")
        self.script("bin/apt-get", f"shift 2\n[ $1 = install ] || exit 0\n{apt}")

    def test_setup_shows_progress(self):
        steps = "\n".join(f"echo {kind}status:two:{percent}.5:words" for kind in ("dl", "pm") for percent in range(0, 100, 10))
        self.without_package(steps + "\necho Setting up two")
        out, err = self.run_script("tools/dev/setup")
        self.assertEqual(out, "")
        self.assertEqual(
            err.splitlines(),
            [
                *("setup: reading the package lists", "setup: installing two"),
                *("setup: downloading 30%", "setup: downloading 50%", "setup: downloading 80%"),
                *("setup: installing 0%", "setup: installing 30%", "setup: installing 50%", "setup: installing 80%"),
            ],
        )

    def test_setup_fails(self):
        self.without_package("echo E: Unable to locate package two; exit 100")
        _, err = self.run_script("tools/dev/setup", status=1)
        self.assertEqual(
            err.splitlines()[2:],
            [
                "E: Unable to locate package two",
                "setup: 'apt-get install -y --no-install-recommends two' failed; "
                "Weir needs Debian 12 with its security updates (LLVM 22 comes from there)",
            ],
        )

    def test_setup_refuses_what_is_no_list(self):
        self.without_package("exit 100")
        for words in (["--force"], ["../packages.txt"], ["packages-other.txt"], ["setup"], ["packages.txt", "more"]):
            _, err = self.run_script("tools/dev/setup", *words, status=2)
            self.assertEqual(err, f"setup: '{' '.join(words)}': expected no argument, or one of the lists packages.txt\n")

    def built(self, end, status=0):
        """Of a build with a step every six seconds."""
        self.script("tools/dev/setup", "")
        lines = "\n".join(f"echo '[{step}/10, {step}0%, {step * 6}.012 s] Building CXX object'" for step in range(1, 11))
        self.script("bin/cmake", f"[ $1 = --build ] || exit 0\necho \"$*\"\n{lines}\n{end}")
        return self.run_script("tools/dev/build", "release", "weir-user", status=status)

    def test_build_shows_progress(self):
        out, err = self.built("")
        self.assertEqual(out, "")
        self.assertEqual(
            err.splitlines(),
            ["--build --preset release --target weir-user", *(f"[{step}/10, {step}0%, {step * 6}.012 s] Building CXX object" for step in (3, 6, 9))],
        )

    def test_build_shows_messages_as_they_are(self):
        said = 'm.cpp:1: printf("a\\tb\\n");'
        (self.root / "said").write_text(said + "\n-n\n")
        _, err = self.built(f"cat '{self.root}/said'")
        self.assertEqual(err.splitlines()[-2:], [said, "-n"])

    def test_build_fails(self):
        _, err = self.built("echo 'FAILED: a.o'; echo 'a.cpp:1:1: error: expected expression' >&2; exit 3", status=3)
        self.assertEqual(err.splitlines()[-2:], ["FAILED: a.o", "a.cpp:1:1: error: expected expression"])

    def test_build_tree_of_another_compiler(self):
        """CMake keeps such a tree's cache in part: the build type is lost. It is configured afresh."""
        self.script("tools/dev/setup", "")
        said = "You have changed variables that require your cache to be deleted."
        self.script("bin/cmake", f"echo \"$*\" >>'{self.root}/calls'\n[ $1 != --preset ] || echo '{said}'")
        self.run_script("tools/dev/build", "release")
        self.assertEqual(
            (self.root / "calls").read_text().splitlines(),
            ["--preset release", "--fresh --preset release", "--build --preset release"],
        )

    def quickstart(self, *options):
        for name in ("docs", "frontend", "ir", "models", "passes", "codegen", "runtime", "support", "artifact"):
            (self.root / name).mkdir()
        (self.root / "README.md").write_text("# Weir\n")
        (self.root / "docs/it's mine.md").write_text("# A name that a shell would cut\n")
        self.script("tools/dev/setup", "")
        self.script("tools/dev/build", 'echo "built $*" >&2')
        self.script("build/bin/weir", 'echo "$1"; echo "weir: $*" >&2')
        self.script("bin/nproc", "echo 2")
        self.script("bin/clang++-22", "")
        return self.run_script("tools/quickstart", *(options or ("--steps", "7")))

    def test_quickstart(self):
        out, err = self.quickstart()
        self.assertEqual(out, "train\ngenerate\n")
        said = re.findall("^quickstart: (.*)", err, re.M)
        self.assertEqual(said[0], "about 7 min on 2 cores: packages 0 min, build 6 min (250 steps), training 1 min")
        self.assertEqual(said[1:3], ["1/3 packages", "2/3 build"])
        self.assertRegex(said[3], r"^3/3 train models/gpt-char.weir on \d+ bytes of this repository's text$")
        self.assertIn("# A name that a shell would cut\n", (self.root / "build/own-text.txt").read_text())
        self.assertIn("built release weir-user", err)
        self.assertRegex(err, "weir: train .* --steps 7\n")
        self.assertRegex(said[5], r"^done in 0 min \d s: packages 0 min \d s, build 0 min \d s, train 0 min \d s$")
        self.assertEqual(said[-1], f'next: export PATH="{self.root}/build/bin:$PATH", then docs/guides/tutorial.md')

    def test_quickstart_passes_short_options_on(self):
        self.assertRegex(self.quickstart("-Werror")[1], "weir: train .* --steps 1000 -Werror\n")

    def test_quickstart_refuses_what_is_no_option(self):
        _, err = self.run_script("tools/quickstart", "release", status=2)
        self.assertEqual(err, "quickstart: 'release': expected options of weir train, such as --steps 2000\n")

    def test_quickstart_built_before(self):
        (self.root / "build").mkdir()
        (self.root / "build/build.ninja").write_text("build weir-user: phony\n")
        self.script("bin/ninja", "echo 'ninja: Entering directory'; for step in 1 2 3; do echo \"[$step/3] Building\"; done")
        self.assertIn("packages 0 min, build 0 min (3 steps), training 1 min\n", self.quickstart()[1])

    def test_quickstart_of_an_older_build_tree(self):
        """Ninja fails where a source is gone that the tree still lists."""
        (self.root / "build").mkdir()
        (self.root / "build/build.ninja").write_text("build weir-user: phony gone.cpp\n")
        self.script("bin/ninja", "echo \"ninja: error: 'gone.cpp', needed by 'weir-user', missing\" >&2; exit 1")
        err = self.quickstart()[1]
        self.assertIn("build 6 min (250 steps)", err)
        self.assertNotIn("gone.cpp", err)

    def test_help(self):
        """From what stands at the head of each script; nothing is installed or built."""
        for name in ("tools/quickstart", "tools/test", "tools/dev/build", "tools/dev/setup"):
            out, err = self.run_script(name, "--help")
            self.assertRegex(out, r"^[A-Z]")
            self.assertNotIn("set -eu", out)
            self.assertEqual(err, "")


if __name__ == "__main__":
    unittest.main()
