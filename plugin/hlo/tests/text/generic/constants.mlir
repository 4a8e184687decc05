"builtin.module"() <{sym_name = "constants"}> ({
  "func.func"() <{function_type = () -> tensor<f32>, sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<1.500000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<[0x7FC00000, 0xFF800000, 0x7F800000, -0.000000e+00, 1.401300e-45, 3.40282347E+38, 1.000000e-01, -1.17549435E-38]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %2 = "stablehlo.constant"() <{value = dense<[0x7FF8000000000001, 2.2250738585072014E-308, 4.940660e-324, 1.000000e-01]> : tensor<4xf64>}> : () -> tensor<4xf64>
    %3 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0x7C00, 6.550400e+04, 5.960460e-08]> : tensor<4xf16>}> : () -> tensor<4xf16>
    %4 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0x7F80, 3.140630e+00]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
    %5 = "stablehlo.constant"() <{value = dense<[true, false, true]> : tensor<3xi1>}> : () -> tensor<3xi1>
    %6 = "stablehlo.constant"() <{value = dense<[-128, 127]> : tensor<2xi8>}> : () -> tensor<2xi8>
    %7 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>}> : () -> tensor<2xi64>
    %8 = "stablehlo.constant"() <{value = dense<[18446744073709551615, 0]> : tensor<2xui64>}> : () -> tensor<2xui64>
    %9 = "stablehlo.constant"() <{value = dense<[-8, 7]> : tensor<2xi4>}> : () -> tensor<2xi4>
    %10 = "stablehlo.constant"() <{value = dense<[15, 1]> : tensor<2xui4>}> : () -> tensor<2xui4>
    %11 = "stablehlo.constant"() <{value = dense<[-2, 1]> : tensor<2xi2>}> : () -> tensor<2xi2>
    %12 = "stablehlo.constant"() <{value = dense<[3, 1]> : tensor<2xui2>}> : () -> tensor<2xui2>
    %13 = "stablehlo.constant"() <{value = dense<[(1.000000e+00,2.000000e+00), (0x7FC00000,-0.000000e+00)]> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    %14 = "stablehlo.constant"() <{value = dense<(1.000000e+00,-2.500000e+00)> : tensor<3xcomplex<f64>>}> : () -> tensor<3xcomplex<f64>>
    %15 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
    %16 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}> : () -> tensor<2xf32>
    %17 = "stablehlo.constant"() <{value = dense<> : tensor<0x3xf32>}> : () -> tensor<0x3xf32>
    %18 = "stablehlo.constant"() <{value = dense<7> : tensor<1000x1000xi32>}> : () -> tensor<1000x1000xi32>
    %19 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0x7F, -4.480000e+02]> : tensor<3xf8E4M3FN>}> : () -> tensor<3xf8E4M3FN>
    %20 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0x7C, 5.734400e+04]> : tensor<3xf8E5M2>}> : () -> tensor<3xf8E5M2>
    %21 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0x80, -2.400000e+02]> : tensor<3xf8E4M3FNUZ>}> : () -> tensor<3xf8E4M3FNUZ>
    %22 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0x80, 3.000000e+01]> : tensor<3xf8E4M3B11FNUZ>}> : () -> tensor<3xf8E4M3B11FNUZ>
    %23 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0x80, 5.734400e+04]> : tensor<3xf8E5M2FNUZ>}> : () -> tensor<3xf8E5M2FNUZ>
    %24 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0x78, 2.400000e+02]> : tensor<3xf8E4M3>}> : () -> tensor<3xf8E4M3>
    %25 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0x70, 1.550000e+01]> : tensor<3xf8E3M4>}> : () -> tensor<3xf8E3M4>
    %26 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 0xFF, 2.000000e+00]> : tensor<3xf8E8M0FNU>}> : () -> tensor<3xf8E8M0FNU>
    %27 = "stablehlo.constant"() <{value = dense<[1.000000e+00, -6.000000e+00, 5.000000e-01]> : tensor<3xf4E2M1FN>}> : () -> tensor<3xf4E2M1FN>
    %28 = "stablehlo.constant"() <{value = dense<[1.000000e+00, -7.500000e+00, 1.250000e-01]> : tensor<3xf6E2M3FN>}> : () -> tensor<3xf6E2M3FN>
    %29 = "stablehlo.constant"() <{value = dense<[1.000000e+00, -2.800000e+01, 6.250000e-02]> : tensor<3xf6E3M2FN>}> : () -> tensor<3xf6E3M2FN>
    "func.return"(%0) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
