module @constants {
  func.func public @main() -> tensor<4xf32> {
    %pred = stablehlo.constant dense<true> : tensor<i1>
    %preds = stablehlo.constant dense<[true, false, true, true, false, false, false, false, true, true]> : tensor<10xi1>
    %pred_splat = stablehlo.constant dense<true> : tensor<100xi1>
    %few_preds = stablehlo.constant dense<[false, true, true]> : tensor<3xi1>
    %s4 = stablehlo.constant dense<[-8, 7, -1]> : tensor<3xi4>
    %u4 = stablehlo.constant dense<[15, 0, 9]> : tensor<3xui4>
    %s8 = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
    %u8 = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
    %s16 = stablehlo.constant dense<[-300, 300]> : tensor<2xi16>
    %u16 = stablehlo.constant dense<[65535, 2]> : tensor<2xui16>
    %s32 = stablehlo.constant dense<[[1, 2], [3, -4]]> : tensor<2x2xi32>
    %u32 = stablehlo.constant dense<4294967295> : tensor<ui32>
    %s64 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %u64 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
    %f16 = stablehlo.constant dense<[1.5, 0x7C00]> : tensor<2xf16>
    %bf16 = stablehlo.constant dense<-2.0> : tensor<bf16>
    %f32 = stablehlo.constant dense<[1.0, 0x7FC00000, 0xFF800000, -0.0]> : tensor<4xf32>
    %f64 = stablehlo.constant dense<0.1> : tensor<f64>
    %c64 = stablehlo.constant dense<[(1.0, -2.0), (0.5, 0.25)]> : tensor<2xcomplex<f32>>
    %c128 = stablehlo.constant dense<(1.0, -2.0)> : tensor<complex<f64>>
    %splat = stablehlo.constant dense<2.5> : tensor<1000x1000xf32>
    %complex_splat = stablehlo.constant dense<(3.0, 4.0)> : tensor<64xcomplex<f32>>
    %empty = stablehlo.constant dense<> : tensor<0x3xf32>
    return %f32 : tensor<4xf32>
  }
}
