// RUN: weir-check %s

weir.variable parameter @w : tensor<17xf32>
weir.variable parameter @v : tensor<17xf32>
weir.variable state @n : tensor<2xi32>
weir.variable state @b : tensor<3xi1>
weir.variable state @u : tensor<2xui8>

func.func @an_input() {
  check.set @w, dense<0.0> : tensor<17xf32>
  %x = check.input dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5,
      15.5, 16.5]> : tensor<17xf32>
  weir.write @w, %x : tensor<17xf32>
  check.expect_variable @w, dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5,
      13.5, 14.5, 15.5, 16.5]> : tensor<17xf32> exactly
  return
}

func.func @every_element_type() {
  %i = check.input dense<[-2147483648, 5]> : tensor<2xi32>
  %b = check.input dense<[true, false, true]> : tensor<3xi1>
  %u = check.input dense<[0, 200]> : tensor<2xui8>
  %not = weir.not %b : tensor<3xi1>
  weir.write @n, %i : tensor<2xi32>
  weir.write @b, %not : tensor<3xi1>
  weir.write @u, %u : tensor<2xui8>
  check.expect_variable @n, dense<[-2147483648, 5]> : tensor<2xi32>
  check.expect_variable @b, dense<[false, true, false]> : tensor<3xi1>
  check.expect_variable @u, dense<[0, 200]> : tensor<2xui8>
  return
}

// One value goes to two variables and out, and one of them is read as well.
func.func @one_value_in_two_places() {
  check.set @w, dense<2.0> : tensor<17xf32>
  check.set @v, dense<3.0> : tensor<17xf32>
  %w = weir.read @w : tensor<17xf32>
  %v = weir.read @v : tensor<17xf32>
  %p = weir.mul %w, %v : tensor<17xf32>
  weir.write @w, %p : tensor<17xf32>
  weir.write @v, %p : tensor<17xf32>
  check.expect %p, dense<6.0> : tensor<17xf32> exactly
  check.expect_variable @w, dense<6.0> : tensor<17xf32> exactly
  check.expect_variable @v, dense<6.0> : tensor<17xf32> exactly
  return
}

// A skipped step: every next state is the old one where the flag says so.
func.func @chosen_by_a_flag() {
  check.set @w, dense<1.0> : tensor<17xf32>
  %skip = check.input dense<true> : tensor<i1>
  %w = weir.read @w : tensor<17xf32>
  %none = weir.sub %w, %w : tensor<17xf32>
  %nan = weir.div %none, %none : tensor<17xf32>
  %all = weir.broadcast %skip {dimensions = array<i64>} : tensor<i1> -> tensor<17xi1>
  %next = weir.select %all, %w, %nan : tensor<17xi1>, tensor<17xf32>
  weir.write @w, %next : tensor<17xf32>
  check.expect_variable @w, dense<1.0> : tensor<17xf32> exactly
  return
}

// The same in one: variables of any type stay as they were, and what is written is as the entry began.
func.func @under_a_condition_that_does_not_hold() {
  check.set @w, dense<1.0> : tensor<17xf32>
  check.set @n, dense<[3, 4]> : tensor<2xi32>
  %goes = check.input dense<false> : tensor<i1>
  %w = weir.read @w : tensor<17xf32>
  %next = weir.add %w, %w : tensor<17xf32>
  %n = check.input dense<[5, 6]> : tensor<2xi32>
  weir.write @w, %next if %goes : tensor<17xf32>
  weir.write @n, %n if %goes : tensor<2xi32>
  check.expect_variable @w, dense<1.0> : tensor<17xf32> exactly
  check.expect_variable @n, dense<[3, 4]> : tensor<2xi32>
  return
}

func.func @under_a_condition_that_holds() {
  check.set @w, dense<1.0> : tensor<17xf32>
  check.set @v, dense<1.0> : tensor<17xf32>
  %w = weir.read @w : tensor<17xf32>
  %next = weir.add %w, %w : tensor<17xf32>
  %all = weir.all_finite %next : tensor<17xf32>
  weir.write @w, %next if %all : tensor<17xf32>
  weir.write @v, %next if %all : tensor<17xf32>
  check.expect_variable @w, dense<2.0> : tensor<17xf32> exactly
  check.expect_variable @v, dense<2.0> : tensor<17xf32> exactly
  return
}

func.func @of_a_constant() {
  %ones = weir.constant 1.0 : f32 -> tensor<17xf32>
  weir.write @w, %ones : tensor<17xf32>
  check.expect_variable @w, dense<1.0> : tensor<17xf32> exactly
  return
}
