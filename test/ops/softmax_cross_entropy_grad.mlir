// RUN: weir-check %s

func.func @three_classes() {
  %x = check.input dense<[[[-0.25, 0.0, 2.0], [3.75, -3.75, -3.0]], [[2.75, 3.75, -2.0],
      [-1.5, 3.0, -0.75]]]> : tensor<2x2x3xf32>
  %t = check.input dense<[[0, 2], [1, 1]]> : tensor<2x2xi32>
  %z = check.input dense<[[2.2157035, 3.7517226], [4.0655856, 3.0340407]]> : tensor<2x2xf32>
  %g = check.input dense<[[1.75, -1.5], [-2.25, 4.0]]> : tensor<2x2xf32>
  %d = weir.softmax_cross_entropy_grad %x, %t, %z, %g : tensor<2x2x3xf32>, tensor<2x2xi32>, tensor<2x2xf32>
  check.expect %d, dense<[[[-1.6013391, 0.1908843, 1.4104549],
      [-1.4974185, -0.0008281988, 1.4982467]], [[-0.60371345, 0.6089366, -0.005223145],
      [0.04294881, -0.13387144, 0.09092263]]]> : tensor<2x2x3xf32>
  return
}

func.func @seventeen_classes() {
  %x = check.input dense<[[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0,
      4.0, -2.5, 3.25, -3.75, 0.5], [-1.75, -2.5, 1.25, -1.5, 0.5, -2.0, -3.0, 2.0, -0.5, 1.5, 1.5,
      3.75, -0.75, -2.25, 1.0, 3.5, 3.75]]> : tensor<2x17xf32>
  %t = check.input dense<[16, 5]> : tensor<2xi32>
  %z = check.input dense<[4.8934164, 4.9713106]> : tensor<2xf32>
  %g = check.input dense<[1.75, -1.5]> : tensor<2xf32>
  %d = weir.softmax_cross_entropy_grad %x, %t, %z, %g : tensor<2x17xf32>, tensor<2xi32>, tensor<2xf32>
  check.expect %d, dense<[[0.20519379, 0.0017752742, 0.00050862454, 0.002279497, 0.0061963154,
      0.15980509, 0.007956226, 0.00050862454, 0.0037582554, 0.02776996, 0.15980509, 0.09692668,
      0.7161967, 0.0010767581, 0.33830735, 0.00030849638, -1.7283727], [-0.0018074366,
      -0.00085377257, -0.036303334, -0.0023207944, -0.01714848, 1.4985924, -0.0005178392,
      -0.076854154, -0.0063085733, -0.046614405, -0.046614405, -0.44226515, -0.004913122,
      -0.0010962657, -0.028273065, -0.34443644, -0.44226515]]> : tensor<2x17xf32>
  return
}

// No rows: one label and one loss.
func.func @one_row_of_forty_classes() {
  %x = check.input dense<[2.5, -3.5, -2.75, -2.25, -2.75, 2.5, 3.0, 0.75, -3.75, -3.25, -1.5, -0.5,
      1.0, -0.25, -2.0, -2.75, 1.5, 2.0, -3.75, -3.25, -0.5, -1.0, 3.25, 0.25, -0.75, -0.5, 1.25,
      0.75, -2.75, 2.0, 2.0, 3.75, 2.25, -1.75, -1.5, 1.25, 1.25, 1.5, 3.0, -1.75]> : tensor<40xf32>
  %t = check.input dense<39> : tensor<i32>
  %z = check.input dense<5.283492> : tensor<f32>
  %g = check.input dense<1.5> : tensor<f32>
  %d = weir.softmax_cross_entropy_grad %x, %t, %z, %g : tensor<40xf32>, tensor<i32>, tensor<f32>
  check.expect %d, dense<[0.09273338, 0.00022986307, 0.00048662012, 0.0008023009, 0.00048662012,
      0.09273338, 0.1528915, 0.016114645, 0.00017901753, 0.00029515004, 0.0016984711, 0.004616923,
      0.020691615, 0.005928247, 0.0010301748, 0.00048662012, 0.034114704, 0.05624564, 0.00017901753,
      0.00029515004, 0.004616923, 0.0028003054, 0.19631657, 0.009774026, 0.0035956635, 0.004616923,
      0.026568558, 0.016114645, 0.00048662012, 0.05624564, 0.05624564, 0.3236713, 0.07222083,
      0.0013227706, 0.0016984711, 0.026568558, 0.026568558, 0.034114704, 0.1528915,
      -1.4986773]> : tensor<40xf32>
  return
}

// No exponential of what is large is taken.
func.func @large_logits() {
  %x = check.input dense<[[1000.0, 0.0, -1000.0], [-1000.0, -1000.0, -1000.0]]> : tensor<2x3xf32>
  %t = check.input dense<[1, 2]> : tensor<2xi32>
  %z = check.input dense<[1000.0, -998.90137]> : tensor<2xf32>
  %g = check.input dense<[1.75, -1.5]> : tensor<2xf32>
  %d = weir.softmax_cross_entropy_grad %x, %t, %z, %g : tensor<2x3xf32>, tensor<2xi32>, tensor<2xf32>
  check.expect %d, dense<[[1.75, -1.75, 0.0], [-0.5, -0.5, 1.0]]> : tensor<2x3xf32>
  return
}

// It is certain.
func.func @one_class() {
  %x = check.input dense<[[3.0], [-2.0]]> : tensor<2x1xf32>
  %t = check.input dense<0> : tensor<2xi32>
  %z = check.input dense<[3.0, -2.0]> : tensor<2xf32>
  %g = check.input dense<[1.75, -1.5]> : tensor<2xf32>
  %d = weir.softmax_cross_entropy_grad %x, %t, %z, %g : tensor<2x1xf32>, tensor<2xi32>, tensor<2xf32>
  check.expect %d, dense<0.0> : tensor<2x1xf32>
  return
}
