"builtin.module"() <{sym_name = "jit_transforms"}> ({
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (tensor<4x6xcomplex<f32>>, tensor<4x6xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<4x6xf32>):
    %4 = "func.call"(%arg3) <{callee = @fft}> : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    %5 = "func.call"(%arg3) <{callee = @fft_0}> : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
    %6 = "func.call"(%5) <{callee = @fft_1}> : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
    "func.return"(%4, %6) : (tensor<4x6xcomplex<f32>>, tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>, sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<4x6xf32>):
    %2 = "stablehlo.convert"(%arg2) : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    %3 = "stablehlo.fft"(%2) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    "func.return"(%3) : (tensor<4x6xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>, sym_name = "fft_0", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<4x6xf32>):
    %1 = "stablehlo.fft"(%arg1) <{fft_length = array<i64: 4, 6>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
    "func.return"(%1) : (tensor<4x4xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>, sym_name = "fft_1", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x4xcomplex<f32>>):
    %0 = "stablehlo.fft"(%arg0) <{fft_length = array<i64: 4, 6>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
    "func.return"(%0) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
