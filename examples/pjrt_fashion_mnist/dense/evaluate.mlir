module @jit_evaluate attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<784x10xf32>, %arg1: tensor<10xf32>, %arg2: tensor<10x10xf32>, %arg3: tensor<10xf32>, %arg4: tensor<16x1x28x28xf32>, %arg5: tensor<16xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.reshape %arg4 : (tensor<16x1x28x28xf32>) -> tensor<16x784xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x784xf32>, tensor<784x10xf32>) -> tensor<16x10xf32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<16x10xf32>
    %4 = stablehlo.add %1, %3 : tensor<16x10xf32>
    %5 = stablehlo.negate %4 : tensor<16x10xf32>
    %6 = stablehlo.exponential %5 : tensor<16x10xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x10xf32>
    %8 = stablehlo.add %7, %6 : tensor<16x10xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x10xf32>
    %10 = stablehlo.divide %9, %8 : tensor<16x10xf32>
    %11 = stablehlo.multiply %4, %10 : tensor<16x10xf32>
    %12 = stablehlo.dot_general %11, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x10xf32>, tensor<10x10xf32>) -> tensor<16x10xf32>
    %13 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<16x10xf32>
    %15 = stablehlo.add %12, %14 : tensor<16x10xf32>
    %16 = call @argmax(%15) : (tensor<16x10xf32>) -> tensor<16xi32>
    %17 = stablehlo.compare  EQ, %16, %arg5,  SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
    %18 = stablehlo.convert %17 : (tensor<16xi1>) -> tensor<16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    return %19 : tensor<f32>
  }
  func.func private @argmax(%arg0: tensor<16x10xf32>) -> tensor<16xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<16x10xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<16x10xf32>, tensor<16x10xi32>, tensor<f32>, tensor<i32>) -> (tensor<16xf32>, tensor<16xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare  GT, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare  NE, %arg1, %arg1,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare  EQ, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare  LT, %arg2, %arg4,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<16xi32>
  }
}
