"""Options, values and commands of other tools: each is answered with what Weir has, and each answer is an option that there is."""

import re

import weirtest
from weirtest import ROOT

TABLE = (ROOT / "tools" / "common" / "ForeignOptions.cpp").read_text()
COMMANDS = ["check", "compile", "run", "train", "eval", "predict", "verify", "generate", "inspect", "plan", "tune", "probe"]


def rows():
    """(names, code, note) of each row; a constant's name stands for its text."""
    texts = {name: "".join(re.findall(r'"([^"]*)"', value))
             for name, value in re.findall(r'(\w+)\[\]\s*=\s*((?:"[^"]*"\s*)+)', TABLE)}
    body = TABLE[TABLE.index("ForeignOption rows[] = {"):]
    body = re.sub(r"//.*", "", body[: body.index("\n};")])
    for row in re.findall(r"\{((?:[^{}\"]|\"[^\"]*\")*)\}", body[body.index("{") + 1:]):
        fields = re.findall(r'((?:"[^"]*"\s*)+|\b\w+\b)\s*(?:,|$)', row)
        names, code, note = ("".join(re.findall(r'"([^"]*)"', f)) if '"' in f else texts[f] for f in fields)
        yield names.split(), code, note


ROWS = list(rows())


class Test(weirtest.Test):
    def options(self, *command):
        """The options that a command's help lists."""
        return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", self.weir(*command, "--help-all").stdout))

    def test_the_table_is_read_whole(self):
        self.assertGreater(len(ROWS), 80)
        self.assertGreater(sum(len(names) for names, _, _ in ROWS), 350)
        names = [name.lower().replace("_", "-") for names, _, _ in ROWS for name in names]
        self.assertEqual(len(names), len(set(names)), [n for n in names if names.count(n) > 1])
        for names, code, note in ROWS:
            self.assertTrue(code or note, names)

    def test_every_answer_is_an_option_that_there_is(self):
        there = {command: self.options(command) for command in COMMANDS}
        everywhere = set.union(*there.values())
        for names, code, note in ROWS:
            for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", code + " " + note):
                if option not in ("-s", "--"):
                    self.assertIn(option, everywhere | {"-s"}, names)
            for command in re.findall(r"\bweir ([a-z]+)", code + " " + note):
                self.assertIn(command, COMMANDS, names)
            for name in names:
                # What Weir has itself would never be looked up.
                self.assertNotIn(name, there["train"] | there["run"], name)
                self.assertNotIn(name, COMMANDS)

    def test_every_name_of_an_option_is_answered(self):
        for names, code, note in ROWS:
            for name in names[:1] if not names[0].startswith("-") else names:
                if "=" in name:
                    option, value = name.split("=")
                    words, said = ["train", "m.weir", option, value], f"{option} {value} is another tool's value"
                elif name.startswith("-"):
                    words, said = ["train", "m.weir", name, "3"], f"unknown option '{name}'"
                else:
                    words, said = [name, "m.weir"], f"unknown command '{name}'"
                done = self.weir(*words, status=2)
                line = done.stderr.splitlines()[0]
                self.assertTrue(line.startswith(f"error: {said}; "), line)
                self.assertIn(code, line)
                self.assertTrue(line.endswith(note), line)

    def test_what_other_programs_are_told(self):
        for words, said in (
            (["train", "m.weir", "--batch-size", "32"], "write `--set batch=N`: sizes are configs of the model"),
            (["train", "m.weir", "--batch_size=32"], "unknown option '--batch_size'; write `--set batch=N`"),
            (["train", "m.weir", "--gradient-checkpointing"], "; write `--memory SIZE`: "),
            (["train", "m.weir", "--device", "gpu"], "--device gpu is another tool's value; write `--device cuda`: "),
            (["run", "m.weirx", "--fp16"], "; write `--precision f16`, an option of weir compile, weir train"),
            (["run", "m.weirx", "--mesh", "dp=2"], "unknown option '--mesh'; it is an option of weir compile, weir train"),
            (["compile", "m.weir", "--holdout", "0.1"], "unknown option '--holdout'; it is an option of weir run and weir train"),
            (["run", "m.weirx", "--wandb"], "; write `--metrics FILE.jsonl`: or --tensorboard DIR"),
            (["run", "m.weirx", "--stepz", "3"], "unknown option '--stepz'; did you mean '--steps'?"),
            (["fit", "m.weir"], "unknown command 'fit'; write `weir train`"),
        ):
            self.assertIn(said, self.weir(*words, status=2).stderr.splitlines()[0], words)
        done = self.weir_run("m.weirx", "--bf16", status=2)
        self.assertIn("unknown option '--bf16'; write `--precision bf16` when it is compiled with weir", done.stderr)

    def test_weir_run_knows_the_options_of_a_compile(self):
        own = self.options("run")
        for option in (o for o in self.options("compile") - own if o.startswith("--")):
            done = self.weir_run("m.weirx", option, "1", status=2)
            self.assertIn(f"unknown option '{option}'; it is an option of weir compile: compile the artifact again with it", done.stderr)

    def test_help_and_version(self):
        self.assertEqual(self.weir("help").stdout, self.weir("--help").stdout)
        self.assertEqual(self.weir("help", "train").stdout, self.weir("train", "--help").stdout)
        self.assertEqual(self.weir_run("help", "eval").stdout, self.weir_run("eval", "--help").stdout)
        self.assertEqual(self.weir_run("help").stdout, self.weir_run("--help").stdout)
        self.assertIn("unknown command 'trian'; did you mean 'train'?", self.weir("help", "trian", status=2).stderr)
        for tool in ("weir", "weir-run"):
            self.assertEqual(self.run_tool(tool, "-V").stdout, self.run_tool(tool, "--version").stdout)


if __name__ == "__main__":
    weirtest.main()
