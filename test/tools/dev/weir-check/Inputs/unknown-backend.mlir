func.func @f() attributes {check.unsupported = {abacus = "no beads"}} {
  %x = check.input dense<1.0> : tensor<2xf32>
  check.expect %x, dense<1.0> : tensor<2xf32>
  return
}
