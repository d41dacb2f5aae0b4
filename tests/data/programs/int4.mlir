module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xi4>) -> (tensor<128x128xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<128x128xi4>) -> tensor<128x128xi8>
    %c = stablehlo.constant dense<2> : tensor<i8>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<128x128xi8>
    %2 = stablehlo.multiply %0, %1 : tensor<128x128xi8>
    return %2 : tensor<128x128xi8>
  }
}
