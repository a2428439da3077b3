// RUN: weir-opt %s --weir-compile-kernels --split-input-file --verify-diagnostics

// What is compiled is what the plan says: a kernel of one launch, one task and no workspace.

// expected-error @below {{is planned for x86-64-v4, but its kernels are to be compiled for x86-64-v3}}
module attributes {plan.target = "x86-64-v4"} {
  plan.kernel map @other_target attributes {parts = [#plan.part<"" : 1>], takes = [#plan.operand<read 32>, #plan.operand<write 32>], thread_scratch = 0 : i64, flops = 8 : i64, bytes = 64 : i64} {
  ^bb0(%x: tensor<8xf32>):
    %y = weir.kernel map(%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      %e = weir.exp %a : tensor<8xf32>
      weir.yield %e : tensor<8xf32>
    }
  }
}

// -----

// expected-error @below {{is planned for no target (plan.target), but its kernels are to be compiled for x86-64-v3}}
module {
  plan.kernel map @no_target attributes {parts = [#plan.part<"" : 1>], takes = [#plan.operand<read 32>, #plan.operand<write 32>], thread_scratch = 0 : i64, flops = 8 : i64, bytes = 64 : i64} {
  ^bb0(%x: tensor<8xf32>):
    %y = weir.kernel map(%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      %e = weir.exp %a : tensor<8xf32>
      weir.yield %e : tensor<8xf32>
    }
  }
}

// -----

module attributes {plan.target = "x86-64-v3"} {
  // expected-error @below {{has parts [#plan.part<"" : 2>], but its code for x86-64-v3 needs [#plan.part<"" : 1>]}}
  plan.kernel map @other_tasks attributes {parts = [#plan.part<"" : 2>], takes = [#plan.operand<read 32>, #plan.operand<write 32>], thread_scratch = 0 : i64, flops = 8 : i64, bytes = 64 : i64} {
  ^bb0(%x: tensor<8xf32>):
    %y = weir.kernel map(%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      %e = weir.exp %a : tensor<8xf32>
      weir.yield %e : tensor<8xf32>
    }
  }
}

// -----

module attributes {plan.target = "x86-64-v3"} {
  // expected-error @below {{has parts [#plan.part<"_other" : 1>], but its code for x86-64-v3 needs [#plan.part<"" : 1>]}}
  plan.kernel map @other_suffix attributes {parts = [#plan.part<"_other" : 1>], takes = [#plan.operand<read 32>, #plan.operand<write 32>], thread_scratch = 0 : i64, flops = 8 : i64, bytes = 64 : i64} {
  ^bb0(%x: tensor<8xf32>):
    %y = weir.kernel map(%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      %e = weir.exp %a : tensor<8xf32>
      weir.yield %e : tensor<8xf32>
    }
  }
}

// -----

module attributes {plan.target = "x86-64-v3"} {
  // expected-error @below {{has operands [#plan.operand<read 32>, #plan.operand<write 32>, #plan.operand<write 64>], but its code for x86-64-v3 needs [#plan.operand<read 32>, #plan.operand<write 32>]}}
  plan.kernel map @other_workspace attributes {parts = [#plan.part<"" : 1>], takes = [#plan.operand<read 32>, #plan.operand<write 32>, #plan.operand<write 64>], thread_scratch = 0 : i64, flops = 8 : i64, bytes = 64 : i64} {
  ^bb0(%x: tensor<8xf32>):
    %y = weir.kernel map(%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      %e = weir.exp %a : tensor<8xf32>
      weir.yield %e : tensor<8xf32>
    }
  }
}

// -----

module attributes {plan.target = "x86-64-v3"} {
  // expected-error @below {{has scratch per thread 64 : i64, but its code for x86-64-v3 needs 0 : i64}}
  plan.kernel map @other_scratch attributes {parts = [#plan.part<"" : 1>], takes = [#plan.operand<read 32>, #plan.operand<write 32>], thread_scratch = 64 : i64, flops = 8 : i64, bytes = 64 : i64} {
  ^bb0(%x: tensor<8xf32>):
    %y = weir.kernel map(%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      %e = weir.exp %a : tensor<8xf32>
      weir.yield %e : tensor<8xf32>
    }
  }
}
