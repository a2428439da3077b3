#!/usr/bin/env python3
"""What the runtime alone takes of a step: gpt-char's actions on a device without arithmetic.

    test/bench/null-step.py [--model NAME] [--set config=value ...]
"""

import argparse
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("WEIR_BIN", ROOT / "build" / "bin"))


def main():
    about, _, more = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="gpt-char", help="one of models/ (default gpt-char)")
    parser.add_argument("--set", action="append", default=[], dest="sets", metavar="CONFIG=VALUE")
    options = parser.parse_args()
    sets = [word for one in options.sets for word in ("--set", one)]
    with tempfile.TemporaryDirectory() as folder:
        artifact = pathlib.Path(folder, "model.weirx")
        subprocess.run([BIN / "weir", "compile", ROOT / "models" / f"{options.model}.weir", *sets, "-o", artifact], check=True)
        subprocess.run([BIN / "null-step", artifact], check=True)


if __name__ == "__main__":
    main()
