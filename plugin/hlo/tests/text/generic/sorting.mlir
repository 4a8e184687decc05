"builtin.module"() <{sym_name = "jit_sorting"}> ({
  "func.func"() <{function_type = (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<f32>, tensor<3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2][0]"}, {jax.result_info = "result[2][1]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg48: tensor<4x6xf32>):
    %189 = "func.call"(%arg48) <{callee = @sort}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %190 = "func.call"(%arg48) <{callee = @argsort}> : (tensor<4x6xf32>) -> tensor<4x6xi32>
    %191:2 = "chlo.top_k"(%arg48) <{k = 2 : i64}> : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
    %192 = "func.call"(%arg48) <{callee = @median}> : (tensor<4x6xf32>) -> tensor<f32>
    %193 = "stablehlo.reshape"(%arg48) : (tensor<4x6xf32>) -> tensor<24xf32>
    %194:2 = "func.call"(%193) <{callee = @_unique_sorted_mask}> : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>)
    %195 = "func.call"(%194#1) <{callee = @cumsum}> : (tensor<24xi1>) -> tensor<24xi32>
    %196 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %197 = "stablehlo.broadcast_in_dim"(%196) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %198 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %199 = "func.call"(%195, %198) <{callee = @clip}> : (tensor<24xi32>, tensor<i32>) -> tensor<24xi32>
    %200 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %201 = "stablehlo.broadcast_in_dim"(%200) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<24xi32>
    %202 = "stablehlo.compare"(%199, %201) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %203 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %204 = "stablehlo.broadcast_in_dim"(%203) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<24xi32>
    %205 = "stablehlo.add"(%199, %204) : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi32>
    %206 = "stablehlo.select"(%202, %205, %199) : (tensor<24xi1>, tensor<24xi32>, tensor<24xi32>) -> tensor<24xi32>
    %207 = "stablehlo.broadcast_in_dim"(%206) <{broadcast_dimensions = array<i64: 0>}> : (tensor<24xi32>) -> tensor<24x1xi32>
    %208 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %209 = "stablehlo.broadcast_in_dim"(%208) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<24xi32>
    %210 = "stablehlo.scatter"(%197, %207, %209) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg49: tensor<i32>, %arg50: tensor<i32>):
      %225 = "stablehlo.add"(%arg49, %arg50) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%225) : (tensor<i32>) -> ()
    }) : (tensor<3xi32>, tensor<24x1xi32>, tensor<24xi32>) -> tensor<3xi32>
    %211 = "func.call"(%210) <{callee = @cumsum_1}> : (tensor<3xi32>) -> tensor<3xi32>
    %212 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %213 = "func.call"(%211, %212) <{callee = @floor_divide}> : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
    %214 = "stablehlo.constant"() <{value = dense<24> : tensor<i32>}> : () -> tensor<i32>
    %215 = "func.call"(%213, %214) <{callee = @remainder}> : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
    %216 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %217 = "stablehlo.broadcast_in_dim"(%216) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %218 = "stablehlo.compare"(%215, %217) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %219 = "stablehlo.constant"() <{value = dense<24> : tensor<i32>}> : () -> tensor<i32>
    %220 = "stablehlo.broadcast_in_dim"(%219) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %221 = "stablehlo.add"(%215, %220) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %222 = "stablehlo.select"(%218, %221, %215) : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %223 = "stablehlo.broadcast_in_dim"(%222) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xi32>) -> tensor<3x1xi32>
    %224 = "stablehlo.gather"(%194#0, %223) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<24xf32>, tensor<3x1xi32>) -> tensor<3xf32>
    "func.return"(%189, %190, %191#0, %191#1, %192, %224) : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<f32>, tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, sym_name = "sort", sym_visibility = "private"}> ({
  ^bb0(%arg45: tensor<4x6xf32>):
    %173 = "stablehlo.sort"(%arg45) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg46: tensor<f32>, %arg47: tensor<f32>):
      %174 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %175 = "stablehlo.compare"(%arg46, %174) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %176 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %177 = "stablehlo.select"(%175, %176, %arg46) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %178 = "stablehlo.compare"(%arg46, %arg46) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %179 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %180 = "stablehlo.select"(%178, %179, %177) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %181 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %182 = "stablehlo.compare"(%arg47, %181) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %183 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %184 = "stablehlo.select"(%182, %183, %arg47) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %185 = "stablehlo.compare"(%arg47, %arg47) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %186 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %187 = "stablehlo.select"(%185, %186, %184) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %188 = "stablehlo.compare"(%180, %187) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%188) : (tensor<i1>) -> ()
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%173) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> tensor<4x6xi32>, sym_name = "argsort", sym_visibility = "private"}> ({
  ^bb0(%arg40: tensor<4x6xf32>):
    %156 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x6xi32>
    %157:2 = "stablehlo.sort"(%arg40, %156) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg41: tensor<f32>, %arg42: tensor<f32>, %arg43: tensor<i32>, %arg44: tensor<i32>):
      %158 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %159 = "stablehlo.compare"(%arg41, %158) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %160 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %161 = "stablehlo.select"(%159, %160, %arg41) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %162 = "stablehlo.compare"(%arg41, %arg41) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %163 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %164 = "stablehlo.select"(%162, %163, %161) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %165 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %166 = "stablehlo.compare"(%arg42, %165) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %167 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %168 = "stablehlo.select"(%166, %167, %arg42) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %169 = "stablehlo.compare"(%arg42, %arg42) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %170 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %171 = "stablehlo.select"(%169, %170, %168) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %172 = "stablehlo.compare"(%164, %171) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%172) : (tensor<i1>) -> ()
    }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
    "func.return"(%157#1) : (tensor<4x6xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> tensor<f32>, sym_name = "median", sym_visibility = "private"}> ({
  ^bb0(%arg39: tensor<4x6xf32>):
    %154 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %155 = "func.call"(%arg39, %154) <{callee = @quantile}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%155) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>, sym_name = "quantile", sym_visibility = "private"}> ({
  ^bb0(%arg33: tensor<4x6xf32>, %arg34: tensor<f32>):
    %105 = "stablehlo.reshape"(%arg33) : (tensor<4x6xf32>) -> tensor<24xf32>
    %106 = "stablehlo.compare"(%105, %105) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %107 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %108 = "stablehlo.reduce"(%106, %107) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg37: tensor<i1>, %arg38: tensor<i1>):
      %153 = "stablehlo.or"(%arg37, %arg38) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%153) : (tensor<i1>) -> ()
    }) : (tensor<24xi1>, tensor<i1>) -> tensor<i1>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1xi1>
    %110 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %111 = "func.call"(%109, %110, %105) <{callee = @_where}> : (tensor<1xi1>, tensor<f32>, tensor<24xf32>) -> tensor<24xf32>
    %112 = "stablehlo.sort"(%111) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg35: tensor<f32>, %arg36: tensor<f32>):
      %138 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %139 = "stablehlo.compare"(%arg35, %138) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %140 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %141 = "stablehlo.select"(%139, %140, %arg35) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %142 = "stablehlo.compare"(%arg35, %arg35) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %143 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %144 = "stablehlo.select"(%142, %143, %141) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %145 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %146 = "stablehlo.compare"(%arg36, %145) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %147 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %148 = "stablehlo.select"(%146, %147, %arg36) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %149 = "stablehlo.compare"(%arg36, %arg36) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %150 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %151 = "stablehlo.select"(%149, %150, %148) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %152 = "stablehlo.compare"(%144, %151) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%152) : (tensor<i1>) -> ()
    }) : (tensor<24xf32>) -> tensor<24xf32>
    %113 = "stablehlo.constant"() <{value = dense<2.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %114 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %115 = "stablehlo.subtract"(%113, %114) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %116 = "stablehlo.multiply"(%arg34, %115) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %117 = "stablehlo.floor"(%116) : (tensor<f32>) -> tensor<f32>
    %118 = "stablehlo.ceil"(%116) : (tensor<f32>) -> tensor<f32>
    %119 = "stablehlo.constant"() <{value = dense<2.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %120 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %121 = "stablehlo.subtract"(%119, %120) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %122 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %123 = "stablehlo.clamp"(%122, %117, %121) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %124 = "stablehlo.constant"() <{value = dense<2.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %125 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %126 = "stablehlo.subtract"(%124, %125) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %127 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %128 = "stablehlo.clamp"(%127, %118, %126) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %129 = "stablehlo.convert"(%123) : (tensor<f32>) -> tensor<i32>
    %130 = "stablehlo.convert"(%128) : (tensor<f32>) -> tensor<i32>
    %131 = "stablehlo.broadcast_in_dim"(%129) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %132 = "stablehlo.gather"(%112, %131) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<24xf32>, tensor<1xi32>) -> tensor<f32>
    %133 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %134 = "stablehlo.gather"(%112, %133) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<24xf32>, tensor<1xi32>) -> tensor<f32>
    %135 = "stablehlo.add"(%132, %134) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %136 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %137 = "stablehlo.multiply"(%135, %136) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%137) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1xi1>, tensor<f32>, tensor<24xf32>) -> tensor<24xf32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg30: tensor<1xi1>, %arg31: tensor<f32>, %arg32: tensor<24xf32>):
    %101 = "stablehlo.convert"(%arg31) : (tensor<f32>) -> tensor<f32>
    %102 = "stablehlo.broadcast_in_dim"(%arg30) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xi1>) -> tensor<24xi1>
    %103 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %104 = "stablehlo.select"(%102, %103, %arg32) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    "func.return"(%104) : (tensor<24xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>), sym_name = "_unique_sorted_mask", sym_visibility = "private"}> ({
  ^bb0(%arg25: tensor<24xf32>):
    %72 = "stablehlo.reshape"(%arg25) : (tensor<24xf32>) -> tensor<24x1xf32>
    %73 = "stablehlo.transpose"(%72) <{permutation = array<i64: 1, 0>}> : (tensor<24x1xf32>) -> tensor<1x24xf32>
    %74 = "stablehlo.reverse"(%73) <{dimensions = array<i64: 0>}> : (tensor<1x24xf32>) -> tensor<1x24xf32>
    %75 = "func.call"(%74) <{callee = @lexsort}> : (tensor<1x24xf32>) -> tensor<24xi32>
    %76 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<24xi32>
    %78 = "stablehlo.compare"(%75, %77) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %79 = "stablehlo.constant"() <{value = dense<24> : tensor<i32>}> : () -> tensor<i32>
    %80 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<24xi32>
    %81 = "stablehlo.add"(%75, %80) : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi32>
    %82 = "stablehlo.select"(%78, %81, %75) : (tensor<24xi1>, tensor<24xi32>, tensor<24xi32>) -> tensor<24xi32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64: 0>}> : (tensor<24xi32>) -> tensor<24x1xi32>
    %84 = "stablehlo.gather"(%arg25, %83) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<24xf32>, tensor<24x1xi32>) -> tensor<24xf32>
    %85 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<24xi1>
    %87 = "stablehlo.slice"(%84) <{limit_indices = array<i64: 24>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<24xf32>) -> tensor<23xf32>
    %88 = "stablehlo.slice"(%84) <{limit_indices = array<i64: 23>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<24xf32>) -> tensor<23xf32>
    %89 = "stablehlo.compare"(%87, %88) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<23xf32>, tensor<23xf32>) -> tensor<23xi1>
    %90 = "stablehlo.compare"(%87, %87) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<23xf32>, tensor<23xf32>) -> tensor<23xi1>
    %91 = "stablehlo.compare"(%88, %88) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<23xf32>, tensor<23xf32>) -> tensor<23xi1>
    %92 = "stablehlo.and"(%90, %91) : (tensor<23xi1>, tensor<23xi1>) -> tensor<23xi1>
    %93 = "stablehlo.not"(%92) : (tensor<23xi1>) -> tensor<23xi1>
    %94 = "stablehlo.and"(%89, %93) : (tensor<23xi1>, tensor<23xi1>) -> tensor<23xi1>
    %95 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %96 = "stablehlo.reduce"(%94, %95) <{dimensions = array<i64>}> ({
    ^bb0(%arg28: tensor<i1>, %arg29: tensor<i1>):
      %100 = "stablehlo.or"(%arg28, %arg29) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%100) : (tensor<i1>) -> ()
    }) : (tensor<23xi1>, tensor<i1>) -> tensor<23xi1>
    %97 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %99 = "stablehlo.scatter"(%86, %98, %96) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg26: tensor<i1>, %arg27: tensor<i1>):
      "stablehlo.return"(%arg27) : (tensor<i1>) -> ()
    }) : (tensor<24xi1>, tensor<1xi32>, tensor<23xi1>) -> tensor<24xi1>
    "func.return"(%84, %99) : (tensor<24xf32>, tensor<24xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x24xf32>) -> tensor<24xi32>, sym_name = "lexsort", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<1x24xf32>):
    %53 = "stablehlo.slice"(%arg20) <{limit_indices = array<i64: 1, 24>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<1x24xf32>) -> tensor<1x24xf32>
    %54 = "stablehlo.reshape"(%53) : (tensor<1x24xf32>) -> tensor<24xf32>
    %55 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<24xi32>
    %56:2 = "stablehlo.sort"(%54, %55) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>, %arg23: tensor<i32>, %arg24: tensor<i32>):
      %57 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %58 = "stablehlo.compare"(%arg21, %57) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %59 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %60 = "stablehlo.select"(%58, %59, %arg21) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %61 = "stablehlo.compare"(%arg21, %arg21) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %62 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %63 = "stablehlo.select"(%61, %62, %60) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %65 = "stablehlo.compare"(%arg22, %64) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %66 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %67 = "stablehlo.select"(%65, %66, %arg22) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %68 = "stablehlo.compare"(%arg22, %arg22) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %69 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %70 = "stablehlo.select"(%68, %69, %67) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %71 = "stablehlo.compare"(%63, %70) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%71) : (tensor<i1>) -> ()
    }) : (tensor<24xf32>, tensor<24xi32>) -> (tensor<24xf32>, tensor<24xi32>)
    "func.return"(%56#1) : (tensor<24xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<24xi1>) -> tensor<24xi32>, sym_name = "cumsum", sym_visibility = "private"}> ({
  ^bb0(%arg19: tensor<24xi1>):
    %51 = "stablehlo.convert"(%arg19) : (tensor<24xi1>) -> tensor<24xi32>
    %52 = "func.call"(%51) <{callee = @cumsum_0}> : (tensor<24xi32>) -> tensor<24xi32>
    "func.return"(%52) : (tensor<24xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<24xi32>) -> tensor<24xi32>, sym_name = "cumsum_0", sym_visibility = "private"}> ({
  ^bb0(%arg16: tensor<24xi32>):
    %47 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
    %49 = "stablehlo.reduce_window"(%arg16, %48) <{base_dilations = array<i64: 1>, padding = dense<[[23, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 24>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg17: tensor<i32>, %arg18: tensor<i32>):
      %50 = "stablehlo.add"(%arg17, %arg18) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%50) : (tensor<i32>) -> ()
    }) : (tensor<24xi32>, tensor<i32>) -> tensor<24xi32>
    "func.return"(%49) : (tensor<24xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<24xi32>, tensor<i32>) -> tensor<24xi32>, sym_name = "clip", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<24xi32>, %arg15: tensor<i32>):
    %44 = "stablehlo.convert"(%arg15) : (tensor<i32>) -> tensor<i32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<24xi32>
    %46 = "stablehlo.maximum"(%45, %arg14) : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi32>
    "func.return"(%46) : (tensor<24xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xi32>) -> tensor<3xi32>, sym_name = "cumsum_1", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<3xi32>):
    %43 = "func.call"(%arg13) <{callee = @cumsum_2}> : (tensor<3xi32>) -> tensor<3xi32>
    "func.return"(%43) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xi32>) -> tensor<3xi32>, sym_name = "cumsum_2", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<3xi32>):
    %39 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
    %41 = "stablehlo.reduce_window"(%arg10, %40) <{base_dilations = array<i64: 1>, padding = dense<[[2, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 3>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg11: tensor<i32>, %arg12: tensor<i32>):
      %42 = "stablehlo.add"(%arg11, %arg12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%42) : (tensor<i32>) -> ()
    }) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
    "func.return"(%41) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>, sym_name = "floor_divide", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<3xi32>, %arg9: tensor<i32>):
    %23 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %24 = "stablehlo.divide"(%arg8, %23) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %25 = "stablehlo.sign"(%arg8) : (tensor<3xi32>) -> tensor<3xi32>
    %26 = "stablehlo.sign"(%arg9) : (tensor<i32>) -> tensor<i32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %28 = "stablehlo.compare"(%25, %27) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %29 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %30 = "stablehlo.remainder"(%arg8, %29) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %31 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %33 = "stablehlo.compare"(%30, %32) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %34 = "stablehlo.and"(%28, %33) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %35 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %37 = "stablehlo.subtract"(%24, %36) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %38 = "func.call"(%34, %37, %24) <{callee = @_where_3}> : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    "func.return"(%38) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>, sym_name = "_where_3", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<3xi1>, %arg6: tensor<3xi32>, %arg7: tensor<3xi32>):
    %22 = "stablehlo.select"(%arg5, %arg6, %arg7) : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    "func.return"(%22) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>, sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<3xi32>, %arg4: tensor<i32>):
    %1 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.compare"(%1, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %5 = "func.call"(%3, %4, %1) <{callee = @_where_4}> : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %7 = "stablehlo.remainder"(%arg3, %6) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %10 = "stablehlo.compare"(%7, %9) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %11 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %13 = "stablehlo.compare"(%7, %12) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %15 = "stablehlo.compare"(%5, %14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<3xi1>
    %17 = "stablehlo.compare"(%13, %16) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %18 = "stablehlo.and"(%17, %10) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %19 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %20 = "stablehlo.add"(%7, %19) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %21 = "stablehlo.select"(%18, %20, %7) : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    "func.return"(%21) : (tensor<3xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "_where_4", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%0) : (tensor<i32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
