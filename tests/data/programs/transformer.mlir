module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x384xf32>, %arg1: tensor<128x128xf32>, %arg2: tensor<128x256xf32>, %arg3: tensor<256x128xf32>, %arg4: tensor<4x64x128xf32>) -> (tensor<128x384xf32> {jax.result_info = "result[0]"}, tensor<128x128xf32> {jax.result_info = "result[1]"}, tensor<128x256xf32> {jax.result_info = "result[2]"}, tensor<256x128xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg4 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_0 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x64x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %5 = stablehlo.subtract %arg4, %4 : tensor<4x64x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_var(%arg4, %c) : (tensor<4x64x128xf32>, tensor<i32>) -> tensor<4x64x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<4x64x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<4x64x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<4x64x128xf32>
    %12 = stablehlo.dot_general %11, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<128x384xf32>) -> tensor<4x64x384xf32>
    %13 = stablehlo.slice %12 [0:4, 0:64, 0:128] : (tensor<4x64x384xf32>) -> tensor<4x64x128xf32>
    %14 = stablehlo.slice %12 [0:4, 0:64, 128:256] : (tensor<4x64x384xf32>) -> tensor<4x64x128xf32>
    %15 = stablehlo.slice %12 [0:4, 0:64, 256:384] : (tensor<4x64x384xf32>) -> tensor<4x64x128xf32>
    %16 = stablehlo.reshape %13 : (tensor<4x64x128xf32>) -> tensor<4x64x4x32xf32>
    %17 = stablehlo.reshape %14 : (tensor<4x64x128xf32>) -> tensor<4x64x4x32xf32>
    %18 = stablehlo.reshape %15 : (tensor<4x64x128xf32>) -> tensor<4x64x4x32xf32>
    %19 = stablehlo.dot_general %16, %17, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x64x4x32xf32>, tensor<4x64x4x32xf32>) -> tensor<4x4x64x64xf32>
    %cst_2 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x4x64x64xf32>
    %21 = stablehlo.divide %19, %20 : tensor<4x4x64x64xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<4x4x64x64xf32>, tensor<f32>) -> tensor<4x4x64xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x4x64xf32>
    %24 = stablehlo.maximum %23, %22 : tensor<4x4x64xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<4x4x64xf32>) -> tensor<4x4x64x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<4x4x64x1xf32>) -> tensor<4x4x64x64xf32>
    %27 = stablehlo.subtract %21, %26 : tensor<4x4x64x64xf32>
    %28 = stablehlo.exponential %27 : tensor<4x4x64x64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<4x4x64x64xf32>, tensor<f32>) -> tensor<4x4x64xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<4x4x64xf32>) -> tensor<4x4x64x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<4x4x64x1xf32>) -> tensor<4x4x64x64xf32>
    %32 = stablehlo.divide %28, %31 : tensor<4x4x64x64xf32>
    %33 = stablehlo.multiply %30, %30 : tensor<4x4x64x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x4x64x1xf32>
    %35 = stablehlo.divide %34, %33 : tensor<4x4x64x1xf32>
    %36 = stablehlo.dot_general %18, %32, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x64x4x32xf32>, tensor<4x4x64x64xf32>) -> tensor<4x4x32x64xf32>
    %37 = stablehlo.transpose %36, dims = [0, 3, 1, 2] : (tensor<4x4x32x64xf32>) -> tensor<4x64x4x32xf32>
    %38 = stablehlo.reshape %37 : (tensor<4x64x4x32xf32>) -> tensor<4x64x128xf32>
    %39 = stablehlo.dot_general %38, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<128x128xf32>) -> tensor<4x64x128xf32>
    %40 = stablehlo.add %arg4, %39 : tensor<4x64x128xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_8 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %44 = stablehlo.divide %42, %43 : tensor<4x64x1xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %46 = stablehlo.subtract %40, %45 : tensor<4x64x128xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %47:4 = call @_var_16(%40, %c_9) : (tensor<4x64x128xf32>, tensor<i32>) -> (tensor<4x64x1xf32>, tensor<4x64x128xf32>, tensor<f32>, tensor<i1>)
    %cst_10 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %49 = stablehlo.add %47#0, %48 : tensor<4x64x1xf32>
    %50 = stablehlo.rsqrt %49 : tensor<4x64x1xf32>
    %51 = stablehlo.divide %50, %49 : tensor<4x64x1xf32>
    %cst_11 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %53 = stablehlo.multiply %52, %51 : tensor<4x64x1xf32>
    %54 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %55 = stablehlo.multiply %46, %54 : tensor<4x64x128xf32>
    %56 = stablehlo.dot_general %55, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<128x256xf32>) -> tensor<4x64x256xf32>
    %57 = stablehlo.multiply %56, %56 : tensor<4x64x256xf32>
    %58 = stablehlo.multiply %57, %56 : tensor<4x64x256xf32>
    %59 = stablehlo.multiply %56, %56 : tensor<4x64x256xf32>
    %cst_12 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %61 = stablehlo.multiply %60, %59 : tensor<4x64x256xf32>
    %cst_13 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %63 = stablehlo.multiply %62, %58 : tensor<4x64x256xf32>
    %64 = stablehlo.add %56, %63 : tensor<4x64x256xf32>
    %cst_14 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %66 = stablehlo.multiply %65, %64 : tensor<4x64x256xf32>
    %67 = stablehlo.tanh %66 : tensor<4x64x256xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %69 = stablehlo.subtract %68, %67 : tensor<4x64x256xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %71 = stablehlo.add %70, %67 : tensor<4x64x256xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %73 = stablehlo.multiply %72, %71 : tensor<4x64x256xf32>
    %74 = stablehlo.multiply %56, %73 : tensor<4x64x256xf32>
    %75 = stablehlo.dot_general %74, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<256x128xf32>) -> tensor<4x64x128xf32>
    %76 = stablehlo.add %40, %75 : tensor<4x64x128xf32>
    %cst_18 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x64x128xf32>
    %78 = stablehlo.multiply %77, %76 : tensor<4x64x128xf32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_20 = stablehlo.constant dense<3.276800e+04> : tensor<f32>
    %79 = stablehlo.divide %cst_19, %cst_20 : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<4x64x128xf32>
    %81 = stablehlo.multiply %80, %78 : tensor<4x64x128xf32>
    %82 = stablehlo.dot_general %81, %74, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<4x64x256xf32>) -> tensor<128x256xf32>
    %83 = stablehlo.transpose %82, dims = [1, 0] : (tensor<128x256xf32>) -> tensor<256x128xf32>
    %84 = stablehlo.dot_general %81, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<256x128xf32>) -> tensor<4x64x256xf32>
    %85 = stablehlo.multiply %56, %84 : tensor<4x64x256xf32>
    %86 = stablehlo.multiply %84, %73 : tensor<4x64x256xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %88 = stablehlo.multiply %87, %85 : tensor<4x64x256xf32>
    %89 = stablehlo.multiply %88, %69 : tensor<4x64x256xf32>
    %90 = stablehlo.multiply %89, %67 : tensor<4x64x256xf32>
    %91 = stablehlo.add %89, %90 : tensor<4x64x256xf32>
    %cst_22 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %93 = stablehlo.multiply %92, %91 : tensor<4x64x256xf32>
    %94 = stablehlo.add %86, %93 : tensor<4x64x256xf32>
    %cst_23 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %96 = stablehlo.multiply %95, %93 : tensor<4x64x256xf32>
    %97 = stablehlo.multiply %96, %61 : tensor<4x64x256xf32>
    %98 = stablehlo.add %94, %97 : tensor<4x64x256xf32>
    %99 = stablehlo.dot_general %98, %55, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<4x64x128xf32>) -> tensor<256x128xf32>
    %100 = stablehlo.transpose %99, dims = [1, 0] : (tensor<256x128xf32>) -> tensor<128x256xf32>
    %101 = stablehlo.dot_general %98, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<128x256xf32>) -> tensor<4x64x128xf32>
    %102 = stablehlo.multiply %46, %101 : tensor<4x64x128xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.reduce(%102 init: %cst_24) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %104 = stablehlo.reshape %103 : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %105 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %106 = stablehlo.multiply %101, %105 : tensor<4x64x128xf32>
    %107 = stablehlo.multiply %104, %53 : tensor<4x64x1xf32>
    %108 = call @_var_42(%47#1, %47#2, %47#3, %107) : (tensor<4x64x128xf32>, tensor<f32>, tensor<i1>, tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %109 = stablehlo.add %81, %108 : tensor<4x64x128xf32>
    %110 = stablehlo.negate %106 : tensor<4x64x128xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%110 init: %cst_25) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %112 = stablehlo.reshape %111 : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %113 = stablehlo.add %109, %106 : tensor<4x64x128xf32>
    %cst_26 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %115 = stablehlo.divide %112, %114 : tensor<4x64x1xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %116 = stablehlo.reduce(%115 init: %cst_27) applies stablehlo.add across dimensions = [2] : (tensor<4x64x1xf32>, tensor<f32>) -> tensor<4x64xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x128xf32>
    %118 = stablehlo.add %113, %117 : tensor<4x64x128xf32>
    %119 = stablehlo.dot_general %118, %38, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<4x64x128xf32>) -> tensor<128x128xf32>
    %120 = stablehlo.transpose %119, dims = [1, 0] : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %121 = stablehlo.dot_general %118, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<128x128xf32>) -> tensor<4x64x128xf32>
    %122 = stablehlo.reshape %121 : (tensor<4x64x128xf32>) -> tensor<4x64x4x32xf32>
    %123 = stablehlo.transpose %122, dims = [0, 2, 3, 1] : (tensor<4x64x4x32xf32>) -> tensor<4x4x32x64xf32>
    %124 = stablehlo.dot_general %123, %18, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x4x32x64xf32>, tensor<4x64x4x32xf32>) -> tensor<4x4x64x64xf32>
    %125 = stablehlo.dot_general %123, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x4x32x64xf32>, tensor<4x4x64x64xf32>) -> tensor<4x4x32x64xf32>
    %126 = stablehlo.transpose %125, dims = [0, 3, 1, 2] : (tensor<4x4x32x64xf32>) -> tensor<4x64x4x32xf32>
    %127 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<4x4x64x1xf32>) -> tensor<4x4x64x64xf32>
    %128 = stablehlo.multiply %124, %127 : tensor<4x4x64x64xf32>
    %129 = stablehlo.multiply %128, %28 : tensor<4x4x64x64xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %130 = stablehlo.reduce(%129 init: %cst_28) applies stablehlo.add across dimensions = [3] : (tensor<4x4x64x64xf32>, tensor<f32>) -> tensor<4x4x64xf32>
    %131 = stablehlo.reshape %130 : (tensor<4x4x64xf32>) -> tensor<4x4x64x1xf32>
    %132 = stablehlo.negate %131 : tensor<4x4x64x1xf32>
    %133 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<4x4x64x1xf32>) -> tensor<4x4x64x64xf32>
    %134 = stablehlo.divide %124, %133 : tensor<4x4x64x64xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %135 = stablehlo.reduce(%132 init: %cst_29) applies stablehlo.add across dimensions = [3] : (tensor<4x4x64x1xf32>, tensor<f32>) -> tensor<4x4x64xf32>
    %136 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<4x4x64xf32>) -> tensor<4x4x64x64xf32>
    %137 = stablehlo.add %134, %136 : tensor<4x4x64x64xf32>
    %138 = stablehlo.multiply %137, %28 : tensor<4x4x64x64xf32>
    %cst_30 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<4x4x64x64xf32>
    %140 = stablehlo.divide %138, %139 : tensor<4x4x64x64xf32>
    %141 = stablehlo.dot_general %140, %16, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4x64x64xf32>, tensor<4x64x4x32xf32>) -> tensor<4x4x64x32xf32>
    %142 = stablehlo.transpose %141, dims = [0, 2, 1, 3] : (tensor<4x4x64x32xf32>) -> tensor<4x64x4x32xf32>
    %143 = stablehlo.dot_general %140, %17, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4x64x64xf32>, tensor<4x64x4x32xf32>) -> tensor<4x4x64x32xf32>
    %144 = stablehlo.transpose %143, dims = [0, 2, 1, 3] : (tensor<4x4x64x32xf32>) -> tensor<4x64x4x32xf32>
    %145 = stablehlo.reshape %126 : (tensor<4x64x4x32xf32>) -> tensor<4x64x128xf32>
    %146 = stablehlo.reshape %142 : (tensor<4x64x4x32xf32>) -> tensor<4x64x128xf32>
    %147 = stablehlo.reshape %144 : (tensor<4x64x4x32xf32>) -> tensor<4x64x128xf32>
    %148 = stablehlo.concatenate %147, %146, %145, dim = 2 : (tensor<4x64x128xf32>, tensor<4x64x128xf32>, tensor<4x64x128xf32>) -> tensor<4x64x384xf32>
    %149 = stablehlo.dot_general %148, %11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x384xf32>, tensor<4x64x128xf32>) -> tensor<384x128xf32>
    %150 = stablehlo.transpose %149, dims = [1, 0] : (tensor<384x128xf32>) -> tensor<128x384xf32>
    return %150, %120, %100, %83 : tensor<128x384xf32>, tensor<128x128xf32>, tensor<128x256xf32>, tensor<256x128xf32>
  }
  func.func private @_var(%arg0: tensor<4x64x128xf32>, %arg1: tensor<i32>) -> tensor<4x64x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_0 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x64x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x64x128xf32>
    %6 = chlo.square %5 : tensor<4x64x128xf32> -> tensor<4x64x128xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<4x64x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare  GT, %8, %cst_3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<4x64x1xf32>, tensor<f32>) -> tensor<4x64x1xf32>
    return %14 : tensor<4x64x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x64x1xf32>, %arg2: tensor<f32>) -> tensor<4x64x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x64x1xf32>
    return %2 : tensor<4x64x1xf32>
  }
  func.func private @_var_16(%arg0: tensor<4x64x128xf32>, %arg1: tensor<i32>) -> (tensor<4x64x1xf32>, tensor<4x64x128xf32>, tensor<f32>, tensor<i1>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_0 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x64x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x64x128xf32>
    %6 = chlo.square %5 : tensor<4x64x128xf32> -> tensor<4x64x128xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x64x128xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<4x64x128xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<4x64x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.compare  GT, %10, %cst_4,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16 = call @_where_18(%15, %14, %cst_5) : (tensor<i1>, tensor<4x64x1xf32>, tensor<f32>) -> tensor<4x64x1xf32>
    return %16, %8, %10, %15 : tensor<4x64x1xf32>, tensor<4x64x128xf32>, tensor<f32>, tensor<i1>
  }
  func.func private @_where_18(%arg0: tensor<i1>, %arg1: tensor<4x64x1xf32>, %arg2: tensor<f32>) -> tensor<4x64x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x64x1xf32>
    return %2 : tensor<4x64x1xf32>
  }
  func.func private @_var_42(%arg0: tensor<4x64x128xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<4x64x1xf32>) -> tensor<4x64x128xf32> {
    %0 = call @_where_43(%arg2, %arg3) : (tensor<i1>, tensor<4x64x1xf32>) -> tensor<4x64x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %2 = stablehlo.divide %0, %1 : tensor<4x64x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x64x1xf32>, tensor<f32>) -> tensor<4x64xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x128xf32>
    %5 = stablehlo.multiply %4, %arg0 : tensor<4x64x128xf32>
    %6 = stablehlo.negate %5 : tensor<4x64x128xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %8 = stablehlo.reshape %7 : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_1 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<4x64x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x64x1xf32>, tensor<f32>) -> tensor<4x64xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x128xf32>
    %13 = stablehlo.add %5, %12 : tensor<4x64x128xf32>
    return %13 : tensor<4x64x128xf32>
  }
  func.func private @_where_43(%arg0: tensor<i1>, %arg1: tensor<4x64x1xf32>) -> tensor<4x64x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<4x64x1xf32>
    return %1 : tensor<4x64x1xf32>
  }
}
