// RUN: weir-check %s

func.func @every_element_type() {
  %f = weir.constant 2.5 : f32 -> tensor<3xf32>
  %i = weir.constant -7 : i32 -> tensor<2x2xi32>
  %u = weir.constant 200 : ui8 -> tensor<2xui8>
  %b = weir.constant true -> tensor<2xi1>
  check.expect %f, dense<2.5> : tensor<3xf32> exactly
  check.expect %i, dense<-7> : tensor<2x2xi32>
  check.expect %u, dense<200> : tensor<2xui8>
  check.expect %b, dense<[true, true]> : tensor<2xi1>
  return
}

func.func @one_element() {
  %f = weir.constant -0.1 : f32 -> tensor<f32>
  %i = weir.constant 3 : i32 -> tensor<1x1xi32>
  check.expect %f, dense<-0.1> : tensor<f32> exactly
  check.expect %i, dense<[[3]]> : tensor<1x1xi32>
  return
}

func.func @special_values() {
  %n = weir.constant 0x7FC00000 : f32 -> tensor<2xf32>
  %i = weir.constant 0xFF800000 : f32 -> tensor<2xf32>
  %l = weir.constant -2147483648 : i32 -> tensor<2xi32>
  %h = weir.constant 2147483647 : i32 -> tensor<2xi32>
  check.expect %n, dense<[0x7FC00000, 0x7FC00000]> : tensor<2xf32>
  check.expect %i, dense<0xFF800000> : tensor<2xf32>
  check.expect %l, dense<-2147483648> : tensor<2xi32>
  check.expect %h, dense<2147483647> : tensor<2xi32>
  return
}

func.func @seventeen_by_five() {
  %c = weir.constant 1.5 : f32 -> tensor<17x5xf32>
  check.expect %c, dense<1.5> : tensor<17x5xf32> exactly
  return
}
