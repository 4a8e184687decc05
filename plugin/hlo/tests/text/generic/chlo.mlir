"builtin.module"() <{sym_name = "chlo"}> ({
  "func.func"() <{function_type = (tensor<2x3xf32>, tensor<2x3xcomplex<f32>>) -> (tensor<2x2xf32>, tensor<2x2xi32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xcomplex<f32>>):
    %0 = "chlo.acos"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = "chlo.acosh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = "chlo.asin"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = "chlo.asinh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %4 = "chlo.atan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = "chlo.atanh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %6 = "chlo.bessel_i1e"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %7 = "chlo.conj"(%arg1) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %8 = "chlo.cosh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %9 = "chlo.digamma"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %10 = "chlo.erf"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %11 = "chlo.erf_inv"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %12 = "chlo.erfc"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %13 = "chlo.is_inf"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %14 = "chlo.is_neg_inf"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %15 = "chlo.is_pos_inf"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %16 = "chlo.lgamma"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %17 = "chlo.sinh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %18 = "chlo.square"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %19 = "chlo.next_after"(%arg0, %arg0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %20 = "chlo.polygamma"(%arg0, %arg0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %21 = "chlo.zeta"(%arg0, %arg0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %22:2 = "chlo.top_k"(%arg0) <{k = 2 : i64}> : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
    "func.return"(%22#0, %22#1) : (tensor<2x2xf32>, tensor<2x2xi32>) -> ()
  }) : () -> ()
}) : () -> ()
