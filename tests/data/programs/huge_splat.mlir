module @m {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<16xf32>) {
    %0 = stablehlo.constant dense<1.0> : tensor<5000000000xf32>
    %1 = stablehlo.slice %0 [0:8] : (tensor<5000000000xf32>) -> tensor<8xf32>
    %2 = stablehlo.concatenate %arg0, %1, dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
    return %arg0, %2 : tensor<8xf32>, tensor<16xf32>
  }
}
