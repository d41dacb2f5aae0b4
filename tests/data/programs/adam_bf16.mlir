module @jit_adam attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<784x512xf32>, %arg1: tensor<512xf32>, %arg2: tensor<512x10xf32>, %arg3: tensor<10xf32>, %arg4: tensor<784x512xf32>, %arg5: tensor<512xf32>, %arg6: tensor<512x10xf32>, %arg7: tensor<10xf32>, %arg8: tensor<784x512xf32>, %arg9: tensor<512xf32>, %arg10: tensor<512x10xf32>, %arg11: tensor<10xf32>, %arg12: tensor<256x784xf32>, %arg13: tensor<256xi32>) -> (tensor<784x512xf32> {jax.result_info = "result[0][0]"}, tensor<512xf32> {jax.result_info = "result[0][1]"}, tensor<512x10xf32> {jax.result_info = "result[0][2]"}, tensor<10xf32> {jax.result_info = "result[0][3]"}, tensor<784x512xf32> {jax.result_info = "result[1][0]"}, tensor<512xf32> {jax.result_info = "result[1][1]"}, tensor<512x10xf32> {jax.result_info = "result[1][2]"}, tensor<10xf32> {jax.result_info = "result[1][3]"}, tensor<784x512xf32> {jax.result_info = "result[2][0]"}, tensor<512xf32> {jax.result_info = "result[2][1]"}, tensor<512x10xf32> {jax.result_info = "result[2][2]"}, tensor<10xf32> {jax.result_info = "result[2][3]"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<784x512xf32>) -> tensor<784x512xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<512xf32>) -> tensor<512xbf16>
    %2 = stablehlo.convert %arg2 : (tensor<512x10xf32>) -> tensor<512x10xbf16>
    %3 = stablehlo.convert %arg3 : (tensor<10xf32>) -> tensor<10xbf16>
    %4 = stablehlo.dot_general %arg12, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x784xf32>, tensor<784x512xbf16>) -> tensor<256x512xf32>
    %5 = stablehlo.convert %1 : (tensor<512xbf16>) -> tensor<512xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %8 = stablehlo.add %4, %7 : tensor<256x512xf32>
    %9 = call @relu(%8) : (tensor<256x512xf32>) -> tensor<256x512xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %11 = stablehlo.compare  GT, %8, %10,  FLOAT : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<256x512xi1>
    %12 = stablehlo.dot_general %9, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x10xbf16>) -> tensor<256x10xf32>
    %13 = stablehlo.convert %3 : (tensor<10xbf16>) -> tensor<10xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<256x10xf32>
    %16 = stablehlo.add %12, %15 : tensor<256x10xf32>
    %17:3 = call @log_softmax(%16) : (tensor<256x10xf32>) -> (tensor<256x10xf32>, tensor<256x10xf32>, tensor<256x1xf32>)
    %18 = call @_one_hot(%arg13) : (tensor<256xi32>) -> tensor<256x10xf32>
    %19 = stablehlo.multiply %17#0, %18 : tensor<256x10xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<256xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %22 = stablehlo.divide %21, %cst_2 : tensor<f32>
    %23 = stablehlo.negate %22 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.negate %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %25 = stablehlo.divide %24, %cst_4 : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<256xf32>) -> tensor<256x10xf32>
    %28 = stablehlo.multiply %27, %18 : tensor<256x10xf32>
    %29 = call @log_softmax_15(%17#1, %17#2, %28) : (tensor<256x10xf32>, tensor<256x1xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<256x10xf32>, tensor<f32>) -> tensor<10xf32>
    %31 = stablehlo.reshape %30 : (tensor<10xf32>) -> tensor<1x10xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %33 = stablehlo.convert %32 : (tensor<10xf32>) -> tensor<10xbf16>
    %34 = stablehlo.dot_general %29, %9, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x10xf32>, tensor<256x512xf32>) -> tensor<10x512xf32>
    %35 = stablehlo.transpose %34, dims = [1, 0] : (tensor<10x512xf32>) -> tensor<512x10xf32>
    %36 = stablehlo.convert %35 : (tensor<512x10xf32>) -> tensor<512x10xbf16>
    %37 = stablehlo.dot_general %29, %2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<256x10xf32>, tensor<512x10xbf16>) -> tensor<256x512xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %39 = stablehlo.select %11, %37, %38 : tensor<256x512xi1>, tensor<256x512xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<256x512xf32>, tensor<f32>) -> tensor<512xf32>
    %41 = stablehlo.reshape %40 : (tensor<512xf32>) -> tensor<1x512xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %43 = stablehlo.convert %42 : (tensor<512xf32>) -> tensor<512xbf16>
    %44 = stablehlo.dot_general %39, %arg12, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<256x784xf32>) -> tensor<512x784xf32>
    %45 = stablehlo.transpose %44, dims = [1, 0] : (tensor<512x784xf32>) -> tensor<784x512xf32>
    %46 = stablehlo.convert %45 : (tensor<784x512xf32>) -> tensor<784x512xbf16>
    %47 = stablehlo.convert %46 : (tensor<784x512xbf16>) -> tensor<784x512xf32>
    %48 = stablehlo.convert %43 : (tensor<512xbf16>) -> tensor<512xf32>
    %49 = stablehlo.convert %36 : (tensor<512x10xbf16>) -> tensor<512x10xf32>
    %50 = stablehlo.convert %33 : (tensor<10xbf16>) -> tensor<10xf32>
    %cst_10 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %52 = stablehlo.multiply %51, %arg4 : tensor<784x512xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %54 = stablehlo.multiply %53, %47 : tensor<784x512xf32>
    %55 = stablehlo.add %52, %54 : tensor<784x512xf32>
    %cst_12 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %57 = stablehlo.multiply %56, %arg5 : tensor<512xf32>
    %cst_13 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %59 = stablehlo.multiply %58, %48 : tensor<512xf32>
    %60 = stablehlo.add %57, %59 : tensor<512xf32>
    %cst_14 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %62 = stablehlo.multiply %61, %arg6 : tensor<512x10xf32>
    %cst_15 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %64 = stablehlo.multiply %63, %49 : tensor<512x10xf32>
    %65 = stablehlo.add %62, %64 : tensor<512x10xf32>
    %cst_16 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %67 = stablehlo.multiply %66, %arg7 : tensor<10xf32>
    %cst_17 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %69 = stablehlo.multiply %68, %50 : tensor<10xf32>
    %70 = stablehlo.add %67, %69 : tensor<10xf32>
    %cst_18 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %72 = stablehlo.multiply %71, %arg8 : tensor<784x512xf32>
    %cst_19 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %74 = stablehlo.multiply %73, %47 : tensor<784x512xf32>
    %75 = stablehlo.multiply %74, %47 : tensor<784x512xf32>
    %76 = stablehlo.add %72, %75 : tensor<784x512xf32>
    %cst_20 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %78 = stablehlo.multiply %77, %arg9 : tensor<512xf32>
    %cst_21 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %80 = stablehlo.multiply %79, %48 : tensor<512xf32>
    %81 = stablehlo.multiply %80, %48 : tensor<512xf32>
    %82 = stablehlo.add %78, %81 : tensor<512xf32>
    %cst_22 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %84 = stablehlo.multiply %83, %arg10 : tensor<512x10xf32>
    %cst_23 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %86 = stablehlo.multiply %85, %49 : tensor<512x10xf32>
    %87 = stablehlo.multiply %86, %49 : tensor<512x10xf32>
    %88 = stablehlo.add %84, %87 : tensor<512x10xf32>
    %cst_24 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %90 = stablehlo.multiply %89, %arg11 : tensor<10xf32>
    %cst_25 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %92 = stablehlo.multiply %91, %50 : tensor<10xf32>
    %93 = stablehlo.multiply %92, %50 : tensor<10xf32>
    %94 = stablehlo.add %90, %93 : tensor<10xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %96 = stablehlo.multiply %95, %55 : tensor<784x512xf32>
    %97 = stablehlo.sqrt %76 : tensor<784x512xf32>
    %cst_27 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %99 = stablehlo.add %97, %98 : tensor<784x512xf32>
    %100 = stablehlo.divide %96, %99 : tensor<784x512xf32>
    %101 = stablehlo.subtract %arg0, %100 : tensor<784x512xf32>
    %cst_28 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %103 = stablehlo.multiply %102, %60 : tensor<512xf32>
    %104 = stablehlo.sqrt %82 : tensor<512xf32>
    %cst_29 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %106 = stablehlo.add %104, %105 : tensor<512xf32>
    %107 = stablehlo.divide %103, %106 : tensor<512xf32>
    %108 = stablehlo.subtract %arg1, %107 : tensor<512xf32>
    %cst_30 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %110 = stablehlo.multiply %109, %65 : tensor<512x10xf32>
    %111 = stablehlo.sqrt %88 : tensor<512x10xf32>
    %cst_31 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %113 = stablehlo.add %111, %112 : tensor<512x10xf32>
    %114 = stablehlo.divide %110, %113 : tensor<512x10xf32>
    %115 = stablehlo.subtract %arg2, %114 : tensor<512x10xf32>
    %cst_32 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %117 = stablehlo.multiply %116, %70 : tensor<10xf32>
    %118 = stablehlo.sqrt %94 : tensor<10xf32>
    %cst_33 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %120 = stablehlo.add %118, %119 : tensor<10xf32>
    %121 = stablehlo.divide %117, %120 : tensor<10xf32>
    %122 = stablehlo.subtract %arg3, %121 : tensor<10xf32>
    return %101, %108, %115, %122, %55, %60, %65, %70, %76, %82, %88, %94, %23 : tensor<784x512xf32>, tensor<512xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<784x512xf32>, tensor<512xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<784x512xf32>, tensor<512xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<256x512xf32>) -> tensor<256x512xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<256x512xf32>
    return %1 : tensor<256x512xf32>
  }
  func.func private @log_softmax(%arg0: tensor<256x10xf32>) -> (tensor<256x10xf32>, tensor<256x10xf32>, tensor<256x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<256xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<256x10xf32>
    %6 = stablehlo.exponential %5 : tensor<256x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %9 = stablehlo.log %8 : tensor<256x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<256x10xf32>
    return %11, %6, %8 : tensor<256x10xf32>, tensor<256x10xf32>, tensor<256x1xf32>
  }
  func.func private @_one_hot(%arg0: tensor<256xi32>) -> tensor<256x10xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<256xi32>) -> tensor<256x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x10xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<256x1xi32>) -> tensor<256x10xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x10xi32>) -> tensor<256x10xi32>
    %4 = stablehlo.compare  EQ, %2, %3,  SIGNED : (tensor<256x10xi32>, tensor<256x10xi32>) -> tensor<256x10xi1>
    %5 = stablehlo.convert %4 : (tensor<256x10xi1>) -> tensor<256x10xf32>
    return %5 : tensor<256x10xf32>
  }
  func.func private @log_softmax_15(%arg0: tensor<256x10xf32>, %arg1: tensor<256x1xf32>, %arg2: tensor<256x10xf32>) -> tensor<256x10xf32> {
    %0 = stablehlo.negate %arg2 : tensor<256x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %2 = stablehlo.reshape %1 : (tensor<256xf32>) -> tensor<256x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<256x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<256x1xf32>, tensor<f32>) -> tensor<256xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<256xf32>) -> tensor<256x10xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<256x10xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<256x10xf32>
    return %7 : tensor<256x10xf32>
  }
}
