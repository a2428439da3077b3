// RUN: weir-opt %s | weir-opt | FileCheck %s

weir.variable parameter @w : tensor<2xf32>

// CHECK-LABEL: @every_op
// CHECK-SAME: check.unsupported = {cpu = "a reason"}
func.func @every_op() attributes {check.unsupported = {cpu = "a reason"}} {
  // CHECK: check.set @w, dense<1.000000e+00> : tensor<2xf32>
  check.set @w, dense<1.0> : tensor<2xf32>
  // CHECK: %[[X:.*]] = check.input dense<[1.000000e+00, 0x7FC00000]> : tensor<2xf32>
  %x = check.input dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  // CHECK: %[[B:.*]] = check.input dense<[true, false]> : tensor<2xi1>
  %b = check.input dense<[true, false]> : tensor<2xi1>
  // CHECK: check.expect %[[X]], dense<[1.000000e+00, 0x7FC00000]> : tensor<2xf32>{{$}}
  check.expect %x, dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  // CHECK: check.expect %[[X]], dense<2.000000e+00> : tensor<2xf32> within 1.000000e-03{{$}}
  check.expect %x, dense<2.0> : tensor<2xf32> within 1.0e-3
  // CHECK: check.expect %[[X]], dense<2.000000e+00> : tensor<2xf32> within 1.000000e-03 each
  check.expect %x, dense<2.0> : tensor<2xf32> within 1.0e-3 each
  // CHECK: check.expect %[[X]], dense<2.000000e+00> : tensor<2xf32> exactly
  check.expect %x, dense<2.0> : tensor<2xf32> exactly
  // CHECK: check.expect %[[B]], dense<true> : tensor<2xi1>
  check.expect %b, dense<true> : tensor<2xi1>
  // CHECK: check.expect_close %[[X]], %[[X]] within 1.000000e-03 each : tensor<2xf32>
  check.expect_close %x, %x within 1.0e-3 each : tensor<2xf32>
  // CHECK: check.expect_variable @w, dense<1.000000e+00> : tensor<2xf32> exactly
  check.expect_variable @w, dense<1.0> : tensor<2xf32> exactly
  return
}
