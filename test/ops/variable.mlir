// RUN: weir-check %s

// A variable keeps its value from before an entry to after it, unless the entry writes another.

weir.variable parameter @w : tensor<3xf32>
weir.variable state @mask : tensor<2x2xi1>
weir.variable optimizer @"adamw.m/h.0.weight" : tensor<17xf32>
weir.variable run @"run/step" : tensor<i32>

func.func @every_role_is_read() {
  check.set @w, dense<[1.0, -2.0, 0x7FC00000]> : tensor<3xf32>
  check.set @mask, dense<[[true, false], [false, true]]> : tensor<2x2xi1>
  check.set @"adamw.m/h.0.weight", dense<0.5> : tensor<17xf32>
  check.set @"run/step", dense<2147483647> : tensor<i32>
  %w = weir.read @w : tensor<3xf32>
  %mask = weir.read @mask : tensor<2x2xi1>
  %m = weir.read @"adamw.m/h.0.weight" : tensor<17xf32>
  %step = weir.read @"run/step" : tensor<i32>
  check.expect %w, dense<[1.0, -2.0, 0x7FC00000]> : tensor<3xf32> exactly
  check.expect %mask, dense<[[true, false], [false, true]]> : tensor<2x2xi1>
  check.expect %m, dense<0.5> : tensor<17xf32> exactly
  check.expect %step, dense<2147483647> : tensor<i32>
  return
}

func.func @what_is_not_written_stays() {
  check.set @w, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  check.set @"run/step", dense<7> : tensor<i32>
  %step = weir.read @"run/step" : tensor<i32>
  %one = weir.constant 1 : i32 -> tensor<i32>
  %next = weir.add %step, %one : tensor<i32>
  weir.write @"run/step", %next : tensor<i32>
  check.expect_variable @w, dense<[1.0, 2.0, 3.0]> : tensor<3xf32> exactly
  check.expect_variable @"run/step", dense<8> : tensor<i32>
  return
}
