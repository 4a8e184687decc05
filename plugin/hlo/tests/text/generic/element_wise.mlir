"builtin.module"() <{sym_name = "element_wise"}> ({
  "func.func"() <{function_type = (tensor<4xf32>, tensor<4xi32>, tensor<4xui8>, tensor<4xi1>, tensor<4xcomplex<f32>>) -> tensor<4xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>, %arg2: tensor<4xui8>, %arg3: tensor<4xi1>, %arg4: tensor<4xcomplex<f32>>):
    %0 = "stablehlo.abs"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.abs"(%arg4) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %2 = "stablehlo.cbrt"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = "stablehlo.ceil"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %4 = "stablehlo.count_leading_zeros"(%arg1) : (tensor<4xi32>) -> tensor<4xi32>
    %5 = "stablehlo.cosine"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %6 = "stablehlo.exponential"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %7 = "stablehlo.exponential_minus_one"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %8 = "stablehlo.floor"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %9 = "stablehlo.imag"(%arg4) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %10 = "stablehlo.is_finite"(%arg0) : (tensor<4xf32>) -> tensor<4xi1>
    %11 = "stablehlo.log"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %12 = "stablehlo.log_plus_one"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %13 = "stablehlo.logistic"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %14 = "stablehlo.negate"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %15 = "stablehlo.not"(%arg3) : (tensor<4xi1>) -> tensor<4xi1>
    %16 = "stablehlo.popcnt"(%arg2) : (tensor<4xui8>) -> tensor<4xui8>
    %17 = "stablehlo.real"(%arg4) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %18 = "stablehlo.round_nearest_afz"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %19 = "stablehlo.round_nearest_even"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %20 = "stablehlo.rsqrt"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %21 = "stablehlo.sign"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %22 = "stablehlo.sine"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %23 = "stablehlo.sqrt"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %24 = "stablehlo.tan"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %25 = "stablehlo.tanh"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %26 = "stablehlo.add"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %27 = "stablehlo.and"(%arg3, %arg3) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %28 = "stablehlo.atan2"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %29 = "stablehlo.divide"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %30 = "stablehlo.maximum"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %31 = "stablehlo.minimum"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %32 = "stablehlo.multiply"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %33 = "stablehlo.or"(%arg1, %arg1) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %34 = "stablehlo.power"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %35 = "stablehlo.remainder"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %36 = "stablehlo.shift_left"(%arg1, %arg1) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %37 = "stablehlo.shift_right_arithmetic"(%arg1, %arg1) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %38 = "stablehlo.shift_right_logical"(%arg2, %arg2) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
    %39 = "stablehlo.subtract"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %40 = "stablehlo.xor"(%arg1, %arg1) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %41 = "stablehlo.compare"(%arg1, %arg1) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %42 = "stablehlo.compare"(%arg0, %arg0) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %43 = "stablehlo.compare"(%arg0, %arg0) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %44 = "stablehlo.compare"(%arg1, %arg1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %45 = "stablehlo.compare"(%arg2, %arg2) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %46 = "stablehlo.compare"(%arg3, %arg3) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %47 = "stablehlo.select"(%arg3, %arg0, %arg0) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %48 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.clamp"(%arg0, %arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %50 = "stablehlo.clamp"(%48, %arg0, %48) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %51 = "stablehlo.convert"(%arg0) : (tensor<4xf32>) -> tensor<4xbf16>
    %52 = "stablehlo.convert"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %53 = "stablehlo.bitcast_convert"(%arg0) : (tensor<4xf32>) -> tensor<4xi32>
    %54 = "stablehlo.reduce_precision"(%arg0) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
    %55 = "stablehlo.complex"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
    "func.return"(%0) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
