"builtin.module"() <{sym_name = "jit_control_flow"}> ({
  "func.func"() <{function_type = (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<3xf32>, %arg8: tensor<i32>):
    %21 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %22:3 = "stablehlo.while"(%arg8, %21, %arg7) ({
    ^bb0(%arg20: tensor<i32>, %arg21: tensor<i32>, %arg22: tensor<3xf32>):
      %53 = "stablehlo.compare"(%arg21, %arg20) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%53) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg17: tensor<i32>, %arg18: tensor<i32>, %arg19: tensor<3xf32>):
      %39 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %40 = "stablehlo.add"(%arg18, %39) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %41 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %42 = "func.call"(%arg18, %41) <{callee = @remainder}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %43 = "stablehlo.convert"(%42) : (tensor<i32>) -> tensor<i32>
      %44 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %45 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %46 = "stablehlo.clamp"(%44, %43, %45) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %47 = "stablehlo.case"(%46) ({
        %52 = "stablehlo.sine"(%arg19) : (tensor<3xf32>) -> tensor<3xf32>
        "stablehlo.return"(%52) : (tensor<3xf32>) -> ()
      }, {
        %51 = "stablehlo.cosine"(%arg19) : (tensor<3xf32>) -> tensor<3xf32>
        "stablehlo.return"(%51) : (tensor<3xf32>) -> ()
      }, {
        %48 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
        %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
        %50 = "stablehlo.multiply"(%arg19, %49) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        "stablehlo.return"(%50) : (tensor<3xf32>) -> ()
      }) : (tensor<i32>) -> tensor<3xf32>
      "stablehlo.return"(%arg17, %40, %47) : (tensor<i32>, tensor<i32>, tensor<3xf32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<i32>, tensor<3xf32>)
    %23 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.reduce"(%22#2, %23) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %38 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%38) : (tensor<f32>) -> ()
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %25 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %26 = "stablehlo.compare"(%24, %25) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %27 = "stablehlo.convert"(%26) : (tensor<i1>) -> tensor<i32>
    %28 = "stablehlo.case"(%27) ({
      %30 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %31 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %32:3 = "stablehlo.while"(%31, %30, %22#2) ({
      ^bb0(%arg12: tensor<i32>, %arg13: tensor<i32>, %arg14: tensor<3xf32>):
        %36 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
        %37 = "stablehlo.compare"(%arg12, %36) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%37) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg9: tensor<i32>, %arg10: tensor<i32>, %arg11: tensor<3xf32>):
        %33:2 = "func.call"(%arg10, %arg11) <{callee = @closed_call}> : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>)
        %34 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %35 = "stablehlo.add"(%arg9, %34) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "stablehlo.return"(%35, %33#0, %33#1) : (tensor<i32>, tensor<i32>, tensor<3xf32>) -> ()
      }) : (tensor<i32>, tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<i32>, tensor<3xf32>)
      "stablehlo.return"(%32#2) : (tensor<3xf32>) -> ()
    }, {
      %29 = "stablehlo.negate"(%22#2) : (tensor<3xf32>) -> tensor<3xf32>
      "stablehlo.return"(%29) : (tensor<3xf32>) -> ()
    }) : (tensor<i32>) -> tensor<3xf32>
    "func.return"(%28) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>):
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.compare"(%arg6, %6) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %8 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %9 = "func.call"(%7, %8, %arg6) <{callee = @_where}> : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %10 = "stablehlo.remainder"(%arg5, %9) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %11 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %12 = "stablehlo.compare"(%10, %11) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.compare"(%10, %13) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.compare"(%9, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %17 = "stablehlo.compare"(%14, %16) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %18 = "stablehlo.and"(%17, %12) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %19 = "stablehlo.add"(%10, %9) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %20 = "stablehlo.select"(%18, %19, %10) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%20) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<i1>, %arg3: tensor<i32>, %arg4: tensor<i32>):
    %5 = "stablehlo.select"(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%5) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<3xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.convert"(%arg0) : (tensor<i32>) -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %4 = "stablehlo.add"(%arg1, %3) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%1, %4) : (tensor<i32>, tensor<3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
