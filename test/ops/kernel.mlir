// RUN: weir-check %s

// What passes make of ops; a program may have them from the start.

func.func @map() {
  %x = check.input dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = check.input dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %r = weir.kernel map(%x, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: tensor<2x3xf32>, %c: tensor<3xf32>):
    %rows = weir.broadcast %c {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<2x3xf32>
    %s = weir.add %a, %rows : tensor<2x3xf32>
    weir.yield %s : tensor<2x3xf32>
  }
  check.expect %r, dense<[[11.0, 22.0, 33.0], [14.0, 25.0, 36.0]]> : tensor<2x3xf32> exactly
  return
}

// Rows with a sum along them that they are divided by, and a sum across them.
func.func @row() {
  %x = check.input dense<[[1.0, 1.0, 2.0], [4.0, 2.0, 2.0]]> : tensor<2x3xf32>
  %shares, %columns = weir.kernel row over #weir.rows<2 x 3>(%x) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  ^bb0(%a: tensor<2x3xf32>):
    %s = weir.reduce sum %a {axes = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
    %all = weir.broadcast %s {dimensions = array<i64: 0>} : tensor<2xf32> -> tensor<2x3xf32>
    %q = weir.div %a, %all : tensor<2x3xf32>
    %t = weir.reduce sum %q {axes = array<i64: 0>} : tensor<2x3xf32> -> tensor<3xf32>
    weir.yield %q, %t : tensor<2x3xf32>, tensor<3xf32>
  }
  check.expect %shares, dense<[[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]> : tensor<2x3xf32>
  check.expect %columns, dense<[0.75, 0.5, 0.75]> : tensor<3xf32>
  return
}

func.func @nest() {
  %x = check.input dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32>
  %r = weir.kernel nest(%x) : (tensor<2x2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2x2xf32>):
    %s = weir.reduce sum %a {axes = array<i64: 1>} : tensor<2x2x2xf32> -> tensor<2x2xf32>
    weir.yield %s : tensor<2x2xf32>
  }
  check.expect %r, dense<[[4.0, 6.0], [12.0, 14.0]]> : tensor<2x2xf32> exactly
  return
}

func.func @product() {
  %a = check.input dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = check.input dense<[[3.0, -4.0], [5.0, -6.0]]> : tensor<2x2xf32>
  %r = weir.kernel product over #weir.epilogue<>(%a, %b) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> {
  ^bb0(%l: tensor<1x2xf32>, %m: tensor<2x2xf32>):
    %p = weir.matmul %l, %m : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
    weir.yield %p : tensor<1x2xf32>
  }
  check.expect %r, dense<[[13.0, -16.0]]> : tensor<1x2xf32> exactly
  return
}

func.func @segment() {
  %x = check.input dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %i = check.input dense<[1, 1, 0]> : tensor<3xi32>
  %r = weir.kernel segment(%x, %i) : (tensor<3x2xf32>, tensor<3xi32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<3x2xf32>, %j: tensor<3xi32>):
    %s = weir.segment_sum %a, %j : tensor<3x2xf32>, tensor<3xi32> -> tensor<2x2xf32>
    weir.yield %s : tensor<2x2xf32>
  }
  check.expect %r, dense<[[5.0, 6.0], [4.0, 6.0]]> : tensor<2x2xf32> exactly
  return
}

// One key gets all attention, so the result is its value.
func.func @attention() {
  %q = check.input dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>
  %v = check.input dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>
  %r = weir.kernel attention(%q, %v) : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  ^bb0(%a: tensor<1x1x1x2xf32>, %b: tensor<1x1x1x2xf32>):
    %o, %z = weir.attention %a, %a, %b {scale = 1.0 : f64} : tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32> -> tensor<1x1x1xf32>
    weir.yield %o : tensor<1x1x1x2xf32>
  }
  check.expect %r, dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>
  return
}

func.func @convolution() {
  %x = check.input dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %w = check.input dense<[[[[1.0, -1.0]]]]> : tensor<1x1x1x2xf32>
  %r = weir.kernel call(%x, %w) : (tensor<1x1x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x2x1xf32> {
  ^bb0(%a: tensor<1x1x2x2xf32>, %b: tensor<1x1x1x2xf32>):
    %c = weir.convolution %a, %b {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x1x2x2xf32>, tensor<1x1x1x2xf32> -> tensor<1x1x2x1xf32>
    weir.yield %c : tensor<1x1x2x1xf32>
  }
  check.expect %r, dense<-1.0> : tensor<1x1x2x1xf32> exactly
  return
}
