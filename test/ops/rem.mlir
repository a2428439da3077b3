// RUN: weir-check %s

func.func @one_element() {
  %a = check.input dense<-7> : tensor<i32>
  %b = check.input dense<3> : tensor<i32>
  %r = weir.rem %a, %b : tensor<i32>
  check.expect %r, dense<-1> : tensor<i32>
  return
}

// The sign is that of a; by 0 it is 0, as is the lowest by -1.
func.func @signs_zeros_and_limits() {
  %a = check.input dense<[7, -7, 7, -7, 5, 0, -5, -2147483648, -2147483648, 2147483647, -2147483648,
      6, 1, -1, 2, 100, -100]> : tensor<17xi32>
  %b = check.input dense<[2, 2, -2, -2, 0, 0, 0, -1, 1, -1, -2147483648, -2147483648, 7, 7, 3, -7,
      -7]> : tensor<17xi32>
  %r = weir.rem %a, %b : tensor<17xi32>
  check.expect %r, dense<[1, -1, 1, -1, 0, 0, 0, 0, 0, 0, 0, 6, 1, -1, 2, 2, -2]> : tensor<17xi32>
  return
}

func.func @forty_elements() {
  %a = check.input dense<[[219, -174, -266, 487, -324, -182, 142, 288],
      [139, 369, -452, -109, 73, -63, -112, -128], [-460, -394, 42, -22, 458, -259, 348, -243],
      [-358, -316, -103, -307, 395, 313, 304, -78],
      [-470, -245, -55, 90, -51, 104, -122, 146]]> : tensor<5x8xi32>
  %b = check.input dense<[[-1, 7, 9, -4, -7, 2, 3, 5], [3, 4, 8, 8, 8, 7, 4, 8],
      [-9, -9, 6, -1, 5, 0, 8, -8], [3, -9, -7, 6, -4, 9, -3, 5],
      [9, -4, 9, 4, 9, -4, 0, 5]]> : tensor<5x8xi32>
  %r = weir.rem %a, %b : tensor<5x8xi32>
  check.expect %r, dense<[[0, -6, -5, 3, -2, 0, 1, 3], [1, 1, -4, -5, 1, 0, 0, 0],
      [-1, -7, 0, 0, 3, 0, 4, -3], [-1, -1, -5, -1, 3, 7, 1, -3],
      [-2, -1, -1, 2, -6, 0, 0, 1]]> : tensor<5x8xi32>
  return
}

func.func @by_constants() {
  %x = check.input dense<[7, -7, 0, -2147483648]> : tensor<4xi32>
  %c0 = weir.constant 0 : i32 -> tensor<4xi32>
  %c1 = weir.constant 1 : i32 -> tensor<4xi32>
  %c2 = weir.constant -1 : i32 -> tensor<4xi32>
  %c3 = weir.constant 2 : i32 -> tensor<4xi32>
  %r0 = weir.rem %x, %c0 : tensor<4xi32>
  %r1 = weir.rem %x, %c1 : tensor<4xi32>
  %r2 = weir.rem %x, %c2 : tensor<4xi32>
  %r3 = weir.rem %x, %c3 : tensor<4xi32>
  check.expect %r0, dense<0> : tensor<4xi32>
  check.expect %r1, dense<0> : tensor<4xi32>
  check.expect %r2, dense<0> : tensor<4xi32>
  check.expect %r3, dense<[1, -1, 0, 0]> : tensor<4xi32>
  return
}
