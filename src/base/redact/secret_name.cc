// SPDX-License-Identifier: Apache-2.0
#include "base/redact/secret_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string>

#include "base/text.h"

namespace muster {
namespace {

struct SecretWord {
  std::string_view word;
  NameMeaning meaning;
};

constexpr SecretWord kSecretWords[] = {
    {"password", NameMeaning::kPassword},
    {"passwd", NameMeaning::kPassword},
    {"passphrase", NameMeaning::kPassword},
    {"passcode", NameMeaning::kPassword},
    {"pwd", NameMeaning::kFolder},
    {"secret", NameMeaning::kSecret},
    {"credential", NameMeaning::kHint},
    {"credentials", NameMeaning::kHint},
    {"creds", NameMeaning::kHint},
    {"token", NameMeaning::kToken},
    {"auth", NameMeaning::kHint},
    {"pass", NameMeaning::kHint},
    {"jwt", NameMeaning::kHint},
    {"key", NameMeaning::kKey},
    {"signature", NameMeaning::kSignature},
    {"sig", NameMeaning::kSignature},
    {"authorization", NameMeaning::kAuthorization},
    {"cookie", NameMeaning::kCookie},
    {"bearer", NameMeaning::kBearer}};

constexpr std::string_view kSecretStems[] = {
    "pass", "pwd", "secret", "cred",   "token", "auth",
    "jwt",  "key", "sig",    "cookie", "bearer"};

// Whose or what for, ahead of "key", "token" and "pass".
constexpr std::string_view kAccessWords[] = {
    "access",   "account",     "admin",      "anthropic",    "api",
    "app",      "auth",        "aws",        "azure",        "bearer",
    "bot",      "client",      "csrf",       "database",     "db",
    "deploy",   "email",       "encryption", "ftp",          "gh",
    "github",   "gitlab",      "google",     "gpg",          "hf",
    "hub",      "huggingface", "jwt",        "kaggle",       "key",
    "keystore", "ldap",        "license",    "login",        "mail",
    "master",   "mongo",       "mysql",      "npm",          "oauth",
    "openai",   "personal",    "pg",         "postgres",     "private",
    "proxy",    "pypi",        "rabbitmq",   "redis",        "refresh",
    "registry", "root",        "secret",     "security",     "service",
    "session",  "signing",     "slack",      "smtp",         "ssh",
    "sso",      "storage",     "store",      "subscription", "sudo",
    "trust",    "user",        "vault",      "vnc",          "wandb"};

// Behind the word that counts: client-key-data, secret_b64.
constexpr std::string_view kTrailing[] = {
    "b", "base", "data", "env", "hex", "json", "plain", "raw", "value"};

bool IsUpper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}
bool IsLower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}

template <typename Words>
bool IsOneOfWords(const Words& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// In lower case, without the digits at their ends; the last ones of many.
class NameWords {
 public:
  explicit NameWords(std::string_view name) {
    name.remove_prefix(name.size() - std::min(name.size(), lower_.size()));
    std::size_t begin = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
      lower_[i] = AsLower(name[i]);
      const bool parts = name[i] == '_' || name[i] == '-' || name[i] == '.';
      const bool hump = IsUpper(name[i]) && i > 0 &&
                        (IsLower(name[i - 1]) ||
                         (IsUpper(name[i - 1]) && i + 1 < name.size() &&
                          IsLower(name[i + 1])));
      if (parts || hump) {
        Add(begin, i);
        begin = parts ? i + 1 : i;
      }
    }
    Add(begin, name.size());
  }

  bool empty() const { return count_ == 0; }
  std::string_view last() const { return words_[count_ - 1]; }
  // Empty if there is none.
  std::string_view before_last() const {
    return count_ > 1 ? words_[count_ - 2] : std::string_view();
  }
  void DropLast() { --count_; }

 private:
  static char AsLower(char c) {
    return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  void Add(std::size_t begin, std::size_t end) {
    while (end > begin &&
           std::isdigit(static_cast<unsigned char>(lower_[end - 1])) != 0) {
      --end;
    }
    if (end > begin) {
      if (count_ == words_.size()) {
        std::move(words_.begin() + 1, words_.end(), words_.begin());
        --count_;
      }
      words_[count_++] = {lower_.data() + begin, end - begin};
    }
  }

  std::array<char, 160> lower_;
  std::array<std::string_view, 8> words_;
  std::size_t count_ = 0;
};

// "DB_PASS", "dbpass": whose it is.
bool SaysWhose(const NameWords& words, std::string_view head) {
  std::string_view before = words.last();
  before.remove_suffix(head.size());
  const bool alone = before.empty();
  if (alone) {
    before = words.before_last();
  }
  return std::any_of(std::begin(kAccessWords), std::end(kAccessWords),
                     [&](std::string_view who) {
                       return before == who || (!alone && who.size() > 2 &&
                                                before.ends_with(who));
                     });
}

// "mypassword", but not "compass" or "monkey".
bool EndsInWord(const NameWords& words, std::string_view word) {
  constexpr std::size_t kClear = 5;  // letters that nothing else ends in
  return words.last().ends_with(word) &&
         (words.last().size() == word.size() || word.size() >= kClear ||
          word == "pwd" || SaysWhose(words, word));
}

}  // namespace

NameMeaning MeaningOfName(std::string_view name) {
  NameWords words(name);
  bool document = false;
  while (!words.before_last().empty() &&
         IsOneOfWords(kTrailing, words.last())) {
    document = document || words.last() == "json";
    words.DropLast();
  }
  if (words.empty()) {
    return NameMeaning::kNone;
  }
  const auto* const found = std::find_if(
      std::begin(kSecretWords), std::end(kSecretWords),
      [&](const SecretWord& one) { return EndsInWord(words, one.word); });
  if (found == std::end(kSecretWords)) {
    return NameMeaning::kNone;
  }
  if (document) {
    return NameMeaning::kHint;
  }
  const bool access = SaysWhose(words, found->word);
  switch (found->meaning) {
    case NameMeaning::kToken: {
      const bool upper = std::none_of(name.begin(), name.end(), IsLower);
      return access || upper || name == "--token" ? NameMeaning::kAccess
                                                  : NameMeaning::kToken;
    }
    case NameMeaning::kKey:
      return access ? NameMeaning::kAccess : NameMeaning::kKey;
    case NameMeaning::kHint:
      return access && found->word == "pass" ? NameMeaning::kPassword
                                             : NameMeaning::kHint;
    default:
      return found->meaning;
  }
}

std::span<const std::string_view> SecretStems() {
  return kSecretStems;
}

bool VariableIsPublic(std::string_view name) {
  // An allow-list: what frameworks, launchers and schedulers use to tell a
  // process its place, and nothing whose name hints at a secret.
  constexpr std::string_view kPrefixes[] = {
      "MUSTER_", "NCCL_",     "GLOO_",      "TORCH_",  "TORCHELASTIC_", "OMP_",
      "MKL_",    "XLA_",      "LIBTPU_",    "TPU_",    "JAX_",          "PJRT_",
      "SLURM_",  "OMPI_",     "PMI_",       "PMIX_",   "KUBERNETES_",   "CUDA_",
      "NVIDIA_", "HOROVOD_",  "MEGASCALE_", "TF_CPP_", "UCX_",          "FI_",
      "GRPC_",   "COLAB_TPU", "KAGGLE_TPU"};
  constexpr std::string_view kNames[] = {"RANK",
                                         "WORLD_SIZE",
                                         "LOCAL_RANK",
                                         "LOCAL_WORLD_SIZE",
                                         "GROUP_RANK",
                                         "NODE_RANK",
                                         "MASTER_ADDR",
                                         "MASTER_PORT",
                                         "TF_CONFIG",
                                         "HOSTNAME",
                                         "PATH",
                                         "LD_LIBRARY_PATH",
                                         "PYTHONPATH",
                                         "VIRTUAL_ENV",
                                         "CONDA_PREFIX",
                                         "no_proxy",
                                         "NO_PROXY",
                                         "PYTORCH_CUDA_ALLOC_CONF",
                                         "CLOUD_TPU_TASK_ID"};
  const std::string lower = Lower(name);
  return std::none_of(std::begin(kSecretStems), std::end(kSecretStems),
                      [&](std::string_view stem) {
                        return lower.find(stem) != lower.npos;
                      }) &&
         (IsOneOfWords(kNames, name) ||
          std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                      [&](std::string_view prefix) {
                        return name.starts_with(prefix);
                      }));
}

}  // namespace muster
