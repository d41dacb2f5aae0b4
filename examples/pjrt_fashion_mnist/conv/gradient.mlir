module @jit_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x1x3x3xf32>, %arg1: tensor<16xf32>, %arg2: tensor<32x16x3x3xf32>, %arg3: tensor<32xf32>, %arg4: tensor<1568x10xf32>, %arg5: tensor<10xf32>, %arg6: tensor<16x1x28x28xf32>, %arg7: tensor<16xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<16x1x3x3xf32> {jax.result_info = "result[1]"}, tensor<16xf32> {jax.result_info = "result[2]"}, tensor<32x16x3x3xf32> {jax.result_info = "result[3]"}, tensor<32xf32> {jax.result_info = "result[4]"}, tensor<1568x10xf32> {jax.result_info = "result[5]"}, tensor<10xf32> {jax.result_info = "result[6]"}) {
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
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x16x14x14xf32>
    %11 = stablehlo.subtract %10, %9 : tensor<16x16x14x14xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<16x16x14x14xf32>
    %13 = stablehlo.multiply %3, %9 : tensor<16x16x14x14xf32>
    %14 = stablehlo.convolution(%13, %arg2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x16x14x14xf32>, tensor<32x16x3x3xf32>) -> tensor<16x32x7x7xf32>
    %15 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<32xf32>) -> tensor<1x32x1x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<1x32x1x1xf32>) -> tensor<16x32x7x7xf32>
    %17 = stablehlo.add %14, %16 : tensor<16x32x7x7xf32>
    %18 = stablehlo.negate %17 : tensor<16x32x7x7xf32>
    %19 = stablehlo.exponential %18 : tensor<16x32x7x7xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x32x7x7xf32>
    %21 = stablehlo.add %20, %19 : tensor<16x32x7x7xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x32x7x7xf32>
    %23 = stablehlo.divide %22, %21 : tensor<16x32x7x7xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x32x7x7xf32>
    %25 = stablehlo.subtract %24, %23 : tensor<16x32x7x7xf32>
    %26 = stablehlo.multiply %23, %25 : tensor<16x32x7x7xf32>
    %27 = stablehlo.multiply %17, %23 : tensor<16x32x7x7xf32>
    %28 = stablehlo.reshape %27 : (tensor<16x32x7x7xf32>) -> tensor<16x1568xf32>
    %29 = stablehlo.dot_general %28, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x1568xf32>, tensor<1568x10xf32>) -> tensor<16x10xf32>
    %30 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<16x10xf32>
    %32 = stablehlo.add %29, %31 : tensor<16x10xf32>
    %33 = call @_one_hot(%arg7) : (tensor<16xi32>) -> tensor<16x10xf32>
    %34:3 = call @log_softmax(%32) : (tensor<16x10xf32>) -> (tensor<16x10xf32>, tensor<16x10xf32>, tensor<16x1xf32>)
    %35 = stablehlo.multiply %33, %34#0 : tensor<16x10xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %38 = stablehlo.divide %37, %cst_7 : tensor<f32>
    %39 = stablehlo.negate %38 : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %40 = stablehlo.negate %cst_8 : tensor<f32>
    %cst_9 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %41 = stablehlo.divide %40, %cst_9 : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0] : (tensor<16xf32>) -> tensor<16x10xf32>
    %44 = stablehlo.multiply %33, %43 : tensor<16x10xf32>
    %45 = call @log_softmax_23(%34#1, %34#2, %44) : (tensor<16x10xf32>, tensor<16x1xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<16x10xf32>, tensor<f32>) -> tensor<10xf32>
    %47 = stablehlo.reshape %46 : (tensor<10xf32>) -> tensor<1x10xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %49 = stablehlo.dot_general %45, %28, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x10xf32>, tensor<16x1568xf32>) -> tensor<10x1568xf32>
    %50 = stablehlo.transpose %49, dims = [1, 0] : (tensor<10x1568xf32>) -> tensor<1568x10xf32>
    %51 = stablehlo.dot_general %45, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x10xf32>, tensor<1568x10xf32>) -> tensor<16x1568xf32>
    %52 = stablehlo.reshape %51 : (tensor<16x1568xf32>) -> tensor<16x32x7x7xf32>
    %53 = stablehlo.multiply %17, %52 : tensor<16x32x7x7xf32>
    %54 = stablehlo.multiply %52, %23 : tensor<16x32x7x7xf32>
    %55 = stablehlo.multiply %53, %26 : tensor<16x32x7x7xf32>
    %56 = stablehlo.add %54, %55 : tensor<16x32x7x7xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.reduce(%56 init: %cst_12) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<16x32x7x7xf32>, tensor<f32>) -> tensor<32xf32>
    %58 = stablehlo.reshape %57 : (tensor<32xf32>) -> tensor<1x32x1x1xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%58 init: %cst_13) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x32x1x1xf32>, tensor<f32>) -> tensor<32xf32>
    %60 = stablehlo.convolution(%13, %56) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x16x14x14xf32>, tensor<16x32x7x7xf32>) -> tensor<32x16x3x3xf32>
    %61 = stablehlo.reverse %arg2, dims = [2, 3] : tensor<32x16x3x3xf32>
    %62 = stablehlo.convolution(%56, %61) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x32x7x7xf32>, tensor<32x16x3x3xf32>) -> tensor<16x16x14x14xf32>
    %63 = stablehlo.multiply %3, %62 : tensor<16x16x14x14xf32>
    %64 = stablehlo.multiply %62, %9 : tensor<16x16x14x14xf32>
    %65 = stablehlo.multiply %63, %12 : tensor<16x16x14x14xf32>
    %66 = stablehlo.add %64, %65 : tensor<16x16x14x14xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%66 init: %cst_14) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<16x16x14x14xf32>, tensor<f32>) -> tensor<16xf32>
    %68 = stablehlo.reshape %67 : (tensor<16xf32>) -> tensor<1x16x1x1xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %69 = stablehlo.reduce(%68 init: %cst_15) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<1x16x1x1xf32>, tensor<f32>) -> tensor<16xf32>
    %70 = stablehlo.convolution(%arg6, %66) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x1x28x28xf32>, tensor<16x16x14x14xf32>) -> tensor<16x1x3x3xf32>
    return %39, %70, %69, %60, %59, %50, %48 : tensor<f32>, tensor<16x1x3x3xf32>, tensor<16xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>
  }
  func.func private @_one_hot(%arg0: tensor<16xi32>) -> tensor<16x10xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x10xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<16x1xi32>) -> tensor<16x10xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x10xi32>) -> tensor<16x10xi32>
    %4 = stablehlo.compare  EQ, %2, %3,  SIGNED : (tensor<16x10xi32>, tensor<16x10xi32>) -> tensor<16x10xi1>
    %5 = stablehlo.convert %4 : (tensor<16x10xi1>) -> tensor<16x10xf32>
    return %5 : tensor<16x10xf32>
  }
  func.func private @log_softmax(%arg0: tensor<16x10xf32>) -> (tensor<16x10xf32>, tensor<16x10xf32>, tensor<16x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<16xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<16x10xf32>
    %6 = stablehlo.exponential %5 : tensor<16x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %9 = stablehlo.log %8 : tensor<16x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<16x10xf32>
    return %11, %6, %8 : tensor<16x10xf32>, tensor<16x10xf32>, tensor<16x1xf32>
  }
  func.func private @log_softmax_23(%arg0: tensor<16x10xf32>, %arg1: tensor<16x1xf32>, %arg2: tensor<16x10xf32>) -> tensor<16x10xf32> {
    %0 = stablehlo.negate %arg2 : tensor<16x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %2 = stablehlo.reshape %1 : (tensor<16xf32>) -> tensor<16x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<16x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<16x1xf32>, tensor<f32>) -> tensor<16xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<16xf32>) -> tensor<16x10xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<16x10xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<16x10xf32>
    return %7 : tensor<16x10xf32>
  }
}
