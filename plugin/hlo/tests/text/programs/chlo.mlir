// CHLO: functions that are ops of their own.
module @chlo {
  func.func public @main(%f: tensor<2x3xf32>, %c: tensor<2x3xcomplex<f32>>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
    %0 = chlo.acos %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %1 = chlo.acosh %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %2 = chlo.asin %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %3 = chlo.asinh %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %4 = chlo.atan %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %5 = chlo.atanh %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %6 = chlo.bessel_i1e %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %7 = chlo.conj %c : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
    %8 = chlo.cosh %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %9 = chlo.digamma %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %10 = chlo.erf %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %11 = chlo.erf_inv %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %12 = chlo.erfc %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %13 = chlo.is_inf %f : tensor<2x3xf32> -> tensor<2x3xi1>
    %14 = chlo.is_neg_inf %f : tensor<2x3xf32> -> tensor<2x3xi1>
    %15 = chlo.is_pos_inf %f : tensor<2x3xf32> -> tensor<2x3xi1>
    %16 = chlo.lgamma %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %17 = chlo.sinh %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %18 = chlo.square %f : tensor<2x3xf32> -> tensor<2x3xf32>
    %19 = chlo.next_after %f, %f : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    %20 = chlo.polygamma %f, %f : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    %21 = chlo.zeta %f, %f : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    %22:2 = chlo.top_k(%f, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
    return %22#0, %22#1 : tensor<2x2xf32>, tensor<2x2xi32>
  }
}
