module @jit_update attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<784x10xf32>, %arg1: tensor<10xf32>, %arg2: tensor<10x10xf32>, %arg3: tensor<10xf32>, %arg4: tensor<784x10xf32>, %arg5: tensor<10xf32>, %arg6: tensor<10x10xf32>, %arg7: tensor<10xf32>, %arg8: tensor<784x10xf32>, %arg9: tensor<10xf32>, %arg10: tensor<10x10xf32>, %arg11: tensor<10xf32>, %arg12: tensor<f32>, %arg13: tensor<784x10xf32>, %arg14: tensor<10xf32>, %arg15: tensor<10x10xf32>, %arg16: tensor<10xf32>) -> (tensor<784x10xf32> {jax.result_info = "result[0]"}, tensor<10xf32> {jax.result_info = "result[1]"}, tensor<10x10xf32> {jax.result_info = "result[2]"}, tensor<10xf32> {jax.result_info = "result[3]"}, tensor<784x10xf32> {jax.result_info = "result[4]"}, tensor<10xf32> {jax.result_info = "result[5]"}, tensor<10x10xf32> {jax.result_info = "result[6]"}, tensor<10xf32> {jax.result_info = "result[7]"}, tensor<784x10xf32> {jax.result_info = "result[8]"}, tensor<10xf32> {jax.result_info = "result[9]"}, tensor<10x10xf32> {jax.result_info = "result[10]"}, tensor<10xf32> {jax.result_info = "result[11]"}, tensor<f32> {jax.result_info = "result[12]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.add %arg12, %cst : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<784x10xf32>
    %2 = stablehlo.multiply %1, %arg4 : tensor<784x10xf32>
    %cst_1 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<784x10xf32>
    %4 = stablehlo.multiply %3, %arg13 : tensor<784x10xf32>
    %5 = stablehlo.add %2, %4 : tensor<784x10xf32>
    %cst_2 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %7 = stablehlo.multiply %6, %arg5 : tensor<10xf32>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %9 = stablehlo.multiply %8, %arg14 : tensor<10xf32>
    %10 = stablehlo.add %7, %9 : tensor<10xf32>
    %cst_4 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<10x10xf32>
    %12 = stablehlo.multiply %11, %arg6 : tensor<10x10xf32>
    %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10x10xf32>
    %14 = stablehlo.multiply %13, %arg15 : tensor<10x10xf32>
    %15 = stablehlo.add %12, %14 : tensor<10x10xf32>
    %cst_6 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %17 = stablehlo.multiply %16, %arg7 : tensor<10xf32>
    %cst_7 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %19 = stablehlo.multiply %18, %arg16 : tensor<10xf32>
    %20 = stablehlo.add %17, %19 : tensor<10xf32>
    %cst_8 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<784x10xf32>
    %22 = stablehlo.multiply %21, %arg8 : tensor<784x10xf32>
    %cst_9 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<784x10xf32>
    %24 = stablehlo.multiply %23, %arg13 : tensor<784x10xf32>
    %25 = stablehlo.multiply %24, %arg13 : tensor<784x10xf32>
    %26 = stablehlo.add %22, %25 : tensor<784x10xf32>
    %cst_10 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %28 = stablehlo.multiply %27, %arg9 : tensor<10xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %30 = stablehlo.multiply %29, %arg14 : tensor<10xf32>
    %31 = stablehlo.multiply %30, %arg14 : tensor<10xf32>
    %32 = stablehlo.add %28, %31 : tensor<10xf32>
    %cst_12 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10x10xf32>
    %34 = stablehlo.multiply %33, %arg10 : tensor<10x10xf32>
    %cst_13 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<10x10xf32>
    %36 = stablehlo.multiply %35, %arg15 : tensor<10x10xf32>
    %37 = stablehlo.multiply %36, %arg15 : tensor<10x10xf32>
    %38 = stablehlo.add %34, %37 : tensor<10x10xf32>
    %cst_14 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %40 = stablehlo.multiply %39, %arg11 : tensor<10xf32>
    %cst_15 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %42 = stablehlo.multiply %41, %arg16 : tensor<10xf32>
    %43 = stablehlo.multiply %42, %arg16 : tensor<10xf32>
    %44 = stablehlo.add %40, %43 : tensor<10xf32>
    %cst_16 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %45 = stablehlo.power %cst_16, %0 : tensor<f32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %46 = stablehlo.subtract %cst_17, %45 : tensor<f32>
    %47 = stablehlo.sqrt %46 : tensor<f32>
    %cst_18 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
    %48 = stablehlo.multiply %cst_18, %47 : tensor<f32>
    %cst_19 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %49 = stablehlo.power %cst_19, %0 : tensor<f32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %50 = stablehlo.subtract %cst_20, %49 : tensor<f32>
    %51 = stablehlo.divide %48, %50 : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [] : (tensor<f32>) -> tensor<784x10xf32>
    %53 = stablehlo.multiply %52, %5 : tensor<784x10xf32>
    %54 = stablehlo.sqrt %26 : tensor<784x10xf32>
    %cst_21 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<784x10xf32>
    %56 = stablehlo.add %54, %55 : tensor<784x10xf32>
    %57 = stablehlo.divide %53, %56 : tensor<784x10xf32>
    %58 = stablehlo.subtract %arg0, %57 : tensor<784x10xf32>
    %59 = stablehlo.broadcast_in_dim %51, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %60 = stablehlo.multiply %59, %10 : tensor<10xf32>
    %61 = stablehlo.sqrt %32 : tensor<10xf32>
    %cst_22 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %63 = stablehlo.add %61, %62 : tensor<10xf32>
    %64 = stablehlo.divide %60, %63 : tensor<10xf32>
    %65 = stablehlo.subtract %arg1, %64 : tensor<10xf32>
    %66 = stablehlo.broadcast_in_dim %51, dims = [] : (tensor<f32>) -> tensor<10x10xf32>
    %67 = stablehlo.multiply %66, %15 : tensor<10x10xf32>
    %68 = stablehlo.sqrt %38 : tensor<10x10xf32>
    %cst_23 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<10x10xf32>
    %70 = stablehlo.add %68, %69 : tensor<10x10xf32>
    %71 = stablehlo.divide %67, %70 : tensor<10x10xf32>
    %72 = stablehlo.subtract %arg2, %71 : tensor<10x10xf32>
    %73 = stablehlo.broadcast_in_dim %51, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %74 = stablehlo.multiply %73, %20 : tensor<10xf32>
    %75 = stablehlo.sqrt %44 : tensor<10xf32>
    %cst_24 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %77 = stablehlo.add %75, %76 : tensor<10xf32>
    %78 = stablehlo.divide %74, %77 : tensor<10xf32>
    %79 = stablehlo.subtract %arg3, %78 : tensor<10xf32>
    return %58, %65, %72, %79, %5, %10, %15, %20, %26, %32, %38, %44, %0 : tensor<784x10xf32>, tensor<10xf32>, tensor<10x10xf32>, tensor<10xf32>, tensor<784x10xf32>, tensor<10xf32>, tensor<10x10xf32>, tensor<10xf32>, tensor<784x10xf32>, tensor<10xf32>, tensor<10x10xf32>, tensor<10xf32>, tensor<f32>
  }
}
