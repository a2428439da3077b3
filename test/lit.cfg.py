# lit's configuration for every test file under test/ that has a RUN line. Files that tests read but that are no tests
# themselves stand in folders named Inputs.

import os
import sys

import lit.formats

config.name = "weir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".weir", ".test"]
config.excludes = ["Inputs", "bench", "e2e", "fuzz", "scale"]
config.test_source_root = os.path.join(config.source_root, "test")
# CTest runs several of lit at once: each has its own folder for temporary files (--param folder=NAME).
config.test_exec_root = os.path.join(config.build_root, "test", "lit", lit_config.params.get("folder", "all"))

shared_data = os.path.normpath(os.path.join(config.source_root, "..", "shared", "data"))
if os.path.isdir(shared_data):
    config.available_features.add("data")

# The longer names first: lit replaces in order.
config.substitutions += [
    ("%{python}", sys.executable),
    ("%weir-opt", "weir-opt"),
    ("%weir-run", "weir-run"),
    ("%weir", "weir"),
    ("%shared-data", shared_data),
    ("%models", os.path.join(config.source_root, "models")),
]
# With --param roundtrip=1, what weir-opt reads is printed and parsed again first.
if lit_config.params.get("roundtrip"):
    config.suffixes = [".mlir"]
    config.excludes.append("ops")  # has nothing of weir-opt's
    config.substitutions.append((r"(?<![\w/.-])weir-opt(?= )", "weir-opt --verify-roundtrip"))
config.environment["PATH"] = os.pathsep.join(
    [config.tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
config.environment["NO_COLOR"] = "1"
if "WEIR_MAX_CPU" in os.environ:
    config.environment["WEIR_MAX_CPU"] = os.environ["WEIR_MAX_CPU"]
