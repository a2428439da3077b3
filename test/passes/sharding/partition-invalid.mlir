// RUN: weir-opt --weir-partition=rank=99 --split-input-file --verify-diagnostics %s

// expected-error @below {{rank 99: expected 0 to 5 on dp=2,tp=3}}
module attributes {weir.mesh = #weir.mesh<dp = 2, tp = 3>} {
}

// -----

// Without a mesh there are no ranks, and nothing is partitioned.
module {
}
