func.func @given(%x: tensor<2xf32>) {
  check.expect %x, dense<1.0> : tensor<2xf32>
  return
}
