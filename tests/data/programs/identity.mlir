module @m {
  func.func public @main(%arg0: tensor<8x128xf32>) -> tensor<8x128xf32> {
    return %arg0 : tensor<8x128xf32>
  }
}
