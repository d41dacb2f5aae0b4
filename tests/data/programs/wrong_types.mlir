module @m {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<9xf32>) -> tensor<8xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
