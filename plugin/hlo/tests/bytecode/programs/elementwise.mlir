module @elementwise attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %i: tensor<4xi32>, %z: tensor<2xcomplex<f32>>) -> tensor<2x3xf32> {
    %0 = stablehlo.abs %x : tensor<2x3xf32>
    %1 = stablehlo.cbrt %x : tensor<2x3xf32>
    %2 = stablehlo.ceil %x : tensor<2x3xf32>
    %3 = stablehlo.cosine %x : tensor<2x3xf32>
    %4 = stablehlo.exponential %x : tensor<2x3xf32>
    %5 = stablehlo.exponential_minus_one %x : tensor<2x3xf32>
    %6 = stablehlo.floor %x : tensor<2x3xf32>
    %7 = stablehlo.log %x : tensor<2x3xf32>
    %8 = stablehlo.log_plus_one %x : tensor<2x3xf32>
    %9 = stablehlo.logistic %x : tensor<2x3xf32>
    %10 = stablehlo.negate %x : tensor<2x3xf32>
    %11 = stablehlo.round_nearest_afz %x : tensor<2x3xf32>
    %12 = stablehlo.round_nearest_even %x : tensor<2x3xf32>
    %13 = stablehlo.rsqrt %x : tensor<2x3xf32>
    %14 = stablehlo.sign %x : tensor<2x3xf32>
    %15 = stablehlo.sine %x : tensor<2x3xf32>
    %16 = stablehlo.sqrt %x : tensor<2x3xf32>
    %17 = stablehlo.tanh %x : tensor<2x3xf32>
    %18 = stablehlo.count_leading_zeros %i : tensor<4xi32>
    %19 = stablehlo.popcnt %i : tensor<4xi32>
    %20 = stablehlo.not %i : tensor<4xi32>
    %21 = stablehlo.add %x, %0 : tensor<2x3xf32>
    %22 = stablehlo.atan2 %x, %21 : tensor<2x3xf32>
    %23 = stablehlo.divide %x, %22 : tensor<2x3xf32>
    %24 = stablehlo.maximum %x, %23 : tensor<2x3xf32>
    %25 = stablehlo.minimum %x, %24 : tensor<2x3xf32>
    %26 = stablehlo.multiply %x, %25 : tensor<2x3xf32>
    %27 = stablehlo.power %x, %26 : tensor<2x3xf32>
    %28 = stablehlo.remainder %x, %27 : tensor<2x3xf32>
    %29 = stablehlo.subtract %x, %28 : tensor<2x3xf32>
    %30 = stablehlo.and %i, %i : tensor<4xi32>
    %31 = stablehlo.or %i, %i : tensor<4xi32>
    %32 = stablehlo.xor %i, %i : tensor<4xi32>
    %33 = stablehlo.shift_left %i, %i : tensor<4xi32>
    %34 = stablehlo.shift_right_arithmetic %i, %i : tensor<4xi32>
    %35 = stablehlo.shift_right_logical %i, %i : tensor<4xi32>
    %real = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %imag = stablehlo.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %complex = stablehlo.complex %imag, %real : tensor<2xcomplex<f32>>
    %finite = stablehlo.is_finite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %eq = stablehlo.compare EQ, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %ne = stablehlo.compare NE, %x, %y, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %ge = stablehlo.compare GE, %x, %y, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %gt = stablehlo.compare GT, %i, %i, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %le = stablehlo.compare LE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %u = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xui8>
    %lt = stablehlo.compare LT, %u, %u, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %select = stablehlo.select %eq, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
    %clamp = stablehlo.clamp %x, %select, %y : tensor<2x3xf32>
    %bits = stablehlo.bitcast_convert %clamp : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %precision = stablehlo.reduce_precision %x, format = e5m10 : tensor<2x3xf32>
    %barrier:2 = stablehlo.optimization_barrier %precision, %bits : tensor<2x3xf32>, tensor<2x3xi32>
    %map = "stablehlo.map"(%barrier#0, %x) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %m = stablehlo.multiply %p, %q : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %sum = stablehlo.add %map, %29 : tensor<2x3xf32>
    return %sum : tensor<2x3xf32>
  }
}
