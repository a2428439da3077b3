// RUN: weir-check %s

func.func @uniform() {
  %s = check.input dense<1> : tensor<i32>
  %t = check.input dense<2> : tensor<i32>
  %r = check.input dense<0> : tensor<i32>
  %x = weir.random uniform seed %s step %t round %r {key = 42 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x17xf32>
  check.expect %x, dense<[[0.36478692, 0.19198686, 0.4296682, 0.5712024, 0.57574815, 0.47129685,
      0.45370448, 0.53971064, 0.2032612, 0.5872472, 0.17830181, 0.58986986, 0.044955194, 0.69521827,
      0.71081465, 0.09666318, 0.3282051], [0.29942667, 0.17544675, 0.13253301, 0.753386, 0.7732606,
      0.36925858, 0.8609822, 0.62860495, 0.27155215, 0.5111404, 0.9841275, 0.7458595, 0.32858646,
      0.38183266, 0.52530444, 0.5992956, 0.7446108], [0.25276488, 0.2590325, 0.6012903, 0.7433946,
      0.6324527, 0.385167, 0.5285156, 0.367687, 0.4895634, 0.056211233, 0.15619963, 0.9531737,
      0.82975674, 0.3200391, 0.7547348, 0.47134608, 0.7471623]]> : tensor<3x17xf32> exactly
  return
}

func.func @normal() {
  %s = check.input dense<1> : tensor<i32>
  %t = check.input dense<2> : tensor<i32>
  %r = check.input dense<0> : tensor<i32>
  %x = weir.random normal seed %s step %t round %r {key = 42 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<40xf32>
  check.expect %x, dense<[-0.95342255, -1.6974194, 1.082544, 0.15341501, 0.9723298, 0.93264437,
      0.11771158, 0.9655859, -1.1518897, -1.0097255, 1.2447183, -0.069543466, 2.4906342, 0.4757673,
      0.39538172, 1.7093929, -1.485553, 0.7845487, -0.471331, -1.303212, 0.21629342, -0.26546004,
      -0.03270832, 0.39663678, 0.95550144, 1.491775, 0.81504554, 0.16117941, 0.73504937, -1.4897029,
      -1.3659118, 0.30654135, 0.84725064, -0.7642709, 1.5000738, -0.48199657, 0.79587996,
      -0.38522053, 0.1420366, 0.64284635]> : tensor<40xf32>
  return
}

// The first of the known answers that come with Random123: 0x6627e8d5.
func.func @one_element() {
  %s = check.input dense<0> : tensor<i32>
  %t = check.input dense<0> : tensor<i32>
  %r = check.input dense<0> : tensor<i32>
  %x = weir.random uniform seed %s step %t round %r {key = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  check.expect %x, dense<0.39904642> : tensor<f32> exactly
  return
}

// Seed, step and key count as unsigned.
func.func @negative_numbers() {
  %s = check.input dense<-1> : tensor<i32>
  %t = check.input dense<-1> : tensor<i32>
  %r = check.input dense<0> : tensor<i32>
  %x = weir.random uniform seed %s step %t round %r {key = -1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5xf32>
  check.expect %x, dense<[0.23919505, 0.5750506, 0.9456967, 0.28951943,
      0.056078017]> : tensor<5xf32> exactly
  return
}

// Two rounds of five draw what one of ten does.
func.func @rounds_continue() {
  %s = check.input dense<9> : tensor<i32>
  %t = check.input dense<4> : tensor<i32>
  %r0 = check.input dense<0> : tensor<i32>
  %r1 = check.input dense<1> : tensor<i32>
  %x0 = weir.random uniform seed %s step %t round %r0 {key = 7 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5xf32>
  %x1 = weir.random uniform seed %s step %t round %r1 {key = 7 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5xf32>
  check.expect %x0, dense<[0.7073694, 0.2576608, 0.8402122, 0.1432023,
      0.96255445]> : tensor<5xf32> exactly
  check.expect %x1, dense<[0.45776492, 0.11125034, 0.9275008, 0.82785237,
      0.23426217]> : tensor<5xf32> exactly
  return
}

// The element index has 64 bits.
func.func @late_rounds() {
  %s = check.input dense<3> : tensor<i32>
  %t = check.input dense<5> : tensor<i32>
  %r = check.input dense<2147483647> : tensor<i32>
  %x = weir.random uniform seed %s step %t round %r {key = 11 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<9xf32>
  check.expect %x, dense<[0.7067903, 0.29627395, 0.7546187, 0.37302715, 0.20399714, 0.32703537,
      0.9001648, 0.92628866, 0.8011791]> : tensor<9xf32> exactly
  return
}

// So have places in what has more elements than 32 bits count.
func.func @late_places() {
  %s = check.input dense<3> : tensor<i32>
  %t = check.input dense<5> : tensor<i32>
  %r = check.input dense<0> : tensor<i32>
  %p = check.input dense<[2147483639, 2147483640, 2147483641, 2147483642, 2147483643, 2147483644, 2147483645, 2147483646, 2147483647]> : tensor<9xi32>
  %b = check.input dense<4> : tensor<9xi32>
  %x = weir.random uniform seed %s step %t round %r at %p, %b of 34359738368 {block = 4294967296 : i64, key = 11 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<9xi32>, tensor<9xi32>) -> tensor<9xf32>
  check.expect %x, dense<[0.7067903, 0.29627395, 0.7546187, 0.37302715, 0.20399714, 0.32703537,
      0.9001648, 0.92628866, 0.8011791]> : tensor<9xf32> exactly
  return
}

// The words of one draw.
func.func @words() {
  %s = check.input dense<1> : tensor<i32>
  %t = check.input dense<2> : tensor<i32>
  %r = check.input dense<0> : tensor<i32>
  %x0 = weir.random uniform seed %s step %t round %r {key = 42 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5xf32>
  %x1 = weir.random uniform seed %s step %t round %r {key = 42 : i64, word = 1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5xf32>
  %x2 = weir.random uniform seed %s step %t round %r {key = 42 : i64, word = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5xf32>
  %x3 = weir.random uniform seed %s step %t round %r {key = 42 : i64, word = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5xf32>
  check.expect %x0, dense<[0.36478692, 0.19198686, 0.4296682, 0.5712024, 0.57574815]> : tensor<5xf32> exactly
  check.expect %x1, dense<[0.6328587, 0.55801034, 0.90664715, 0.773153, 0.93810517]> : tensor<5xf32> exactly
  check.expect %x2, dense<[0.9080336, 0.96595675, 0.37694478, 0.570567, 0.894268]> : tensor<5xf32> exactly
  check.expect %x3, dense<[0.23782629, 0.14064354, 0.9585784, 0.3557871, 0.85100853]> : tensor<5xf32> exactly
  return
}
