// RUN: weir-check %s

func.func @one_head() {
  %q = check.input dense<[[[[-1.5, -0.75], [-0.5, -2.0], [2.0, -2.0]]]]> : tensor<1x1x3x2xf32>
  %k = check.input dense<[[[[-0.25, -0.5], [1.0, 1.25], [0.0, 0.75]]]]> : tensor<1x1x3x2xf32>
  %v = check.input dense<[[[[-0.25, 0.5], [0.25, 1.0], [1.25, 1.25]]]]> : tensor<1x1x3x2xf32>
  %o = check.input dense<[[[[0.26091385, 0.7849528], [0.08466546, 0.690096],
      [0.18308353, 0.79334074]]]]> : tensor<1x1x3x2xf32>
  %z = check.input dense<[[[0.91846055, 0.8963131, 0.93026966]]]> : tensor<1x1x3xf32>
  %g = check.input dense<[[[[-0.25, 0.25], [1.75, 2.0], [1.75, -1.25]]]]> : tensor<1x1x3x2xf32>
  %dq, %dk, %dv = weir.attention_grad %q, %k, %v, %o, %z, %g {scale = 0.5 : f64} : tensor<1x1x3x2xf32>, tensor<1x1x3x2xf32>, tensor<1x1x3xf32>
  check.expect %dq, dense<[[[[-0.0007682756, -0.018837444], [0.12785695, 0.45302916],
      [0.003077033, 0.1129953]]]]> : tensor<1x1x3x2xf32>
  check.expect %dk, dense<[[[[-0.04981616, 0.8775777], [-0.06907604, -0.04189734],
      [0.1188922, -0.83568037]]]]> : tensor<1x1x3x2xf32>
  check.expect %dv, dense<[[[[1.9944853, 0.9444586], [0.66743976, -0.17239289],
      [0.5880749, 0.22793429]]]]> : tensor<1x1x3x2xf32>
  return
}

func.func @causal() {
  %q = check.input dense<[[[[0.5, -0.5], [-0.75, 1.0], [-0.75, -0.75]], [[-2.0, 2.0], [1.5, 1.0],
      [0.5, -0.25]]]]> : tensor<1x2x3x2xf32>
  %k = check.input dense<[[[[2.0, -1.0], [0.0, 0.0], [0.0, 1.0]], [[-0.5, 0.5], [0.5, -1.25],
      [-2.0, -2.0]]]]> : tensor<1x2x3x2xf32>
  %v = check.input dense<[[[[2.0, 1.5], [0.5, -2.0], [-0.5, -1.25]], [[-1.75, -1.75], [-0.25, 1.0],
      [0.5, -0.75]]]]> : tensor<1x2x3x2xf32>
  %o = check.input dense<[[[[2.0, 1.5], [0.6994464, -1.5346252], [0.63315386, -0.86819226]],
      [[-1.75, -1.75], [-1.0701072, -0.5035299],
      [-0.45788795, -0.10502998]]]]> : tensor<1x2x3x2xf32>
  %z = check.input dense<[[[1.125, 0.14267506, 0.76060283],
      [1.5, 0.41628528, 1.0875334]]]> : tensor<1x2x3xf32>
  %g = check.input dense<[[[[1.25, 0.0], [1.25, -0.75], [-2.0, -1.0]], [[2.0, 2.0], [0.75, -1.25],
      [0.0, -2.0]]]]> : tensor<1x2x3x2xf32>
  %dq, %dk, %dv = weir.attention_grad %q, %k, %v, %o, %z, %g {causal, scale = 0.75 : f64} : tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3xf32>
  check.expect %dq, dense<[[[[0.0, 0.0], [-0.12969534, 0.06484767], [-2.0380068, 1.5479136]],
      [[0.0, 0.0], [-0.4298051, 0.7521589], [-1.1880349, 0.9304991]]]]> : tensor<1x2x3x2xf32>
  check.expect %dk, dense<[[[[0.81288826, 0.69940484], [-0.41620567, -0.30272225],
      [-0.39668262, -0.39668262]], [[0.958588, 0.2728649], [-1.0706428, -0.21683748],
      [0.11205484, -0.05602742]]]]> : tensor<1x2x3x2xf32>
  check.expect %dv, dense<[[[[0.88358986, -0.3660309], [0.14902553, -1.1176614],
      [-0.5326154, -0.2663077]], [[2.4100537, 0.80774474], [0.3399464, -1.5944474],
      [0.0, -0.46329734]]]]> : tensor<1x2x3x2xf32>
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
  %o = check.input dense<[[[[1.3100008, 0.12912439, 1.2070835, 1.6077065],
      [0.090509206, 0.7490155, 0.43887392, 0.07464091]]]]> : tensor<1x1x2x4xf32>
  %z = check.input dense<[[[2.2493067, 1.2790843]]]> : tensor<1x1x2xf32>
  %g = check.input dense<[[[[1.0, -0.75, 0.25, -2.0],
      [-0.75, 0.5, -0.5, -0.75]]]]> : tensor<1x1x2x4xf32>
  %dq, %dk, %dv = weir.attention_grad %q, %k, %v, %o, %z, %g {causal, scale = 0.5 : f64} : tensor<1x1x2x4xf32>, tensor<1x1x5x4xf32>, tensor<1x1x2xf32>
  check.expect %dq, dense<[[[[0.71632993, 0.4330693, 0.7196386, 0.31091854],
      [0.5686873, -0.7581641, 1.3136845, -1.1455371]]]]> : tensor<1x1x2x4xf32>
  check.expect %dk, dense<[[[[-0.6645808, -0.13307096, 0.69784856, 0.62166506],
      [0.2494343, 0.5618715, -0.38990217, -0.5194035],
      [-0.25187162, 0.64519954, 0.09057173, -0.15312898],
      [0.25419086, 0.026872676, -0.26090902, -0.22435074],
      [0.41282728, -1.1008728, -0.1376091, 0.2752182]]]]> : tensor<1x1x5x4xf32>
  check.expect %dv, dense<[[[[0.29822662, -0.23358035, 0.025004782, -0.9532268],
      [0.42973992, -0.32713488, 0.083285324, -1.0333574],
      [-0.13653287, 0.08842379, -0.104012564, -0.23006555],
      [-0.03774932, 0.019835196, -0.051821295, -0.22966592],
      [-0.30368435, 0.20245624, -0.20245624, -0.30368435]]]]> : tensor<1x1x5x4xf32>
  return
}

// It gets all attention. No score changes anything: only the value has a gradient.
func.func @one_key() {
  %q = check.input dense<[[[[0.75, -0.5, -1.75]]], [[[0.75, -1.25, 0.0]]]]> : tensor<2x1x1x3xf32>
  %k = check.input dense<[[[[1.0, -1.0, -0.5]]], [[[1.75, -1.75, 1.25]]]]> : tensor<2x1x1x3xf32>
  %v = check.input dense<[[[[-0.25, 0.5, 2.0]]], [[[-1.75, 0.0, -0.75]]]]> : tensor<2x1x1x3xf32>
  %o = check.input dense<[[[[-0.25, 0.5, 2.0]]], [[[-1.75, 0.0, -0.75]]]]> : tensor<2x1x1x3xf32>
  %z = check.input dense<[[[2.125]], [[3.5]]]> : tensor<2x1x1xf32>
  %g = check.input dense<[[[[2.0, 2.0, 0.5]]], [[[0.25, -1.0, -0.25]]]]> : tensor<2x1x1x3xf32>
  %dq, %dk, %dv = weir.attention_grad %q, %k, %v, %o, %z, %g {scale = 1.0 : f64} : tensor<2x1x1x3xf32>, tensor<2x1x1x3xf32>, tensor<2x1x1xf32>
  check.expect %dq, dense<0.0> : tensor<2x1x1x3xf32>
  check.expect %dk, dense<0.0> : tensor<2x1x1x3xf32>
  check.expect %dv, dense<[[[[2.0, 2.0, 0.5]]], [[[0.25, -1.0, -0.25]]]]> : tensor<2x1x1x3xf32>
  return
}

// With p the shares and g the cotangent: dv = p^T g, dq = scale w k and dk = scale w^T q, where w =
// p (g v^T - the sum of its rows weighted by p). At sizes that straddle tiles and vectors.
func.func @as_products() {
  %n = check.input dense<3> : tensor<i32>
  %q = weir.random normal seed %n step %n round %n {key = 1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x33x8xf32>
  %k = weir.random normal seed %n step %n round %n {key = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x40x8xf32>
  %v = weir.random normal seed %n step %n round %n {key = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x40x8xf32>
  %g = weir.random normal seed %n step %n round %n {key = 4 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x33x8xf32>
  %o, %z = weir.attention %q, %k, %v {scale = 0.5 : f64} : tensor<2x2x33x8xf32>, tensor<2x2x40x8xf32> -> tensor<2x2x33xf32>
  %dq, %dk, %dv = weir.attention_grad %q, %k, %v, %o, %z, %g {scale = 0.5 : f64} : tensor<2x2x33x8xf32>, tensor<2x2x40x8xf32>, tensor<2x2x33xf32>
  %s = weir.matmul %q, %k {transpose_rhs} : tensor<2x2x33x8xf32>, tensor<2x2x40x8xf32> -> tensor<2x2x33x40xf32>
  %half = weir.constant 0.5 : f32 -> tensor<2x2x33x40xf32>
  %c = weir.mul %s, %half : tensor<2x2x33x40xf32>
  %e = weir.exp %c : tensor<2x2x33x40xf32>
  %t = weir.reduce sum %e {axes = array<i64: 3>} : tensor<2x2x33x40xf32> -> tensor<2x2x33xf32>
  %ts = weir.broadcast %t {dimensions = array<i64: 0, 1, 2>} : tensor<2x2x33xf32> -> tensor<2x2x33x40xf32>
  %p = weir.div %e, %ts : tensor<2x2x33x40xf32>
  %ev = weir.matmul %p, %g {transpose_lhs} : tensor<2x2x33x40xf32>, tensor<2x2x33x8xf32> -> tensor<2x2x40x8xf32>
  %dp = weir.matmul %g, %v {transpose_rhs} : tensor<2x2x33x8xf32>, tensor<2x2x40x8xf32> -> tensor<2x2x33x40xf32>
  %pdp = weir.mul %p, %dp : tensor<2x2x33x40xf32>
  %d = weir.reduce sum %pdp {axes = array<i64: 3>} : tensor<2x2x33x40xf32> -> tensor<2x2x33xf32>
  %ds = weir.broadcast %d {dimensions = array<i64: 0, 1, 2>} : tensor<2x2x33xf32> -> tensor<2x2x33x40xf32>
  %pd = weir.mul %p, %ds : tensor<2x2x33x40xf32>
  %w = weir.sub %pdp, %pd : tensor<2x2x33x40xf32>
  %h = weir.mul %w, %half : tensor<2x2x33x40xf32>
  %eq = weir.matmul %h, %k : tensor<2x2x33x40xf32>, tensor<2x2x40x8xf32> -> tensor<2x2x33x8xf32>
  %ek = weir.matmul %h, %q {transpose_lhs} : tensor<2x2x33x40xf32>, tensor<2x2x33x8xf32> -> tensor<2x2x40x8xf32>
  check.expect_close %dq, %eq : tensor<2x2x33x8xf32>
  check.expect_close %dk, %ek : tensor<2x2x40x8xf32>
  check.expect_close %dv, %ev : tensor<2x2x40x8xf32>
  return
}

// What is read as bf16 is as what is read as the same numbers in f32.
func.func @low() {
  %n = check.input dense<3> : tensor<i32>
  %lowest = weir.constant -100.0 : f32 -> tensor<2x2x33x8xf32>
  %q = weir.random normal seed %n step %n round %n {key = 1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x33x8xf32>
  %k = weir.random normal seed %n step %n round %n {key = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x33x8xf32>
  %g = weir.random normal seed %n step %n round %n {key = 4 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x33x8xf32>
  %ql = weir.cast %q : tensor<2x2x33x8xf32> -> tensor<2x2x33x8xbf16>
  %kl = weir.cast %k : tensor<2x2x33x8xf32> -> tensor<2x2x33x8xbf16>
  %gl = weir.cast %g : tensor<2x2x33x8xf32> -> tensor<2x2x33x8xbf16>
  %qw = weir.cast %ql : tensor<2x2x33x8xbf16> -> tensor<2x2x33x8xf32>
  %kw = weir.cast %kl : tensor<2x2x33x8xbf16> -> tensor<2x2x33x8xf32>
  %gw = weir.cast %gl : tensor<2x2x33x8xbf16> -> tensor<2x2x33x8xf32>
  %qm = weir.max %qw, %lowest : tensor<2x2x33x8xf32>
  %km = weir.max %kw, %lowest : tensor<2x2x33x8xf32>
  %gm = weir.max %gw, %lowest : tensor<2x2x33x8xf32>
  %o, %z = weir.attention %qm, %km, %gm {causal, scale = 0.5 : f64} : tensor<2x2x33x8xf32>, tensor<2x2x33x8xf32> -> tensor<2x2x33xf32>
  %dq, %dk, %dv = weir.attention_grad %qw, %kw, %gw, %o, %z, %gw {causal, scale = 0.5 : f64} : tensor<2x2x33x8xf32>, tensor<2x2x33x8xf32>, tensor<2x2x33xf32>
  %eq, %ek, %ev = weir.attention_grad %qm, %km, %gm, %o, %z, %gm {causal, scale = 0.5 : f64} : tensor<2x2x33x8xf32>, tensor<2x2x33x8xf32>, tensor<2x2x33xf32>
  check.expect_close %dq, %eq : tensor<2x2x33x8xf32>
  check.expect_close %dk, %ek : tensor<2x2x33x8xf32>
  check.expect_close %dv, %ev : tensor<2x2x33x8xf32>
  return
}
