module @jit_evaluate attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x1x3x3xf32>, %arg1: tensor<16xf32>, %arg2: tensor<32x16x3x3xf32>, %arg3: tensor<32xf32>, %arg4: tensor<1568x10xf32>, %arg5: tensor<10xf32>, %arg6: tensor<16x1x28x28xf32>, %arg7: tensor<16xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.convolution(%arg6, %arg0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x1x28x28xf32>, tensor<16x1x3x3xf32>) -> tensor<16x16x14x14xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xf32>) -> tensor<1x16x1x1xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x16x1x1xf32>) -> tensor<16x16x14x14xf32>
    %3 = stablehlo.add %0, %2 : tensor<16x16x14x14xf32>
    %4 = stablehlo.negate %3 : tensor<16x16x14x14xf32>
    %5 = stablehlo.exponential %4 : tensor<16x16x14x14xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x16x14x14xf32>
    %7 = stablehlo.add %6, %5 : tensor<16x16x14x14xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x16x14x14xf32>
    %9 = stablehlo.divide %8, %7 : tensor<16x16x14x14xf32>
    %10 = stablehlo.multiply %3, %9 : tensor<16x16x14x14xf32>
    %11 = stablehlo.convolution(%10, %arg2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x16x14x14xf32>, tensor<32x16x3x3xf32>) -> tensor<16x32x7x7xf32>
    %12 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<32xf32>) -> tensor<1x32x1x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x32x1x1xf32>) -> tensor<16x32x7x7xf32>
    %14 = stablehlo.add %11, %13 : tensor<16x32x7x7xf32>
    %15 = stablehlo.negate %14 : tensor<16x32x7x7xf32>
    %16 = stablehlo.exponential %15 : tensor<16x32x7x7xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x32x7x7xf32>
    %18 = stablehlo.add %17, %16 : tensor<16x32x7x7xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x32x7x7xf32>
    %20 = stablehlo.divide %19, %18 : tensor<16x32x7x7xf32>
    %21 = stablehlo.multiply %14, %20 : tensor<16x32x7x7xf32>
    %22 = stablehlo.reshape %21 : (tensor<16x32x7x7xf32>) -> tensor<16x1568xf32>
    %23 = stablehlo.dot_general %22, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x1568xf32>, tensor<1568x10xf32>) -> tensor<16x10xf32>
    %24 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<16x10xf32>
    %26 = stablehlo.add %23, %25 : tensor<16x10xf32>
    %27 = call @argmax(%26) : (tensor<16x10xf32>) -> tensor<16xi32>
    %28 = stablehlo.compare  EQ, %27, %arg7,  SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
    %29 = stablehlo.convert %28 : (tensor<16xi1>) -> tensor<16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    return %30 : tensor<f32>
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
