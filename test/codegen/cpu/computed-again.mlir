// RUN: weir-check %s

// What fusion computes again has the same bits there: an element equals its own maximum.
func.func @equals_its_maximum() {
  %x = check.input dense<[[0.37, -1.21, 2.43, 0.91, 1.77, -0.63, 0.29, 1.13],
      [1.19, 0.71, -0.47, 2.11, 0.83, 1.61, -1.97, 0.53]]> : tensor<2x8xf32>
  %u = check.input dense<[[1.31, 0.77, -0.59, 1.83, 0.93, -1.43, 0.67, 1.57],
      [0.49, -1.11, 1.73, 0.81, 1.39, 0.97, -0.69, 1.21]]> : tensor<2x8xf32>
  %a = weir.mul %x, %u : tensor<2x8xf32>
  %b = weir.mul %x, %x : tensor<2x8xf32>
  %c = weir.mul %u, %u : tensor<2x8xf32>
  %d = weir.add %b, %c : tensor<2x8xf32>
  %y = weir.div %a, %d : tensor<2x8xf32>
  %z = weir.div %c, %d : tensor<2x8xf32>
  %m = weir.reduce max %y {axes = array<i64: 0>} : tensor<2x8xf32> -> tensor<8xf32>
  %n = weir.reduce max %y {axes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2xf32>
  %mm = weir.broadcast %m {dimensions = array<i64: 1>} : tensor<8xf32> -> tensor<2x8xf32>
  %nn = weir.broadcast %n {dimensions = array<i64: 0>} : tensor<2xf32> -> tensor<2x8xf32>
  %em = weir.compare eq %y, %mm : tensor<2x8xf32> -> tensor<2x8xi1>
  %en = weir.compare eq %y, %nn : tensor<2x8xf32> -> tensor<2x8xi1>
  %fm = weir.cast %em : tensor<2x8xi1> -> tensor<2x8xf32>
  %fn = weir.cast %en : tensor<2x8xi1> -> tensor<2x8xf32>
  %sm = weir.reduce sum %fm {axes = array<i64: 0>} : tensor<2x8xf32> -> tensor<8xf32>
  %sn = weir.reduce sum %fn {axes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2xf32>
  check.expect %sm, dense<1.0> : tensor<8xf32> exactly
  check.expect %sn, dense<1.0> : tensor<2xf32> exactly
  // A second quotient with this divisor: only one of the kernels has both.
  %k = weir.mul %fm, %z : tensor<2x8xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<2x8xf32>
  %l = weir.select %em, %z, %zero : tensor<2x8xi1>, tensor<2x8xf32>
  check.expect_close %k, %l : tensor<2x8xf32>
  return
}

// A column on its own is its own mean.
func.func @less_itself() {
  %x = check.input dense<[[0.37], [-1.21], [2.43], [0.91], [1.77]]> : tensor<5x1xf32>
  %w = check.input dense<1.371> : tensor<5x1xf32>
  %y = weir.mul %x, %w : tensor<5x1xf32>
  %n, %mean, %rstd = weir.normalize %y {eps = 1.0e-05 : f64} : tensor<5x1xf32> -> tensor<5xf32>
  check.expect %n, dense<0.0> : tensor<5x1xf32> exactly
  return
}
