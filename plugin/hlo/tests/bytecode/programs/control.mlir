module @control {
  func.func public @main(%p: tensor<i1>, %n: tensor<i32>, %x: tensor<f32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.while(%i = %n, %acc = %x) : tensor<i32>, tensor<f32>
      cond {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %c = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.subtract %i, %one : tensor<i32>
        %if = "stablehlo.if"(%p) ({
          %a = func.call @helper(%acc) : (tensor<f32>) -> tensor<f32>
          stablehlo.return %a : tensor<f32>
        }, {
          %a = func.call @other(%acc) : (tensor<f32>) -> tensor<f32>
          stablehlo.return %a : tensor<f32>
        }) : (tensor<i1>) -> tensor<f32>
        stablehlo.return %j, %if : tensor<i32>, tensor<f32>
      }
    %1 = "stablehlo.case"(%0#0) ({
      stablehlo.return %0#1 : tensor<f32>
    }, {
      %y = stablehlo.negate %0#1 : tensor<f32>
      stablehlo.return %y : tensor<f32>
    }, {
      stablehlo.return %x : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @other(%x: tensor<f32>) -> tensor<f32> {
    %0 = func.call @helper(%x) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @helper(%x: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.sine %x : tensor<f32>
    return %0 : tensor<f32>
  }
}
