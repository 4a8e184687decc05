// Constants of every type, and every way to write them.
module @constants {
  func.func public @main() -> tensor<f32> {
    %0 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %1 = stablehlo.constant dense<[0x7FC00000, 0xFF800000, 0x7F800000, -0.000000e+00, 1.000000e-45, 3.40282347E+38, 0.1, -1.17549435E-38]> : tensor<8xf32>
    %2 = stablehlo.constant dense<[0x7FF8000000000001, 2.2250738585072014E-308, 4.940656e-324, 0.1]> : tensor<4xf64>
    %3 = stablehlo.constant dense<[1.0, 0x7C00, 6.550400e+04, 5.960460e-08]> : tensor<4xf16>
    %4 = stablehlo.constant dense<[1.0, 0x7F80, 3.140630e+00]> : tensor<3xbf16>
    %5 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %6 = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
    %7 = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>
    %8 = stablehlo.constant dense<[18446744073709551615, 0]> : tensor<2xui64>
    %9 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
    %10 = stablehlo.constant dense<[15, 1]> : tensor<2xui4>
    %11 = stablehlo.constant dense<[-2, 1]> : tensor<2xi2>
    %12 = stablehlo.constant dense<[3, 1]> : tensor<2xui2>
    %13 = stablehlo.constant dense<[(1.0, 2.0), (0x7FC00000, -0.0)]> : tensor<2xcomplex<f32>>
    %14 = stablehlo.constant dense<(1.0, -2.5)> : tensor<3xcomplex<f64>>
    %15 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %16 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
    %17 = stablehlo.constant dense<> : tensor<0x3xf32>
    %18 = stablehlo.constant dense<7> : tensor<1000x1000xi32>
    %19 = stablehlo.constant dense<[1.0, 0x7F, -448.0]> : tensor<3xf8E4M3FN>
    %20 = stablehlo.constant dense<[1.0, 0x7C, 57344.0]> : tensor<3xf8E5M2>
    %21 = stablehlo.constant dense<[1.0, 0x80, -240.0]> : tensor<3xf8E4M3FNUZ>
    %22 = stablehlo.constant dense<[1.0, 0x80, 30.0]> : tensor<3xf8E4M3B11FNUZ>
    %23 = stablehlo.constant dense<[1.0, 0x80, 57344.0]> : tensor<3xf8E5M2FNUZ>
    %24 = stablehlo.constant dense<[1.0, 0x78, 240.0]> : tensor<3xf8E4M3>
    %25 = stablehlo.constant dense<[1.0, 0x70, 15.5]> : tensor<3xf8E3M4>
    %26 = stablehlo.constant dense<[1.0, 0xFF, 2.0]> : tensor<3xf8E8M0FNU>
    %27 = stablehlo.constant dense<[1.0, -6.0, 0.5]> : tensor<3xf4E2M1FN>
    %28 = stablehlo.constant dense<[1.0, -7.5, 0.125]> : tensor<3xf6E2M3FN>
    %29 = stablehlo.constant dense<[1.0, -28.0, 0.0625]> : tensor<3xf6E3M2FN>
    return %0 : tensor<f32>
  }
}
