"builtin.module"() <{sym_name = "jit_special_functions"}> ({
  "func.func"() <{function_type = (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3xf32>):
    %0 = "chlo.erf"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "chlo.lgamma"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %2 = "chlo.digamma"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %3 = "chlo.erf_inv"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %4 = "chlo.bessel_i1e"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %5 = "stablehlo.compare"(%arg0, %arg0) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %6 = "stablehlo.compare"(%arg0, %arg0) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %7 = "stablehlo.or"(%5, %6) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %8 = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %10 = "stablehlo.compare"(%arg0, %9) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %13 = "stablehlo.compare"(%arg0, %12) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %16 = "stablehlo.compare"(%arg0, %15) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %17 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %19 = "stablehlo.compare"(%arg0, %18) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %20 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %22 = "stablehlo.compare"(%arg0, %21) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %23 = "stablehlo.and"(%13, %16) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %24 = "stablehlo.or"(%19, %22) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %25 = "stablehlo.or"(%24, %23) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %26 = "stablehlo.or"(%25, %7) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %27 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %29 = "stablehlo.compare"(%arg0, %28) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %30 = "stablehlo.compare"(%arg0, %arg0) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %31 = "stablehlo.and"(%29, %30) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %32 = "stablehlo.log"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %33 = "stablehlo.multiply"(%arg0, %32) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %34 = "stablehlo.subtract"(%33, %arg0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %35 = "chlo.lgamma"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %36 = "stablehlo.subtract"(%34, %35) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %37 = "stablehlo.constant"() <{value = dense<3.40282347E+38> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.log"(%37) : (tensor<f32>) -> tensor<f32>
    %39 = "stablehlo.negate"(%38) : (tensor<f32>) -> tensor<f32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %41 = "stablehlo.compare"(%36, %40) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %42 = "stablehlo.exponential"(%36) : (tensor<3xf32>) -> tensor<3xf32>
    %43 = "stablehlo.or"(%16, %26) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %44 = "stablehlo.or"(%43, %41) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %45 = "stablehlo.or"(%44, %10) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %46 = "stablehlo.not"(%45) : (tensor<3xi1>) -> tensor<3xi1>
    %47 = "stablehlo.and"(%46, %31) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %48 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %50 = "stablehlo.subtract"(%49, %arg0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %51 = "stablehlo.add"(%arg0, %50) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %52 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %54 = "stablehlo.add"(%51, %53) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %55 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %56 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %57 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %59 = "stablehlo.add"(%arg0, %58) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %60 = "stablehlo.multiply"(%54, %arg0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %61 = "stablehlo.divide"(%59, %60) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %62 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %66 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %68 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %69 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %70 = "stablehlo.negate"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %71 = "stablehlo.multiply"(%61, %70) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %72 = "stablehlo.subtract"(%69, %71) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %73 = "stablehlo.divide"(%72, %60) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %74 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %75:15 = "stablehlo.while"(%47, %61, %63, %50, %54, %74, %59, %60, %56, %arg0, %65, %67, %69, %70, %73) ({
    ^bb0(%arg32: tensor<3xi1>, %arg33: tensor<3xf32>, %arg34: tensor<3xf32>, %arg35: tensor<3xf32>, %arg36: tensor<3xf32>, %arg37: tensor<f32>, %arg38: tensor<3xf32>, %arg39: tensor<3xf32>, %arg40: tensor<3xf32>, %arg41: tensor<3xf32>, %arg42: tensor<3xf32>, %arg43: tensor<3xf32>, %arg44: tensor<3xf32>, %arg45: tensor<3xf32>, %arg46: tensor<3xf32>):
      %236 = "stablehlo.constant"() <{value = dense<2.000000e+03> : tensor<f32>}> : () -> tensor<f32>
      %237 = "stablehlo.compare"(%arg37, %236) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %238 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %239 = "stablehlo.reduce"(%arg32, %238) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg47: tensor<i1>, %arg48: tensor<i1>):
        %241 = "stablehlo.or"(%arg47, %arg48) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        "stablehlo.return"(%241) : (tensor<i1>) -> ()
      }) : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
      %240 = "stablehlo.and"(%237, %239) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%240) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg17: tensor<3xi1>, %arg18: tensor<3xf32>, %arg19: tensor<3xf32>, %arg20: tensor<3xf32>, %arg21: tensor<3xf32>, %arg22: tensor<f32>, %arg23: tensor<3xf32>, %arg24: tensor<3xf32>, %arg25: tensor<3xf32>, %arg26: tensor<3xf32>, %arg27: tensor<3xf32>, %arg28: tensor<3xf32>, %arg29: tensor<3xf32>, %arg30: tensor<3xf32>, %arg31: tensor<3xf32>):
      %130 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %131 = "stablehlo.add"(%arg22, %130) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %132 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %133 = "stablehlo.broadcast_in_dim"(%132) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %134 = "stablehlo.add"(%arg20, %133) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %135 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %136 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %137 = "stablehlo.add"(%arg21, %136) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %138 = "stablehlo.broadcast_in_dim"(%131) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %139 = "stablehlo.multiply"(%134, %138) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %140 = "stablehlo.multiply"(%arg23, %137) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %141 = "stablehlo.multiply"(%arg25, %139) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %142 = "stablehlo.subtract"(%140, %141) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %143 = "stablehlo.multiply"(%arg24, %137) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %144 = "stablehlo.multiply"(%arg26, %139) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %145 = "stablehlo.subtract"(%143, %144) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %146 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %147 = "stablehlo.broadcast_in_dim"(%146) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %148 = "stablehlo.compare"(%145, %147) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %149 = "stablehlo.divide"(%142, %145) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %150 = "stablehlo.subtract"(%arg18, %149) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %151 = "stablehlo.divide"(%150, %149) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %152 = "stablehlo.abs"(%151) : (tensor<3xf32>) -> tensor<3xf32>
      %153 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %154 = "stablehlo.broadcast_in_dim"(%153) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %155 = "stablehlo.select"(%148, %152, %154) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %156 = "stablehlo.select"(%148, %149, %arg18) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %157 = "stablehlo.multiply"(%arg29, %137) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %158 = "stablehlo.subtract"(%157, %arg23) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %159 = "stablehlo.multiply"(%arg27, %139) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %160 = "stablehlo.subtract"(%158, %159) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %161 = "stablehlo.broadcast_in_dim"(%131) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %162 = "stablehlo.multiply"(%arg25, %161) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %163 = "stablehlo.add"(%160, %162) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %164 = "stablehlo.multiply"(%arg30, %137) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %165 = "stablehlo.subtract"(%164, %arg24) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %166 = "stablehlo.multiply"(%arg28, %139) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %167 = "stablehlo.subtract"(%165, %166) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %168 = "stablehlo.broadcast_in_dim"(%131) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %169 = "stablehlo.multiply"(%arg26, %168) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %170 = "stablehlo.add"(%167, %169) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %171 = "stablehlo.multiply"(%156, %170) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %172 = "stablehlo.subtract"(%163, %171) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %173 = "stablehlo.divide"(%172, %145) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %174 = "stablehlo.select"(%148, %173, %arg31) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %175 = "stablehlo.subtract"(%174, %arg31) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %176 = "stablehlo.abs"(%175) : (tensor<3xf32>) -> tensor<3xf32>
      %177 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %178 = "stablehlo.broadcast_in_dim"(%177) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %179 = "stablehlo.select"(%148, %176, %178) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %180 = "stablehlo.abs"(%142) : (tensor<3xf32>) -> tensor<3xf32>
      %181 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %182 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %183 = "stablehlo.broadcast_in_dim"(%182) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
      %184 = "stablehlo.divide"(%183, %181) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %185 = "stablehlo.broadcast_in_dim"(%184) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %186 = "stablehlo.compare"(%180, %185) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %187 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %188 = "stablehlo.broadcast_in_dim"(%187) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %189 = "stablehlo.multiply"(%arg23, %188) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %190 = "stablehlo.select"(%186, %189, %arg23) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %191 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %192 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %193 = "stablehlo.multiply"(%142, %192) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %194 = "stablehlo.select"(%186, %193, %142) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %195 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %196 = "stablehlo.broadcast_in_dim"(%195) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %197 = "stablehlo.multiply"(%arg24, %196) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %198 = "stablehlo.select"(%186, %197, %arg24) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %199 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %200 = "stablehlo.broadcast_in_dim"(%199) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %201 = "stablehlo.multiply"(%145, %200) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %202 = "stablehlo.select"(%186, %201, %145) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %203 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %204 = "stablehlo.broadcast_in_dim"(%203) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %205 = "stablehlo.multiply"(%arg29, %204) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %206 = "stablehlo.select"(%186, %205, %arg29) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %207 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %208 = "stablehlo.broadcast_in_dim"(%207) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %209 = "stablehlo.multiply"(%arg30, %208) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %210 = "stablehlo.select"(%186, %209, %arg30) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %211 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %212 = "stablehlo.broadcast_in_dim"(%211) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %213 = "stablehlo.multiply"(%163, %212) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %214 = "stablehlo.select"(%186, %213, %163) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %215 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %216 = "stablehlo.broadcast_in_dim"(%215) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %217 = "stablehlo.multiply"(%170, %216) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %218 = "stablehlo.select"(%186, %217, %170) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %219 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %220 = "stablehlo.broadcast_in_dim"(%219) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %221 = "stablehlo.compare"(%155, %220) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %222 = "stablehlo.and"(%arg17, %221) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
      %223 = "stablehlo.select"(%arg17, %156, %arg18) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %224 = "stablehlo.select"(%arg17, %155, %arg19) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %225 = "stablehlo.select"(%arg17, %134, %arg20) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %226 = "stablehlo.select"(%arg17, %137, %arg21) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %227 = "stablehlo.select"(%arg17, %194, %arg23) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %228 = "stablehlo.select"(%arg17, %202, %arg24) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %229 = "stablehlo.select"(%arg17, %190, %arg25) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %230 = "stablehlo.select"(%arg17, %198, %arg26) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %231 = "stablehlo.select"(%arg17, %206, %arg27) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %232 = "stablehlo.select"(%arg17, %210, %arg28) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %233 = "stablehlo.select"(%arg17, %214, %arg29) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %234 = "stablehlo.select"(%arg17, %218, %arg30) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %235 = "stablehlo.select"(%arg17, %174, %arg31) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      "stablehlo.return"(%222, %223, %224, %225, %226, %131, %227, %228, %229, %230, %231, %232, %233, %234, %235) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
    }) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    %76 = "stablehlo.multiply"(%75#1, %42) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %77 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %79 = "stablehlo.subtract"(%78, %76) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %80 = "stablehlo.not"(%31) : (tensor<3xi1>) -> tensor<3xi1>
    %81 = "stablehlo.and"(%46, %80) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %82 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %84 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %86 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %88 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %90:7 = "stablehlo.while"(%81, %arg0, %83, %85, %arg0, %87, %89) ({
    ^bb0(%arg8: tensor<3xi1>, %arg9: tensor<3xf32>, %arg10: tensor<3xf32>, %arg11: tensor<3xf32>, %arg12: tensor<3xf32>, %arg13: tensor<3xf32>, %arg14: tensor<3xf32>):
      %127 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %128 = "stablehlo.reduce"(%arg8, %127) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg15: tensor<i1>, %arg16: tensor<i1>):
        %129 = "stablehlo.or"(%arg15, %arg16) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        "stablehlo.return"(%129) : (tensor<i1>) -> ()
      }) : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%128) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg1: tensor<3xi1>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>, %arg5: tensor<3xf32>, %arg6: tensor<3xf32>, %arg7: tensor<3xf32>):
      %103 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %105 = "stablehlo.add"(%arg2, %104) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %106 = "stablehlo.divide"(%arg5, %105) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %107 = "stablehlo.multiply"(%arg6, %106) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %108 = "stablehlo.multiply"(%arg3, %arg5) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %109 = "stablehlo.multiply"(%105, %105) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %110 = "stablehlo.divide"(%108, %109) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %111 = "stablehlo.subtract"(%107, %110) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %112 = "stablehlo.add"(%arg7, %111) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %113 = "stablehlo.divide"(%arg5, %105) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %114 = "stablehlo.multiply"(%arg3, %113) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %115 = "stablehlo.add"(%arg4, %114) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %116 = "stablehlo.divide"(%114, %115) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %117 = "stablehlo.constant"() <{value = dense<1.1920929E-7> : tensor<f32>}> : () -> tensor<f32>
      %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
      %119 = "stablehlo.compare"(%116, %118) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %120 = "stablehlo.and"(%arg1, %119) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
      %121 = "stablehlo.select"(%arg1, %105, %arg2) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %122 = "stablehlo.select"(%arg1, %114, %arg3) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %123 = "stablehlo.select"(%arg1, %115, %arg4) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %124 = "stablehlo.select"(%arg1, %arg5, %arg5) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %125 = "stablehlo.select"(%arg1, %111, %arg6) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %126 = "stablehlo.select"(%arg1, %112, %arg7) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      "stablehlo.return"(%120, %121, %122, %123, %124, %125, %126) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
    }) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    %91 = "stablehlo.multiply"(%90#3, %42) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %92 = "stablehlo.divide"(%91, %arg0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %93 = "stablehlo.select"(%31, %79, %92) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %94 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %96 = "stablehlo.select"(%16, %95, %93) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %97 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %99 = "stablehlo.select"(%10, %98, %96) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %100 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %102 = "stablehlo.select"(%26, %101, %99) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%0, %1, %2, %3, %4, %102) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
