"""--help: groups of options, a line for each, and the reference that is made of them."""

import re
import subprocess

import weirtest
from weirtest import BIN, ROOT

COMMANDS = ["check", "compile", "run", "train", "eval", "predict", "verify", "generate", "inspect", "plan", "tune", "probe"]
OPTION = re.compile(r"^  (--?[a-zA-Z].*?) {2,}(.*)$")


class Help(weirtest.Test):
    def options(self, command, flag):
        lines = self.weir(command, flag).stdout.splitlines()
        return {found[1]: found[2] for found in map(OPTION.match, lines) if found}

    def test_a_line_for_each_option(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                for left, right in self.options(command, "--help-all").items():
                    self.assertLessEqual(len(left) + 2, 35, left)
                    self.assertLessEqual(len(right), 80, right)
                    self.assertRegex(right, r"^[A-Zc].*[^.]$", left)

    def test_common_options_first(self):
        common, every = (self.options("train", flag) for flag in ("--help", "--help-all"))
        self.assertLess(common.items(), every.items())
        self.assertLess(len(self.weir("train", "--help").stdout.splitlines()), 75)
        self.assertGreater(len(every), len(common) + 20)
        self.assertIn("All options: weir train --help-all", self.weir("train", "--help").stdout)
        self.assertNotIn("--poison", self.weir("train", "--help-all").stdout)

    def test_summaries_are_sentences(self):
        listed = self.weir("--help").stdout.split("Subcommands:\n")[1].splitlines()
        self.assertEqual([line.split()[0] for line in listed if line], COMMANDS)
        for line in filter(None, listed):
            self.assertTrue(line.endswith("."), line)

    def test_each_command_names_its_page(self):
        for command in COMMANDS:
            page = re.search(r"^Documentation: (\S+)$", self.weir(command, "--help").stdout, re.M)[1]
            self.assertTrue((ROOT / page).is_file(), page)

    def test_the_reference_is_what_the_tools_print(self):
        script = ROOT / "tools" / "dev" / "command-reference"
        subprocess.run([script, "--check", "--bin", BIN], check=True)


if __name__ == "__main__":
    weirtest.main()
