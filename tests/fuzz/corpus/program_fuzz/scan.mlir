module @jit_sc attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128xf32>, %arg1: tensor<100x128xf32>) -> (tensor<128xf32> {jax.result_info = "result[0]"}, tensor<100x128xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<100x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %c, %iterArg_1 = %arg0, %iterArg_2 = %0) : tensor<100x128xf32>, tensor<i32>, tensor<128xf32>, tensor<100x128xf32>
    cond {
      %c_3 = stablehlo.constant dense<100> : tensor<i32>
      %2 = stablehlo.compare  LT, %iterArg_0, %c_3,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %2 = stablehlo.dynamic_slice %iterArg, %iterArg_0, %c_3, sizes = [1, 128] : (tensor<100x128xf32>, tensor<i32>, tensor<i32>) -> tensor<1x128xf32>
      %3 = stablehlo.reshape %2 : (tensor<1x128xf32>) -> tensor<128xf32>
      %4:2 = func.call @closed_call(%iterArg_1, %3) : (tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
      %5 = stablehlo.broadcast_in_dim %4#1, dims = [1] : (tensor<128xf32>) -> tensor<1x128xf32>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %6 = stablehlo.dynamic_update_slice %iterArg_2, %5, %iterArg_0, %c_4 : (tensor<100x128xf32>, tensor<1x128xf32>, tensor<i32>, tensor<i32>) -> tensor<100x128xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg_0, %c_5 : tensor<i32>
      stablehlo.return %iterArg, %7, %4#0, %6 : tensor<100x128xf32>, tensor<i32>, tensor<128xf32>, tensor<100x128xf32>
    }
    return %1#2, %1#3 : tensor<128xf32>, tensor<100x128xf32>
  }
  func.func private @closed_call(%arg0: tensor<128xf32>, %arg1: tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<128xf32>
    %1 = stablehlo.tanh %0 : tensor<128xf32>
    return %1, %arg0 : tensor<128xf32>, tensor<128xf32>
  }
}
