module @jit_recurrent attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x128xf32>, %arg1: tensor<64x128xf32>, %arg2: tensor<32x64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<20x16x32xf32>) -> (tensor<32x128xf32> {jax.result_info = "result[0]"}, tensor<64x128xf32> {jax.result_info = "result[1]"}, tensor<32x64xf32> {jax.result_info = "result[2]"}, tensor<64x64xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<20x16x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<20x16x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<20x16x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<20x16x64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<20x16x64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<20x16x64xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<20x16x64xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<20x16x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9:15 = stablehlo.while(%iterArg = %arg4, %iterArg_15 = %arg0, %iterArg_16 = %arg1, %iterArg_17 = %arg2, %iterArg_18 = %arg3, %iterArg_19 = %c, %iterArg_20 = %0, %iterArg_21 = %1, %iterArg_22 = %2, %iterArg_23 = %3, %iterArg_24 = %4, %iterArg_25 = %5, %iterArg_26 = %6, %iterArg_27 = %7, %iterArg_28 = %8) : tensor<20x16x32xf32>, tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<i32>, tensor<16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x128xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>
    cond {
      %c_29 = stablehlo.constant dense<20> : tensor<i32>
      %17 = stablehlo.compare  LT, %iterArg_19, %c_29,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %17 : tensor<i1>
    } do {
      %c_29 = stablehlo.constant dense<0> : tensor<i32>
      %c_30 = stablehlo.constant dense<0> : tensor<i32>
      %17 = stablehlo.dynamic_slice %iterArg, %iterArg_19, %c_29, %c_30, sizes = [1, 16, 32] : (tensor<20x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x32xf32>
      %18 = stablehlo.reshape %17 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
      %19:9 = func.call @closed_call(%iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_20, %18) : (tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x32xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>)
      %20 = stablehlo.broadcast_in_dim %19#1, dims = [1, 2] : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
      %c_31 = stablehlo.constant dense<0> : tensor<i32>
      %c_32 = stablehlo.constant dense<0> : tensor<i32>
      %21 = stablehlo.dynamic_update_slice %iterArg_21, %20, %iterArg_19, %c_31, %c_32 : (tensor<20x16x64xf32>, tensor<1x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<20x16x64xf32>
      %22 = stablehlo.broadcast_in_dim %19#2, dims = [1, 2] : (tensor<16x128xf32>) -> tensor<1x16x128xf32>
      %c_33 = stablehlo.constant dense<0> : tensor<i32>
      %c_34 = stablehlo.constant dense<0> : tensor<i32>
      %23 = stablehlo.dynamic_update_slice %iterArg_22, %22, %iterArg_19, %c_33, %c_34 : (tensor<20x16x128xf32>, tensor<1x16x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<20x16x128xf32>
      %24 = stablehlo.broadcast_in_dim %19#3, dims = [1, 2] : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
      %c_35 = stablehlo.constant dense<0> : tensor<i32>
      %c_36 = stablehlo.constant dense<0> : tensor<i32>
      %25 = stablehlo.dynamic_update_slice %iterArg_23, %24, %iterArg_19, %c_35, %c_36 : (tensor<20x16x64xf32>, tensor<1x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<20x16x64xf32>
      %26 = stablehlo.broadcast_in_dim %19#4, dims = [1, 2] : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
      %c_37 = stablehlo.constant dense<0> : tensor<i32>
      %c_38 = stablehlo.constant dense<0> : tensor<i32>
      %27 = stablehlo.dynamic_update_slice %iterArg_24, %26, %iterArg_19, %c_37, %c_38 : (tensor<20x16x64xf32>, tensor<1x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<20x16x64xf32>
      %28 = stablehlo.broadcast_in_dim %19#5, dims = [1, 2] : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
      %c_39 = stablehlo.constant dense<0> : tensor<i32>
      %c_40 = stablehlo.constant dense<0> : tensor<i32>
      %29 = stablehlo.dynamic_update_slice %iterArg_25, %28, %iterArg_19, %c_39, %c_40 : (tensor<20x16x64xf32>, tensor<1x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<20x16x64xf32>
      %30 = stablehlo.broadcast_in_dim %19#6, dims = [1, 2] : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
      %c_41 = stablehlo.constant dense<0> : tensor<i32>
      %c_42 = stablehlo.constant dense<0> : tensor<i32>
      %31 = stablehlo.dynamic_update_slice %iterArg_26, %30, %iterArg_19, %c_41, %c_42 : (tensor<20x16x64xf32>, tensor<1x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<20x16x64xf32>
      %32 = stablehlo.broadcast_in_dim %19#7, dims = [1, 2] : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
      %c_43 = stablehlo.constant dense<0> : tensor<i32>
      %c_44 = stablehlo.constant dense<0> : tensor<i32>
      %33 = stablehlo.dynamic_update_slice %iterArg_27, %32, %iterArg_19, %c_43, %c_44 : (tensor<20x16x64xf32>, tensor<1x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<20x16x64xf32>
      %34 = stablehlo.broadcast_in_dim %19#8, dims = [1, 2] : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
      %c_45 = stablehlo.constant dense<0> : tensor<i32>
      %c_46 = stablehlo.constant dense<0> : tensor<i32>
      %35 = stablehlo.dynamic_update_slice %iterArg_28, %34, %iterArg_19, %c_45, %c_46 : (tensor<20x16x64xf32>, tensor<1x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<20x16x64xf32>
      %c_47 = stablehlo.constant dense<1> : tensor<i32>
      %36 = stablehlo.add %iterArg_19, %c_47 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %36, %19#0, %21, %23, %25, %27, %29, %31, %33, %35 : tensor<20x16x32xf32>, tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<i32>, tensor<16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x128xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>
    }
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<20x16x64xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %16:18 = stablehlo.while(%iterArg = %10, %iterArg_15 = %arg4, %iterArg_16 = %9#7, %iterArg_17 = %9#8, %iterArg_18 = %9#9, %iterArg_19 = %9#10, %iterArg_20 = %9#11, %iterArg_21 = %9#12, %iterArg_22 = %9#13, %iterArg_23 = %9#14, %iterArg_24 = %arg1, %iterArg_25 = %arg3, %iterArg_26 = %c_14, %iterArg_27 = %12, %iterArg_28 = %13, %iterArg_29 = %14, %iterArg_30 = %15, %iterArg_31 = %11) : tensor<20x16x64xf32>, tensor<20x16x32xf32>, tensor<20x16x64xf32>, tensor<20x16x128xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<i32>, tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>
    cond {
      %c_32 = stablehlo.constant dense<20> : tensor<i32>
      %17 = stablehlo.compare  LT, %iterArg_26, %c_32,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %17 : tensor<i1>
    } do {
      %c_32 = stablehlo.constant dense<20> : tensor<i32>
      %17 = stablehlo.subtract %c_32, %iterArg_26 : tensor<i32>
      %c_33 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.subtract %17, %c_33 : tensor<i32>
      %c_34 = stablehlo.constant dense<0> : tensor<i32>
      %c_35 = stablehlo.constant dense<0> : tensor<i32>
      %19 = stablehlo.dynamic_slice %iterArg, %18, %c_34, %c_35, sizes = [1, 16, 64] : (tensor<20x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
      %20 = stablehlo.reshape %19 : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
      %c_36 = stablehlo.constant dense<0> : tensor<i32>
      %c_37 = stablehlo.constant dense<0> : tensor<i32>
      %21 = stablehlo.dynamic_slice %iterArg_15, %18, %c_36, %c_37, sizes = [1, 16, 32] : (tensor<20x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x32xf32>
      %22 = stablehlo.reshape %21 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
      %c_38 = stablehlo.constant dense<0> : tensor<i32>
      %c_39 = stablehlo.constant dense<0> : tensor<i32>
      %23 = stablehlo.dynamic_slice %iterArg_16, %18, %c_38, %c_39, sizes = [1, 16, 64] : (tensor<20x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
      %24 = stablehlo.reshape %23 : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
      %c_40 = stablehlo.constant dense<0> : tensor<i32>
      %c_41 = stablehlo.constant dense<0> : tensor<i32>
      %25 = stablehlo.dynamic_slice %iterArg_17, %18, %c_40, %c_41, sizes = [1, 16, 128] : (tensor<20x16x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x128xf32>
      %26 = stablehlo.reshape %25 : (tensor<1x16x128xf32>) -> tensor<16x128xf32>
      %c_42 = stablehlo.constant dense<0> : tensor<i32>
      %c_43 = stablehlo.constant dense<0> : tensor<i32>
      %27 = stablehlo.dynamic_slice %iterArg_18, %18, %c_42, %c_43, sizes = [1, 16, 64] : (tensor<20x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
      %28 = stablehlo.reshape %27 : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
      %c_44 = stablehlo.constant dense<0> : tensor<i32>
      %c_45 = stablehlo.constant dense<0> : tensor<i32>
      %29 = stablehlo.dynamic_slice %iterArg_19, %18, %c_44, %c_45, sizes = [1, 16, 64] : (tensor<20x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
      %30 = stablehlo.reshape %29 : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
      %c_46 = stablehlo.constant dense<0> : tensor<i32>
      %c_47 = stablehlo.constant dense<0> : tensor<i32>
      %31 = stablehlo.dynamic_slice %iterArg_20, %18, %c_46, %c_47, sizes = [1, 16, 64] : (tensor<20x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
      %32 = stablehlo.reshape %31 : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
      %c_48 = stablehlo.constant dense<0> : tensor<i32>
      %c_49 = stablehlo.constant dense<0> : tensor<i32>
      %33 = stablehlo.dynamic_slice %iterArg_21, %18, %c_48, %c_49, sizes = [1, 16, 64] : (tensor<20x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
      %34 = stablehlo.reshape %33 : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
      %c_50 = stablehlo.constant dense<0> : tensor<i32>
      %c_51 = stablehlo.constant dense<0> : tensor<i32>
      %35 = stablehlo.dynamic_slice %iterArg_22, %18, %c_50, %c_51, sizes = [1, 16, 64] : (tensor<20x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
      %36 = stablehlo.reshape %35 : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
      %c_52 = stablehlo.constant dense<0> : tensor<i32>
      %c_53 = stablehlo.constant dense<0> : tensor<i32>
      %37 = stablehlo.dynamic_slice %iterArg_23, %18, %c_52, %c_53, sizes = [1, 16, 64] : (tensor<20x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
      %38 = stablehlo.reshape %37 : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
      %39:5 = func.call @closed_call_24(%iterArg_24, %iterArg_25, %iterArg_27, %iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %20, %22, %24, %26, %28, %30, %32, %34, %36, %38) : (tensor<64x128xf32>, tensor<64x64xf32>, tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x32xf32>, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> (tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>)
      %c_54 = stablehlo.constant dense<1> : tensor<i32>
      %40 = stablehlo.add %iterArg_26, %c_54 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %iterArg_24, %iterArg_25, %40, %39#0, %39#1, %39#2, %39#3, %39#4 : tensor<20x16x64xf32>, tensor<20x16x32xf32>, tensor<20x16x64xf32>, tensor<20x16x128xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<20x16x64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<i32>, tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>
    }
    return %16#13, %16#14, %16#15, %16#16 : tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<32x128xf32>, %arg1: tensor<64x128xf32>, %arg2: tensor<32x64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<16x64xf32>, %arg5: tensor<16x32xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x128xf32>) -> tensor<16x128xf32>
    %1 = stablehlo.dot_general %arg4, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>
    %2 = stablehlo.add %0, %1 : tensor<16x128xf32>
    %3 = stablehlo.negate %2 : tensor<16x128xf32>
    %4 = stablehlo.exponential %3 : tensor<16x128xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x128xf32>
    %6 = stablehlo.add %5, %4 : tensor<16x128xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x128xf32>
    %8 = stablehlo.divide %7, %6 : tensor<16x128xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x128xf32>
    %10 = stablehlo.subtract %9, %8 : tensor<16x128xf32>
    %11 = stablehlo.multiply %8, %10 : tensor<16x128xf32>
    %12 = stablehlo.slice %8 [0:16, 0:64] : (tensor<16x128xf32>) -> tensor<16x64xf32>
    %13 = stablehlo.slice %8 [0:16, 64:128] : (tensor<16x128xf32>) -> tensor<16x64xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %15 = stablehlo.subtract %14, %12 : tensor<16x64xf32>
    %16 = stablehlo.multiply %15, %arg4 : tensor<16x64xf32>
    %17 = stablehlo.dot_general %arg5, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    %18 = stablehlo.multiply %13, %arg4 : tensor<16x64xf32>
    %19 = stablehlo.dot_general %18, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %20 = stablehlo.add %17, %19 : tensor<16x64xf32>
    %21 = stablehlo.tanh %20 : tensor<16x64xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %23 = stablehlo.subtract %22, %21 : tensor<16x64xf32>
    %24 = stablehlo.multiply %12, %21 : tensor<16x64xf32>
    %25 = stablehlo.add %16, %24 : tensor<16x64xf32>
    return %25, %arg4, %11, %15, %13, %18, %21, %23, %12 : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>
  }
  func.func private @closed_call_24(%arg0: tensor<64x128xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<32x128xf32>, %arg3: tensor<64x128xf32>, %arg4: tensor<32x64xf32>, %arg5: tensor<64x64xf32>, %arg6: tensor<16x64xf32>, %arg7: tensor<16x64xf32>, %arg8: tensor<16x32xf32>, %arg9: tensor<16x64xf32>, %arg10: tensor<16x128xf32>, %arg11: tensor<16x64xf32>, %arg12: tensor<16x64xf32>, %arg13: tensor<16x64xf32>, %arg14: tensor<16x64xf32>, %arg15: tensor<16x64xf32>, %arg16: tensor<16x64xf32>) -> (tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>) {
    %0 = stablehlo.add %arg6, %arg7 : tensor<16x64xf32>
    %1 = stablehlo.multiply %arg16, %0 : tensor<16x64xf32>
    %2 = stablehlo.multiply %0, %arg14 : tensor<16x64xf32>
    %3 = stablehlo.multiply %1, %arg15 : tensor<16x64xf32>
    %4 = stablehlo.multiply %3, %arg14 : tensor<16x64xf32>
    %5 = stablehlo.add %3, %4 : tensor<16x64xf32>
    %6 = stablehlo.dot_general %5, %arg13, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
    %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %8 = stablehlo.add %arg5, %7 : tensor<64x64xf32>
    %9 = stablehlo.dot_general %5, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %10 = stablehlo.multiply %arg12, %9 : tensor<16x64xf32>
    %11 = stablehlo.multiply %9, %arg9 : tensor<16x64xf32>
    %12 = stablehlo.dot_general %5, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %14 = stablehlo.add %arg4, %13 : tensor<32x64xf32>
    %15 = stablehlo.multiply %arg11, %0 : tensor<16x64xf32>
    %16 = stablehlo.add %10, %15 : tensor<16x64xf32>
    %17 = stablehlo.multiply %0, %arg9 : tensor<16x64xf32>
    %18 = stablehlo.negate %17 : tensor<16x64xf32>
    %19 = stablehlo.add %2, %18 : tensor<16x64xf32>
    %20 = stablehlo.concatenate %19, %11, dim = 1 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x128xf32>
    %21 = stablehlo.multiply %20, %arg10 : tensor<16x128xf32>
    %22 = stablehlo.dot_general %21, %arg9, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x128xf32>, tensor<16x64xf32>) -> tensor<128x64xf32>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %24 = stablehlo.add %arg3, %23 : tensor<64x128xf32>
    %25 = stablehlo.dot_general %21, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x128xf32>, tensor<64x128xf32>) -> tensor<16x64xf32>
    %26 = stablehlo.add %16, %25 : tensor<16x64xf32>
    %27 = stablehlo.dot_general %21, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x128xf32>, tensor<16x32xf32>) -> tensor<128x32xf32>
    %28 = stablehlo.transpose %27, dims = [1, 0] : (tensor<128x32xf32>) -> tensor<32x128xf32>
    %29 = stablehlo.add %arg2, %28 : tensor<32x128xf32>
    return %29, %24, %14, %8, %26 : tensor<32x128xf32>, tensor<64x128xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>
  }
}
