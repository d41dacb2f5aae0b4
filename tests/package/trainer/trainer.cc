// SPDX-License-Identifier: Apache-2.0
// Trains a line over the ranks with a loop of its own data.
#include <muster/train.h>

#include <cstdio>

namespace {

muster::Status Work() {
  MUSTER_ASSIGN(auto strategy, muster::MultiWorkerMirrored::Join());
  auto model = muster::Mlp(1, {}, 1);
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  MUSTER_ASSIGN(auto trainer,
                muster::Trainer::Make(strategy, model, optimizer, {}));
  MUSTER_TRY(trainer.Finish());
  std::printf("replica %d of %d\n", strategy.rank(),
              strategy.num_replicas_in_sync());
  return muster::Ok();
}

}  // namespace

int main() {
  auto status = Work();
  if (!status) {
    std::fprintf(stderr, "%s\n", status.error().ToString().c_str());
    return 1;
  }
  return 0;
}
