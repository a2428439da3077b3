// RUN: weir-check %s

weir.variable parameter @w : tensor<3xf32>
weir.variable parameter @v : tensor<3xf32>

// A read gives the value from before the entry, also after a write.
func.func @after_a_write() {
  check.set @w, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %x = check.input dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %before = weir.read @w : tensor<3xf32>
  %sum = weir.add %before, %x : tensor<3xf32>
  weir.write @w, %sum : tensor<3xf32>
  %after = weir.read @w : tensor<3xf32>
  %difference = weir.sub %sum, %after : tensor<3xf32>
  check.expect %after, dense<[1.0, 2.0, 3.0]> : tensor<3xf32> exactly
  check.expect %difference, dense<[10.0, 20.0, 30.0]> : tensor<3xf32> exactly
  check.expect_variable @w, dense<[11.0, 22.0, 33.0]> : tensor<3xf32> exactly
  return
}

// The old value of each is the new one of the other.
func.func @two_variables_change_places() {
  check.set @w, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  check.set @v, dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
  %w = weir.read @w : tensor<3xf32>
  %v = weir.read @v : tensor<3xf32>
  weir.write @w, %v : tensor<3xf32>
  weir.write @v, %w : tensor<3xf32>
  %sum = weir.add %w, %v : tensor<3xf32>
  check.expect %sum, dense<[5.0, 7.0, 9.0]> : tensor<3xf32> exactly
  check.expect_variable @w, dense<[4.0, 5.0, 6.0]> : tensor<3xf32> exactly
  check.expect_variable @v, dense<[1.0, 2.0, 3.0]> : tensor<3xf32> exactly
  return
}

// The matrix product needs the old value after the update was computed.
func.func @the_old_value_is_needed_late() {
  check.set @w, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = weir.read @w : tensor<3xf32>
  %double = weir.add %w, %w : tensor<3xf32>
  weir.write @w, %double : tensor<3xf32>
  %row = weir.split_dim %double {dimension = 0 : i64, sizes = array<i64: 1, 3>} : tensor<3xf32> -> tensor<1x3xf32>
  %column = weir.split_dim %w {dimension = 0 : i64, sizes = array<i64: 3, 1>} : tensor<3xf32> -> tensor<3x1xf32>
  %r = weir.matmul %row, %column : tensor<1x3xf32>, tensor<3x1xf32> -> tensor<1x1xf32>
  check.expect %r, dense<28.0> : tensor<1x1xf32> exactly
  check.expect_variable @w, dense<[2.0, 4.0, 6.0]> : tensor<3xf32> exactly
  return
}
