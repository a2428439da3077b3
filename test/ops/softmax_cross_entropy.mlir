// RUN: weir-check %s

func.func @three_classes() {
  %x = check.input dense<[[[-0.25, 0.0, 2.0], [3.75, -3.75, -3.0]], [[2.75, 3.75, -2.0],
      [-1.5, 3.0, -0.75]]]> : tensor<2x2x3xf32>
  %t = check.input dense<[[0, 2], [1, 1]]> : tensor<2x2xi32>
  %l, %z = weir.softmax_cross_entropy %x, %t : tensor<2x2x3xf32>, tensor<2x2xi32> -> tensor<2x2xf32>
  check.expect %l, dense<[[2.4657035, 6.7517223], [0.3155858, 0.034040727]]> : tensor<2x2xf32>
  check.expect %z, dense<[[2.2157035, 3.7517226], [4.0655856, 3.0340407]]> : tensor<2x2xf32>
  return
}

func.func @seventeen_classes() {
  %x = check.input dense<[[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0,
      4.0, -2.5, 3.25, -3.75, 0.5], [-1.75, -2.5, 1.25, -1.5, 0.5, -2.0, -3.0, 2.0, -0.5, 1.5, 1.5,
      3.75, -0.75, -2.25, 1.0, 3.5, 3.75]]> : tensor<2x17xf32>
  %t = check.input dense<[16, 5]> : tensor<2xi32>
  %l, %z = weir.softmax_cross_entropy %x, %t : tensor<2x17xf32>, tensor<2xi32> -> tensor<2xf32>
  check.expect %l, dense<[4.3934164, 6.9713106]> : tensor<2xf32>
  check.expect %z, dense<[4.8934164, 4.9713106]> : tensor<2xf32>
  return
}

// No rows: one label and one loss.
func.func @one_row_of_forty_classes() {
  %x = check.input dense<[2.5, -3.5, -2.75, -2.25, -2.75, 2.5, 3.0, 0.75, -3.75, -3.25, -1.5, -0.5,
      1.0, -0.25, -2.0, -2.75, 1.5, 2.0, -3.75, -3.25, -0.5, -1.0, 3.25, 0.25, -0.75, -0.5, 1.25,
      0.75, -2.75, 2.0, 2.0, 3.75, 2.25, -1.75, -1.5, 1.25, 1.25, 1.5, 3.0, -1.75]> : tensor<40xf32>
  %t = check.input dense<39> : tensor<i32>
  %l, %z = weir.softmax_cross_entropy %x, %t : tensor<40xf32>, tensor<i32> -> tensor<f32>
  check.expect %l, dense<7.033492> : tensor<f32>
  check.expect %z, dense<5.283492> : tensor<f32>
  return
}

// No exponential of what is large is taken.
func.func @large_logits() {
  %x = check.input dense<[[1000.0, 0.0, -1000.0], [-1000.0, -1000.0, -1000.0]]> : tensor<2x3xf32>
  %t = check.input dense<[1, 2]> : tensor<2xi32>
  %l, %z = weir.softmax_cross_entropy %x, %t : tensor<2x3xf32>, tensor<2xi32> -> tensor<2xf32>
  check.expect %l, dense<[1000.0, 1.0986123]> : tensor<2xf32>
  check.expect %z, dense<[1000.0, -998.90137]> : tensor<2xf32>
  return
}

// None is picked.
func.func @a_label_outside_the_classes() {
  %x = check.input dense<[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]> : tensor<3x2xf32>
  %t = check.input dense<[-1, 2, 2147483647]> : tensor<3xi32>
  %l, %z = weir.softmax_cross_entropy %x, %t : tensor<3x2xf32>, tensor<3xi32> -> tensor<3xf32>
  check.expect %l, dense<1.3132617> : tensor<3xf32>
  return
}

// It is certain.
func.func @one_class() {
  %x = check.input dense<[[3.0], [-2.0]]> : tensor<2x1xf32>
  %t = check.input dense<0> : tensor<2xi32>
  %l, %z = weir.softmax_cross_entropy %x, %t : tensor<2x1xf32>, tensor<2xi32> -> tensor<2xf32>
  check.expect %l, dense<0.0> : tensor<2xf32>
  check.expect %z, dense<[3.0, -2.0]> : tensor<2xf32>
  return
}

// A confident row's loss is small, and still has its digits where logits are large.
func.func @confident() {
  %x = check.input dense<[[1000.0, 993.0]]> : tensor<1x2xf32>
  %t = check.input dense<0> : tensor<1xi32>
  %l, %z = weir.softmax_cross_entropy %x, %t : tensor<1x2xf32>, tensor<1xi32> -> tensor<1xf32>
  check.expect %l, dense<9.1146645e-04> : tensor<1xf32> within 2.0e-4
  return
}
