// Element-wise ops: one of each, besides CHLO's.
module @element_wise {
  func.func public @main(%f: tensor<4xf32>, %i: tensor<4xi32>, %u: tensor<4xui8>, %p: tensor<4xi1>, %c: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
    %0 = stablehlo.abs %f : tensor<4xf32>
    %1 = stablehlo.abs %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %2 = stablehlo.cbrt %f : tensor<4xf32>
    %3 = stablehlo.ceil %f : tensor<4xf32>
    %4 = stablehlo.count_leading_zeros %i : tensor<4xi32>
    %5 = stablehlo.cosine %f : tensor<4xf32>
    %6 = stablehlo.exponential %f : tensor<4xf32>
    %7 = stablehlo.exponential_minus_one %f : tensor<4xf32>
    %8 = stablehlo.floor %f : tensor<4xf32>
    %9 = stablehlo.imag %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %10 = stablehlo.is_finite %f : (tensor<4xf32>) -> tensor<4xi1>
    %11 = stablehlo.log %f : tensor<4xf32>
    %12 = stablehlo.log_plus_one %f : tensor<4xf32>
    %13 = stablehlo.logistic %f : tensor<4xf32>
    %14 = stablehlo.negate %f : tensor<4xf32>
    %15 = stablehlo.not %p : tensor<4xi1>
    %16 = stablehlo.popcnt %u : tensor<4xui8>
    %17 = stablehlo.real %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %18 = stablehlo.round_nearest_afz %f : tensor<4xf32>
    %19 = stablehlo.round_nearest_even %f : tensor<4xf32>
    %20 = stablehlo.rsqrt %f : tensor<4xf32>
    %21 = stablehlo.sign %f : tensor<4xf32>
    %22 = stablehlo.sine %f : tensor<4xf32>
    %23 = stablehlo.sqrt %f : tensor<4xf32>
    %24 = stablehlo.tan %f : tensor<4xf32>
    %25 = stablehlo.tanh %f : tensor<4xf32>
    %30 = stablehlo.add %f, %f : tensor<4xf32>
    %31 = stablehlo.and %p, %p : tensor<4xi1>
    %32 = stablehlo.atan2 %f, %f : tensor<4xf32>
    %33 = stablehlo.divide %f, %f : tensor<4xf32>
    %34 = stablehlo.maximum %f, %f : tensor<4xf32>
    %35 = stablehlo.minimum %f, %f : tensor<4xf32>
    %36 = stablehlo.multiply %f, %f : tensor<4xf32>
    %37 = stablehlo.or %i, %i : tensor<4xi32>
    %38 = stablehlo.power %f, %f : tensor<4xf32>
    %39 = stablehlo.remainder %f, %f : tensor<4xf32>
    %40 = stablehlo.shift_left %i, %i : tensor<4xi32>
    %41 = stablehlo.shift_right_arithmetic %i, %i : tensor<4xi32>
    %42 = stablehlo.shift_right_logical %u, %u : tensor<4xui8>
    %43 = stablehlo.subtract %f, %f : tensor<4xf32>
    %44 = stablehlo.xor %i, %i : tensor<4xi32>
    %50 = stablehlo.compare EQ, %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %51 = stablehlo.compare NE, %f, %f, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %52 = stablehlo.compare GE, %f, %f,  TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %53 = stablehlo.compare GT, %i, %i, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %54 = stablehlo.compare LE, %u, %u, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %55 = stablehlo.compare LT, %p, %p, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %60 = stablehlo.select %p, %f, %f : tensor<4xi1>, tensor<4xf32>
    %one = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %61 = stablehlo.clamp %f, %f, %f : tensor<4xf32>
    %62 = stablehlo.clamp %one, %f, %one : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %63 = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xbf16>
    %64 = stablehlo.convert %f : tensor<4xf32>
    %65 = stablehlo.bitcast_convert %f : (tensor<4xf32>) -> tensor<4xi32>
    %66 = stablehlo.reduce_precision %f, format = e5m10 : tensor<4xf32>
    %67 = stablehlo.complex %f, %f : tensor<4xcomplex<f32>>
    return %0 : tensor<4xf32>
  }
}
