"""Several GPUs, emulated ones: they compute what ranks on CPUs do, in any order of their streams, and what is amiss is found."""

import json
import os
import shutil

import emulated
import weirtest
from emulated import CHECKED, PLAIN
from weirtest import MODELS, data, small, start

MESH = ["--mesh", "dp=2,tp=2"]
GPT = [MODELS / "gpt-char.weir", "--set", "layers=1", "--set", "width=32", "--set", "context=16", "--set", "batch=6"]
MLP = [MODELS / "mnist-mlp.weir", "--set", "hidden=24", "--set", "batch=8"]
LAUNCHERS = ("RANK", "WORLD_SIZE", "MASTER_", "OMPI_", "PMI", "SLURM_", "PET_", "JAX_", "TORCHELASTIC_", "WEIR_JOB")


class CudaMesh(emulated.Test):
    def setUp(self):
        super().setUp()
        for name in [name for name in os.environ if name.startswith(LAUNCHERS)]:
            self.addCleanup(os.environ.__setitem__, name, os.environ.pop(name))
        # What devices leave for each other lies here.
        self.names = {"WEIR_KERNEL_CACHE": self.cache, "TMPDIR": str(self.folder)}

    def compiled(self, model, *options, gpu=True, name="a.weirx"):
        artifact = self.folder / name
        self.weir("compile", *model, *options, *(["--target", "cuda"] if gpu else []), "-o", artifact)
        return artifact

    def run_on_gpus(self, artifact, *options, env=CHECKED, seed=0, **more):
        names = self.names | env | {"WEIR_EMULATED_SEED": str(seed)}
        done = self.weir_run(artifact, "--device", "emulated", *options, env=names, **more)
        self.assertNotIn("emulated CUDA:", done.stderr)

    def losses_of(self, artifact, *options, run=None, steps=4):
        """Of a short run: by hand, as a graph, and that graph with the other pinned memory."""
        metrics = self.folder / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        (run or self.weir_run)(artifact, *options, "--steps", steps, "--seed", 1, "--metrics", metrics)
        return self.losses()

    def agree(self, some, others, delta=1e-5):
        for a, b in zip(some, others, strict=True):
            self.assertLessEqual(abs(a - b), delta * max(1, abs(b)))

    @weirtest.takes(20)
    @weirtest.each(("mlp", "gpt", "llama", "unequal"))
    def test_losses_are_the_cpus(self, case):
        """In four orders of all streams of all devices, with every check."""
        llama = [MODELS / "llama.weir", *small("llama")[0]]
        if case in ("llama", "unequal"):
            model, fed = llama, self.rows_of("llama", small("llama")[0])
            options = ["--mesh", "dp=2"] if case == "llama" else ["--mesh", "dp=2:1", "--zero", 1]
        else:
            model, fed, options = (MLP, self.digits(64), MESH) if case == "mlp" else (GPT, data(window=self.text()), MESH)
        expected = self.losses_of(self.compiled(model, *options, gpu=False), *fed)
        artifact = self.compiled(model, *options)
        for seed in range(4):
            self.agree(self.losses_of(artifact, *fed, run=lambda *args: self.run_on_gpus(*args, seed=seed)), expected)

    def test_keys_passed_on(self):
        """A ring of GPUs, of which each gives one what another gives it."""
        model = [MODELS / "gpt-char.weir", "--set", "layers=1", "--set", "width=16", "--set", "context=12", "--set", "batch=2"]
        mesh, fed = ["--mesh", "cp=3", "--context-parallel", "ring"], data(window=self.text())
        expected = self.losses_of(self.compiled(model, *mesh, gpu=False), *fed)
        self.agree(self.losses_of(self.compiled(model, *mesh), *fed, run=self.run_on_gpus), expected)

    def test_shares_of_other_sizes(self):
        """Five rows over two ranks, parameters and optimizer in parts, and microbatches."""
        rows = self.digits(64)
        model = [MODELS / "mnist-mlp.weir", "--set", "hidden=23"]
        for options in (["--set", "batch=5", "--mesh", "dp=2", "--zero", 3], ["--set", "batch=8", "--microbatches", 2, *MESH, "--zero", 1]):
            with self.subTest(options=options):
                expected = self.losses_of(self.compiled(model, *options, gpu=False), *rows)
                self.agree(self.losses_of(self.compiled(model, *options), *rows, run=self.run_on_gpus), expected)

    def test_a_graph_changes_no_bit(self):
        artifact, fed = self.compiled(GPT, *MESH), data(window=self.text())
        for name, more in (("graph", []), ("launches", ["--no-graph"])):
            self.run_on_gpus(artifact, *fed, "--steps", 3, "--checkpoint", self.folder / name, *more, env=PLAIN)
        self.assertEqual(self.weights(self.folder / "graph"), self.weights(self.folder / "launches"))

    def test_a_run_goes_on_elsewhere(self):
        """Begun by four GPUs, which evaluate too, gone on with by two processors, and by two GPUs."""
        rows = self.digits(64)
        on_gpus = self.run_on_gpus
        held = weirtest.eval_data(images=self.folder / "train-images.idx", labels=self.folder / "train-labels.idx")

        def losses(folder, *legs):
            kept = ["--checkpoint", self.folder / folder]
            first, second, third = (self.compiled(MLP, *mesh, gpu=run is on_gpus, name=f"{i}.weirx") for i, (run, *mesh) in enumerate(legs))
            found = self.losses_of(first, *rows, *kept, *held, "--eval-every", 1, run=legs[0][0], steps=2)
            for i, artifact in ((1, second), (2, third)):
                more = [*kept, "--resume", "--extend"]
                found += self.losses_of(artifact, *rows, *more, run=legs[i][0], steps=2 * (i + 1))[-2:]
            return found

        one = (self.weir_run,)
        self.agree(
            losses("kept", (on_gpus, *MESH), (self.weir_run, "--mesh", "dp=2"), (on_gpus, "--mesh", "tp=2")),
            losses("beside", one, one, one),
        )

    def test_a_mesh_of_one(self):
        """Its collectives have one member, and are there."""
        artifact, rows = self.compiled(MLP, "--mesh", "dp=1"), self.digits(64)
        totals = json.loads(self.weir("inspect", "--sharding", "--json", artifact).stdout)["totals"]
        self.assertGreater(totals["dp"]["times"], 0)
        alone = self.losses_of(self.compiled(MLP, gpu=False, name="b.weirx"), *rows)
        self.agree(self.losses_of(artifact, *rows, run=self.run_on_gpus), alone)

    def test_processes(self):
        """A rank each, as a launcher starts them."""
        artifact, rows = self.compiled(MLP, "--mesh", "dp=2"), self.digits(64)
        expected = self.losses_of(self.compiled(MLP, "--mesh", "dp=2", gpu=False, name="b.weirx"), *rows)
        port = weirtest.free_port()
        metrics = self.folder / "metrics.jsonl"
        metrics.unlink()
        words = [artifact, *rows, "--device", "emulated", "--steps", 4, "--seed", 1, "--metrics", metrics]
        launch = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        processes = [start("weir-run", *words, env=self.names | CHECKED | launch | {"RANK": str(rank)}) for rank in (1, 0)]
        for process in processes:
            _, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, err)
            self.assertNotIn("emulated CUDA:", err)
        self.agree(self.losses(), expected)

    def test_what_goes_wrong_is_found(self):
        """Faults as if the program had them, and a GPU that is lost or late: all ranks end, and it is said of what and where."""
        run = [self.compiled(MLP, *MESH), *self.digits(64), "--device", "emulated", "--steps", 4]
        for failure, status, pattern in (
            ("wait:2", 6, r"emulated CUDA: .*(written|wrote|read)"),
            ("count:2", 6, r"emulated CUDA: member . of 2 in its \w+ number 1: it gets \d+ bytes of member .*error: step 1: rank \d: "),
            ("swap:3", 6, r"emulated CUDA: member . of 2 in its \w+ number 2: (it gets|member)"),
            ("lost:45", 6, r"emulated CUDA: device 1 is lost.*error: step 1: rank 1: .*CUDA_ERROR_LAUNCH_FAILED"),
            ("late:45", 7, r"error: step 1: rank \d was waiting in all_\w+ over \w+ \(\S+mnist-mlp\.weir:\d+\), but not all members arrived within 5 s"),
        ):
            with self.subTest(failure=failure):
                names = self.names | CHECKED | {"WEIR_EMULATED_FAIL": failure}
                patience = ["--collective-timeout", 5] if failure.startswith("late") else []
                self.fails(status, pattern, "weir-run", *run, *patience, env=names, timeout=120)

    def test_what_is_not_to_be_had(self):
        run = [self.compiled(MLP, *MESH), *self.digits(64), "--device", "emulated", "--steps", 1]
        self.fails(6, r"rank \d: this machine shows 1 GPU, and each rank on it needs one of its own, this one number \d: "
                      r"compile for a smaller --mesh", "weir-run", *run, env=self.names | {"WEIR_EMULATED_DEVICES": "1"})  # fmt: skip
        self.fails(2, r"--nan trace supports one device", "weir-run", *run, "--nan", "trace", env=self.names)
        folder = self.folder / "no-nccl"
        shutil.copytree(emulated.LIBRARIES, folder, ignore=shutil.ignore_patterns("libnccl.so.2"))
        self.fails(6, r"NCCL, by which several GPUs train together, cannot be opened .*WEIR_CUDA_LIBRARIES, or compile for one GPU", "weir-run",
                   *run, env=self.names | {"WEIR_EMULATED_CUDA": str(folder)})  # fmt: skip
        self.fails(2, r"--deterministic runs several ranks on each device, but a GPU can run only one yet", "weir", "compile", *MLP,
                   "--deterministic", *MESH, "--target", "cuda:sm_90", "-o", self.folder / "a.weirx")  # fmt: skip


if __name__ == "__main__":
    weirtest.main()
