// RUN: weir-check %s

func.func @one_head() {
  %q = check.input dense<[[[[-1.5, -0.75], [-0.5, -2.0], [2.0, -2.0]]]]> : tensor<1x1x3x2xf32>
  %k = check.input dense<[[[[-0.25, -0.5], [1.0, 1.25], [0.0, 0.75]]]]> : tensor<1x1x3x2xf32>
  %v = check.input dense<[[[[-0.25, 0.5], [0.25, 1.0], [1.25, 1.25]]]]> : tensor<1x1x3x2xf32>
  %o, %z = weir.attention %q, %k, %v {scale = 0.5 : f64} : tensor<1x1x3x2xf32>, tensor<1x1x3x2xf32> -> tensor<1x1x3xf32>
  check.expect %o, dense<[[[[0.26091385, 0.7849528], [0.08466546, 0.690096],
      [0.18308353, 0.79334074]]]]> : tensor<1x1x3x2xf32>
  check.expect %z, dense<[[[0.91846055, 0.8963131, 0.93026966]]]> : tensor<1x1x3xf32>
  return
}

func.func @causal() {
  %q = check.input dense<[[[[0.5, -0.5], [-0.75, 1.0], [-0.75, -0.75]], [[-2.0, 2.0], [1.5, 1.0],
      [0.5, -0.25]]]]> : tensor<1x2x3x2xf32>
  %k = check.input dense<[[[[2.0, -1.0], [0.0, 0.0], [0.0, 1.0]], [[-0.5, 0.5], [0.5, -1.25],
      [-2.0, -2.0]]]]> : tensor<1x2x3x2xf32>
  %v = check.input dense<[[[[2.0, 1.5], [0.5, -2.0], [-0.5, -1.25]], [[-1.75, -1.75], [-0.25, 1.0],
      [0.5, -0.75]]]]> : tensor<1x2x3x2xf32>
  %o, %z = weir.attention %q, %k, %v {causal, scale = 0.75 : f64} : tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32> -> tensor<1x2x3xf32>
  check.expect %o, dense<[[[[2.0, 1.5], [0.6994464, -1.5346252], [0.63315386, -0.86819226]],
      [[-1.75, -1.75], [-1.0701072, -0.5035299],
      [-0.45788795, -0.10502998]]]]> : tensor<1x2x3x2xf32>
  check.expect %z, dense<[[[1.125, 0.14267506, 0.76060283],
      [1.5, 0.41628528, 1.0875334]]]> : tensor<1x2x3xf32>
  return
}

// The last query sees all keys.
func.func @more_keys_than_queries() {
  %q = check.input dense<[[[[1.75, 1.0, -2.0, -2.0],
      [0.75, -2.0, -0.25, 0.5]]]]> : tensor<1x1x2x4xf32>
  %k = check.input dense<[[[[-2.0, -0.25, -2.0, -1.25], [0.75, 1.75, -0.5, 0.5],
      [-1.25, -0.25, 0.0, 0.0], [-1.0, -0.25, 1.25, -1.75],
      [0.25, -1.0, 1.75, -2.0]]]]> : tensor<1x1x5x4xf32>
  %v = check.input dense<[[[[1.0, 2.0, 0.75, 1.5], [1.75, -1.25, 2.0, 2.0], [0.75, -0.5, 1.5, 1.75],
      [0.25, -1.25, -2.0, -0.75], [-1.0, 2.0, 0.25, -1.5]]]]> : tensor<1x1x5x4xf32>
  %o, %z = weir.attention %q, %k, %v {causal, scale = 0.5 : f64} : tensor<1x1x2x4xf32>, tensor<1x1x5x4xf32> -> tensor<1x1x2xf32>
  check.expect %o, dense<[[[[1.3100008, 0.12912439, 1.2070835, 1.6077065],
      [0.090509206, 0.7490155, 0.43887392, 0.07464091]]]]> : tensor<1x1x2x4xf32>
  check.expect %z, dense<[[[2.2493067, 1.2790843]]]> : tensor<1x1x2xf32>
  return
}

// It gets all attention.
func.func @one_key() {
  %q = check.input dense<[[[[0.75, -0.5, -1.75]]], [[[0.75, -1.25, 0.0]]]]> : tensor<2x1x1x3xf32>
  %k = check.input dense<[[[[1.0, -1.0, -0.5]]], [[[1.75, -1.75, 1.25]]]]> : tensor<2x1x1x3xf32>
  %v = check.input dense<[[[[-0.25, 0.5, 2.0]]], [[[-1.75, 0.0, -0.75]]]]> : tensor<2x1x1x3xf32>
  %o, %z = weir.attention %q, %k, %v {scale = 1.0 : f64} : tensor<2x1x1x3xf32>, tensor<2x1x1x3xf32> -> tensor<2x1x1xf32>
  check.expect %o, dense<[[[[-0.25, 0.5, 2.0]]], [[[-1.75, 0.0, -0.75]]]]> : tensor<2x1x1x3xf32>
  check.expect %z, dense<[[[2.125]], [[3.5]]]> : tensor<2x1x1xf32>
  return
}

func.func @seventeen_tokens() {
  %q = check.input dense<[[[[1.25, 1.5], [-1.5, 0.5], [-1.75, -1.0], [-0.25, -2.0], [0.25, 2.0],
      [2.0, 0.5], [-0.25, 1.25], [1.75, 1.75], [-2.0, 0.75], [1.0, -1.25], [0.0, 2.0], [0.75, -1.0],
      [-0.75, 0.5], [-1.5, 0.25], [0.25, 0.5], [1.25, 0.25], [1.0, 2.0]]]]> : tensor<1x1x17x2xf32>
  %k = check.input dense<[[[[-0.75, 2.0], [0.75, -0.5], [-1.5, 1.25], [-0.5, 0.5], [0.5, -0.75],
      [-0.5, 1.75], [1.25, 1.5], [-1.5, -0.5], [-1.75, 2.0], [0.75, -1.25], [1.25, 1.25],
      [-0.75, 0.75], [-1.75, 0.0], [0.25, -2.0], [1.0, 1.75], [1.0, 0.25],
      [2.0, -0.5]]]]> : tensor<1x1x17x2xf32>
  %v = check.input dense<[[[[-0.25, -1.5], [0.25, 0.25], [-1.0, 1.5], [-1.0, -0.75], [-1.75, 0.75],
      [0.5, -0.25], [-0.75, 1.75], [1.25, 0.25], [0.5, 2.0], [-2.0, -1.0], [-1.5, -1.75],
      [-0.25, -0.75], [1.5, 1.25], [2.0, 0.25], [-0.25, 1.75], [0.75, 2.0],
      [0.25, 1.75]]]]> : tensor<1x1x17x2xf32>
  %o, %z = weir.attention %q, %k, %v {causal, scale = 0.5 : f64} : tensor<1x1x17x2xf32>, tensor<1x1x17x2xf32> -> tensor<1x1x17xf32>
  check.expect %o, dense<[[[[-0.25, -1.5], [-0.1759764, -1.2409174], [-0.59437746, 0.6200924],
      [-0.24728917, 0.07061162], [-0.5541519, -0.5161826], [-0.44439316, 0.0052379672],
      [-0.4098824, 0.051304854], [-0.4862452, 0.73971355], [0.028574217, 0.83231884],
      [-0.9876723, 0.007548173], [-0.26676783, 0.23474848], [-0.89161104, -0.119692445],
      [-0.07432883, 0.35509178], [0.17866659, 0.5505059], [-0.2927069, 0.2755639],
      [-0.39688468, 0.40345788], [-0.36719307, 0.53600323]]]]> : tensor<1x1x17x2xf32>
  check.expect %z, dense<[[[1.03125, 1.2227242, 1.2131269, 0.971178, 2.5127823, 1.7826464,
      2.6768513, 3.048729, 3.528134, 2.2984886, 3.5727878, 2.3567412, 2.9827518, 3.2482736,
      2.859177, 2.9567208, 3.8699052]]]> : tensor<1x1x17xf32>
  return
}

// No exponential of what is large is taken.
func.func @large_scores() {
  %q = check.input dense<[[[[1000.0, 0.0], [0.0, 1000.0]]]]> : tensor<1x1x2x2xf32>
  %v = check.input dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %o, %z = weir.attention %q, %q, %v {scale = 1.0 : f64} : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32> -> tensor<1x1x2xf32>
  check.expect %o, dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32> exactly
  check.expect %z, dense<1000000.0> : tensor<1x1x2xf32>
  return
}

// At sizes that straddle tiles and vectors.
func.func @as_products() {
  %n = check.input dense<3> : tensor<i32>
  %q = weir.random normal seed %n step %n round %n {key = 1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x33x8xf32>
  %k = weir.random normal seed %n step %n round %n {key = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x40x8xf32>
  %v = weir.random normal seed %n step %n round %n {key = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x40x8xf32>
  %o, %z = weir.attention %q, %k, %v {scale = 0.5 : f64} : tensor<2x2x33x8xf32>, tensor<2x2x40x8xf32> -> tensor<2x2x33xf32>
  %s = weir.matmul %q, %k {transpose_rhs} : tensor<2x2x33x8xf32>, tensor<2x2x40x8xf32> -> tensor<2x2x33x40xf32>
  %half = weir.constant 0.5 : f32 -> tensor<2x2x33x40xf32>
  %c = weir.mul %s, %half : tensor<2x2x33x40xf32>
  %e = weir.exp %c : tensor<2x2x33x40xf32>
  %t = weir.reduce sum %e {axes = array<i64: 3>} : tensor<2x2x33x40xf32> -> tensor<2x2x33xf32>
  %ts = weir.broadcast %t {dimensions = array<i64: 0, 1, 2>} : tensor<2x2x33xf32> -> tensor<2x2x33x40xf32>
  %p = weir.div %e, %ts : tensor<2x2x33x40xf32>
  %r = weir.matmul %p, %v : tensor<2x2x33x40xf32>, tensor<2x2x40x8xf32> -> tensor<2x2x33x8xf32>
  %l = weir.log %t : tensor<2x2x33xf32>
  check.expect_close %o, %r : tensor<2x2x33x8xf32>
  check.expect_close %z, %l : tensor<2x2x33xf32>
  return
}

// Read and written as bf16, heads apart and together on the way.
func.func @low() {
  %x = check.input dense<[[[-1.5, -0.75, -0.25, -0.5, -0.25, 0.5], [-0.5, -2.0, 1.0, 1.25, 0.25, 1.0],
      [2.0, -2.0, 0.0, 0.75, 1.25, 1.25]]]> : tensor<1x3x6xf32>
  %n = weir.cast %x : tensor<1x3x6xf32> -> tensor<1x3x6xbf16>
  %w = weir.cast %n : tensor<1x3x6xbf16> -> tensor<1x3x6xf32>
  %q0 = weir.slice %w {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : tensor<1x3x6xf32> -> tensor<1x3x2xf32>
  %k0 = weir.slice %w {offsets = array<i64: 0, 0, 2>, strides = array<i64: 1, 1, 1>} : tensor<1x3x6xf32> -> tensor<1x3x2xf32>
  %v0 = weir.slice %w {offsets = array<i64: 0, 0, 4>, strides = array<i64: 1, 1, 1>} : tensor<1x3x6xf32> -> tensor<1x3x2xf32>
  %q1 = weir.split_dim %q0 {dimension = 2 : i64, sizes = array<i64: 1, 2>} : tensor<1x3x2xf32> -> tensor<1x3x1x2xf32>
  %k1 = weir.split_dim %k0 {dimension = 2 : i64, sizes = array<i64: 1, 2>} : tensor<1x3x2xf32> -> tensor<1x3x1x2xf32>
  %v1 = weir.split_dim %v0 {dimension = 2 : i64, sizes = array<i64: 1, 2>} : tensor<1x3x2xf32> -> tensor<1x3x1x2xf32>
  %q = weir.transpose %q1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<1x3x1x2xf32> -> tensor<1x1x3x2xf32>
  %k = weir.transpose %k1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<1x3x1x2xf32> -> tensor<1x1x3x2xf32>
  %v = weir.transpose %v1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<1x3x1x2xf32> -> tensor<1x1x3x2xf32>
  %o, %z = weir.attention %q, %k, %v {scale = 0.5 : f64} : tensor<1x1x3x2xf32>, tensor<1x1x3x2xf32> -> tensor<1x1x3xf32>
  %t = weir.transpose %o {permutation = array<i64: 0, 2, 1, 3>} : tensor<1x1x3x2xf32> -> tensor<1x3x1x2xf32>
  %m = weir.merge_dims %t {first = 2 : i64, count = 2 : i64} : tensor<1x3x1x2xf32> -> tensor<1x3x2xf32>
  %l = weir.cast %m : tensor<1x3x2xf32> -> tensor<1x3x2xbf16>
  %r = weir.cast %l : tensor<1x3x2xbf16> -> tensor<1x3x2xf32>
  check.expect %r, dense<[[[0.26171875, 0.78515625], [0.08447265625, 0.69140625], [0.1826171875, 0.79296875]]]> : tensor<1x3x2xf32> exactly
  check.expect %z, dense<[[[0.91846055, 0.8963131, 0.93026966]]]> : tensor<1x1x3xf32>
  return
}
