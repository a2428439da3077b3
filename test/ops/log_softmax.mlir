// RUN: weir-check %s

func.func @three_classes() {
  %x = check.input dense<[[[-0.25, 0.0, 2.0], [3.75, -3.75, -3.0]], [[2.75, 3.75, -2.0], [-1.5, 3.0, -0.75]]]> : tensor<2x2x3xf32>
  %y = weir.log_softmax %x : tensor<2x2x3xf32>
  check.expect %y, dense<[[[-2.4657035, -2.2157035, -0.21570355], [-0.0017224797, -7.5017225, -6.7517225]], [[-1.3155858,
      -0.31558578, -6.0655858], [-4.5340407, -0.034040726, -3.7840407]]]> : tensor<2x2x3xf32>
  return
}

// No rows.
func.func @seventeen_classes() {
  %x = check.input dense<[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0, 4.0, -2.5, 3.25,
      -3.75, 0.5]> : tensor<17xf32>
  %y = weir.log_softmax %x : tensor<17xf32>
  check.expect %y, dense<[-2.1434162, -6.8934162, -8.1434162, -6.6434162, -5.6434162, -2.3934162, -5.3934162, -8.1434162,
      -6.1434162, -4.1434162, -2.3934162, -2.8934162, -0.89341622, -7.3934162, -1.6434162, -8.6434162,
      -4.3934162]> : tensor<17xf32>
  return
}

// One class is certain.
func.func @one_class() {
  %x = check.input dense<[[3.0], [-7.0]]> : tensor<2x1xf32>
  %y = weir.log_softmax %x : tensor<2x1xf32>
  check.expect %y, dense<[[0.0], [0.0]]> : tensor<2x1xf32>
  return
}

// No exponential of what is large is taken, and what is certain to f32 is still far from it.
func.func @large() {
  %x = check.input dense<[[1000.0, 0.0, -1000.0], [-1000.0, -1000.0, -1000.0]]> : tensor<2x3xf32>
  %y = weir.log_softmax %x : tensor<2x3xf32>
  check.expect %y, dense<[[0.0, -1000.0, -2000.0], [-1.0986123, -1.0986123, -1.0986123]]> : tensor<2x3xf32>
  return
}
