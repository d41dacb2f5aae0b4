module @jit_update attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x1x3x3xf32>, %arg1: tensor<16xf32>, %arg2: tensor<32x16x3x3xf32>, %arg3: tensor<32xf32>, %arg4: tensor<1568x10xf32>, %arg5: tensor<10xf32>, %arg6: tensor<16x1x3x3xf32>, %arg7: tensor<16xf32>, %arg8: tensor<32x16x3x3xf32>, %arg9: tensor<32xf32>, %arg10: tensor<1568x10xf32>, %arg11: tensor<10xf32>, %arg12: tensor<16x1x3x3xf32>, %arg13: tensor<16xf32>, %arg14: tensor<32x16x3x3xf32>, %arg15: tensor<32xf32>, %arg16: tensor<1568x10xf32>, %arg17: tensor<10xf32>, %arg18: tensor<f32>, %arg19: tensor<16x1x3x3xf32>, %arg20: tensor<16xf32>, %arg21: tensor<32x16x3x3xf32>, %arg22: tensor<32xf32>, %arg23: tensor<1568x10xf32>, %arg24: tensor<10xf32>) -> (tensor<16x1x3x3xf32> {jax.result_info = "result[0]"}, tensor<16xf32> {jax.result_info = "result[1]"}, tensor<32x16x3x3xf32> {jax.result_info = "result[2]"}, tensor<32xf32> {jax.result_info = "result[3]"}, tensor<1568x10xf32> {jax.result_info = "result[4]"}, tensor<10xf32> {jax.result_info = "result[5]"}, tensor<16x1x3x3xf32> {jax.result_info = "result[6]"}, tensor<16xf32> {jax.result_info = "result[7]"}, tensor<32x16x3x3xf32> {jax.result_info = "result[8]"}, tensor<32xf32> {jax.result_info = "result[9]"}, tensor<1568x10xf32> {jax.result_info = "result[10]"}, tensor<10xf32> {jax.result_info = "result[11]"}, tensor<16x1x3x3xf32> {jax.result_info = "result[12]"}, tensor<16xf32> {jax.result_info = "result[13]"}, tensor<32x16x3x3xf32> {jax.result_info = "result[14]"}, tensor<32xf32> {jax.result_info = "result[15]"}, tensor<1568x10xf32> {jax.result_info = "result[16]"}, tensor<10xf32> {jax.result_info = "result[17]"}, tensor<f32> {jax.result_info = "result[18]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.add %arg18, %cst : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x1x3x3xf32>
    %2 = stablehlo.multiply %1, %arg6 : tensor<16x1x3x3xf32>
    %cst_1 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x1x3x3xf32>
    %4 = stablehlo.multiply %3, %arg19 : tensor<16x1x3x3xf32>
    %5 = stablehlo.add %2, %4 : tensor<16x1x3x3xf32>
    %cst_2 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %7 = stablehlo.multiply %6, %arg7 : tensor<16xf32>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %9 = stablehlo.multiply %8, %arg20 : tensor<16xf32>
    %10 = stablehlo.add %7, %9 : tensor<16xf32>
    %cst_4 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x16x3x3xf32>
    %12 = stablehlo.multiply %11, %arg8 : tensor<32x16x3x3xf32>
    %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<32x16x3x3xf32>
    %14 = stablehlo.multiply %13, %arg21 : tensor<32x16x3x3xf32>
    %15 = stablehlo.add %12, %14 : tensor<32x16x3x3xf32>
    %cst_6 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %17 = stablehlo.multiply %16, %arg9 : tensor<32xf32>
    %cst_7 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %19 = stablehlo.multiply %18, %arg22 : tensor<32xf32>
    %20 = stablehlo.add %17, %19 : tensor<32xf32>
    %cst_8 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %22 = stablehlo.multiply %21, %arg10 : tensor<1568x10xf32>
    %cst_9 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %24 = stablehlo.multiply %23, %arg23 : tensor<1568x10xf32>
    %25 = stablehlo.add %22, %24 : tensor<1568x10xf32>
    %cst_10 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %27 = stablehlo.multiply %26, %arg11 : tensor<10xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %29 = stablehlo.multiply %28, %arg24 : tensor<10xf32>
    %30 = stablehlo.add %27, %29 : tensor<10xf32>
    %cst_12 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<16x1x3x3xf32>
    %32 = stablehlo.multiply %31, %arg12 : tensor<16x1x3x3xf32>
    %cst_13 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<16x1x3x3xf32>
    %34 = stablehlo.multiply %33, %arg19 : tensor<16x1x3x3xf32>
    %35 = stablehlo.multiply %34, %arg19 : tensor<16x1x3x3xf32>
    %36 = stablehlo.add %32, %35 : tensor<16x1x3x3xf32>
    %cst_14 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %38 = stablehlo.multiply %37, %arg13 : tensor<16xf32>
    %cst_15 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %40 = stablehlo.multiply %39, %arg20 : tensor<16xf32>
    %41 = stablehlo.multiply %40, %arg20 : tensor<16xf32>
    %42 = stablehlo.add %38, %41 : tensor<16xf32>
    %cst_16 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<32x16x3x3xf32>
    %44 = stablehlo.multiply %43, %arg14 : tensor<32x16x3x3xf32>
    %cst_17 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<32x16x3x3xf32>
    %46 = stablehlo.multiply %45, %arg21 : tensor<32x16x3x3xf32>
    %47 = stablehlo.multiply %46, %arg21 : tensor<32x16x3x3xf32>
    %48 = stablehlo.add %44, %47 : tensor<32x16x3x3xf32>
    %cst_18 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %50 = stablehlo.multiply %49, %arg15 : tensor<32xf32>
    %cst_19 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %52 = stablehlo.multiply %51, %arg22 : tensor<32xf32>
    %53 = stablehlo.multiply %52, %arg22 : tensor<32xf32>
    %54 = stablehlo.add %50, %53 : tensor<32xf32>
    %cst_20 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %56 = stablehlo.multiply %55, %arg16 : tensor<1568x10xf32>
    %cst_21 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %58 = stablehlo.multiply %57, %arg23 : tensor<1568x10xf32>
    %59 = stablehlo.multiply %58, %arg23 : tensor<1568x10xf32>
    %60 = stablehlo.add %56, %59 : tensor<1568x10xf32>
    %cst_22 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %62 = stablehlo.multiply %61, %arg17 : tensor<10xf32>
    %cst_23 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %64 = stablehlo.multiply %63, %arg24 : tensor<10xf32>
    %65 = stablehlo.multiply %64, %arg24 : tensor<10xf32>
    %66 = stablehlo.add %62, %65 : tensor<10xf32>
    %cst_24 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %67 = stablehlo.power %cst_24, %0 : tensor<f32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %68 = stablehlo.subtract %cst_25, %67 : tensor<f32>
    %69 = stablehlo.sqrt %68 : tensor<f32>
    %cst_26 = stablehlo.constant dense<3.000000e-03> : tensor<f32>
    %70 = stablehlo.multiply %cst_26, %69 : tensor<f32>
    %cst_27 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %71 = stablehlo.power %cst_27, %0 : tensor<f32>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %72 = stablehlo.subtract %cst_28, %71 : tensor<f32>
    %73 = stablehlo.divide %70, %72 : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [] : (tensor<f32>) -> tensor<16x1x3x3xf32>
    %75 = stablehlo.multiply %74, %5 : tensor<16x1x3x3xf32>
    %76 = stablehlo.sqrt %36 : tensor<16x1x3x3xf32>
    %cst_29 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<16x1x3x3xf32>
    %78 = stablehlo.add %76, %77 : tensor<16x1x3x3xf32>
    %79 = stablehlo.divide %75, %78 : tensor<16x1x3x3xf32>
    %80 = stablehlo.subtract %arg0, %79 : tensor<16x1x3x3xf32>
    %81 = stablehlo.broadcast_in_dim %73, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %82 = stablehlo.multiply %81, %10 : tensor<16xf32>
    %83 = stablehlo.sqrt %42 : tensor<16xf32>
    %cst_30 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %85 = stablehlo.add %83, %84 : tensor<16xf32>
    %86 = stablehlo.divide %82, %85 : tensor<16xf32>
    %87 = stablehlo.subtract %arg1, %86 : tensor<16xf32>
    %88 = stablehlo.broadcast_in_dim %73, dims = [] : (tensor<f32>) -> tensor<32x16x3x3xf32>
    %89 = stablehlo.multiply %88, %15 : tensor<32x16x3x3xf32>
    %90 = stablehlo.sqrt %48 : tensor<32x16x3x3xf32>
    %cst_31 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<32x16x3x3xf32>
    %92 = stablehlo.add %90, %91 : tensor<32x16x3x3xf32>
    %93 = stablehlo.divide %89, %92 : tensor<32x16x3x3xf32>
    %94 = stablehlo.subtract %arg2, %93 : tensor<32x16x3x3xf32>
    %95 = stablehlo.broadcast_in_dim %73, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %96 = stablehlo.multiply %95, %20 : tensor<32xf32>
    %97 = stablehlo.sqrt %54 : tensor<32xf32>
    %cst_32 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %99 = stablehlo.add %97, %98 : tensor<32xf32>
    %100 = stablehlo.divide %96, %99 : tensor<32xf32>
    %101 = stablehlo.subtract %arg3, %100 : tensor<32xf32>
    %102 = stablehlo.broadcast_in_dim %73, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %103 = stablehlo.multiply %102, %25 : tensor<1568x10xf32>
    %104 = stablehlo.sqrt %60 : tensor<1568x10xf32>
    %cst_33 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<1568x10xf32>
    %106 = stablehlo.add %104, %105 : tensor<1568x10xf32>
    %107 = stablehlo.divide %103, %106 : tensor<1568x10xf32>
    %108 = stablehlo.subtract %arg4, %107 : tensor<1568x10xf32>
    %109 = stablehlo.broadcast_in_dim %73, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %110 = stablehlo.multiply %109, %30 : tensor<10xf32>
    %111 = stablehlo.sqrt %66 : tensor<10xf32>
    %cst_34 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %113 = stablehlo.add %111, %112 : tensor<10xf32>
    %114 = stablehlo.divide %110, %113 : tensor<10xf32>
    %115 = stablehlo.subtract %arg5, %114 : tensor<10xf32>
    return %80, %87, %94, %101, %108, %115, %5, %10, %15, %20, %25, %30, %36, %42, %48, %54, %60, %66, %0 : tensor<16x1x3x3xf32>, tensor<16xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<16x1x3x3xf32>, tensor<16xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<16x1x3x3xf32>, tensor<16xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>, tensor<1568x10xf32>, tensor<10xf32>, tensor<f32>
  }
}
