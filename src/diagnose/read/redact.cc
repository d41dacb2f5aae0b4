// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/redact.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <memory>
#include <vector>

#include "base/text.h"
#include "diagnose/read/redact_named.h"

namespace muster::diagnose {
namespace {

struct Secret {
  const char* kind;
  // Group 1 stays, what follows it goes; that does not begin as what was
  // removed before.
  const char* pattern;
};

constexpr Secret kSecrets[] = {
    {"key", R"(()-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)"
            R"([^-]*(?:-----END[^-]*-----)?)"},
    {"token",
     R"((?i)(\bauthorization\\*["']?\s*[:=]\s*\\*["']?(?:bearer|basic|token)\s+)[^\s"',\\\[][^\s"',\\]*)"},
    {"token", R"((?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{16,})"},
    {"token", R"(()\bya29\.[A-Za-z0-9._-]+)"},
    {"token", R"(()\bhf_[A-Za-z0-9]{16,})"},
    {"token", R"(()\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,})"},
    {"token", R"(()\bgithub_pat_[A-Za-z0-9_]{20,})"},
    {"token", R"(()\bglpat-[A-Za-z0-9_-]{16,})"},
    {"token", R"(()\bsk-[A-Za-z0-9_-]{20,})"},
    {"token", R"(()\bxox[abprs]-[A-Za-z0-9-]{10,})"},
    {"token",
     R"(()\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*)"},
    {"key", R"(()\bAIza[A-Za-z0-9_-]{30,})"},
    {"key", R"(()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b)"},
    {"signature",
     R"((?i)([?&](?:x-goog-signature|x-amz-signature|x-amz-security-token|x-goog-credential|signature|sig|token|access_token|key|awsaccesskeyid)=)[^&\s"'<>\[]+)"},
    {"token", R"((\bwandb login (?:-\S+ )*)[A-Za-z0-9_]{20,})"},
    {"token",
     R"((\b(?:hooks\.slack\.com/\w+|discord(?:app)?\.com/api/webhooks)/)[A-Za-z0-9_/-]{8,})"},
    {"cookie",
     R"((?i)(\b(?:set-)?cookie\\*["']?\s*:\s*\\*["']?)[\w.-]+=[^"'\r\n]+)"},
    {"secret", R"(((?:^|[\s:])_auth\s*=\s*["']?)[A-Za-z0-9+/]{12,}={0,2})"},
    // Options of one letter, by the program that has them.
    {"secret",
     R"((\bcurl\b[^|;\n]{0,300}?\s(?:-[uU]|--user|--proxy-user)[ =]?["']?[^\s:"'@/]+:)[^\s"'\[][^\s"']*)"},
    {"secret", R"((\bsshpass\s+-p\s*)(?:'[^']*'|"[^"]*"|[^\s"'\[]\S*))"},
    {"secret",
     R"((\b(?:docker|podman|helm|nerdctl|skopeo|crane|apptainer|singularity|oc|az)\b[^|;\n]{0,80}?\blogin\b[^|;\n]{0,200}?\s-p[ =]?)(?:'[^']*'|"[^"]*"|[^\s"'\[]\S*))"},
    {"secret",
     R"((\b(?:mysql\w*|mariadb\S*)(?:\s[^|;\n]{0,200}?)?\s-p)(?:'[^']*'|"[^"]*"|[^\s"'\[-]\S*))"},
    // "https://TOKEN@host", "https://TOKEN:x-oauth-basic@host".
    {"password", R"((https?://)[A-Za-z0-9_]{20,}(?::[^\s/@"']*)?@)"},
    {"password", R"(([a-z][a-z0-9+.-]*://[^\s/:@"']*:)[^\s/"']+@)"},
    {"key", R"((\\*["']key\\*["']\s*:\s*\\*["'])[0-9a-f]{32,})"},
};

RE2::Options Latin1() {
  RE2::Options options(RE2::Quiet);
  options.set_encoding(RE2::Options::EncodingLatin1);
  return options;
}

struct Compiled {
  const char* kind;
  std::unique_ptr<RE2> regex;
};

const std::vector<Compiled>& Secrets() {
  static const auto* const secrets = [] {
    auto* made = new std::vector<Compiled>;
    for (const Secret& secret : kSecrets) {
      made->push_back(
          {secret.kind, std::make_unique<RE2>(secret.pattern, Latin1())});
    }
    return made;
  }();
  return *secrets;
}

// All patterns as one, which tells in one pass that a line has no secret: most
// have none.
bool MayHoldSecret(std::string_view text) {
  static const RE2* const any = [] {
    std::string pattern = "(?:" + std::string(NamedPattern()) + ")";
    for (const Secret& secret : kSecrets) {
      pattern += "|(?:" + std::string(secret.pattern) + ")";
    }
    RE2::Options options = Latin1();
    options.set_never_capture(true);
    return new RE2(pattern, options);
  }();
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *any);
}

std::size_t BeginOfKey(std::string_view line) {
  const auto begin = line.find("-----BEGIN ");
  return begin == std::string_view::npos ||
                 line.find("PRIVATE KEY", begin) == std::string_view::npos
             ? std::string_view::npos
             : begin;
}

// A word of base64, as it stands in a file or in quotes in a program.
bool IsBase64(std::string_view text) {
  while (!text.empty() && (text[0] == '"' || text[0] == '\'')) {
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    if (text.ends_with("\\n") || text.ends_with("\\r")) {
      text.remove_suffix(2);
    } else if (std::string_view("\"', \\").find(text.back()) !=
               std::string_view::npos) {
      text.remove_suffix(1);
    } else {
      break;
    }
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' ||
           c == '/' || c == '=';
  });
}

// A key of RSA with 16,384 bits has fewer.
constexpr int kMostKeyLines = 200;

// Whether the line can stand between BEGIN, which stood at this column, and
// END: what a logger writes before each line may be of another length.
bool MayBeOfKey(std::string_view line, std::size_t column) {
  constexpr std::string_view kHeaders[] = {
      "Proc-Type:", "DEK-Info:", "Comment:", "Version:", "Hash:", "Charset:"};
  constexpr std::size_t kLongWord = 40;
  const auto may_be = [&](std::string_view text) {
    return text.empty() || IsBase64(text) ||
           std::any_of(std::begin(kHeaders), std::end(kHeaders),
                       [&](auto header) { return text.starts_with(header); });
  };
  const std::string_view all = Trim(line);
  const std::string_view word = all.substr(all.find_last_of(" \t") + 1);
  return may_be(all) ||
         (line.size() > column && may_be(Trim(line.substr(column)))) ||
         (word.size() >= kLongWord && IsBase64(word));
}

}  // namespace

std::string Redacted(std::string_view text,
                     std::map<std::string, int>* removed) {
  std::string out(text);
  if (!MayHoldSecret(text)) {
    return out;
  }
  const auto count = [&](const char* kind, int times) {
    if (times > 0 && removed != nullptr) {
      (*removed)[kind] += times;
    }
  };
  for (const Compiled& secret : Secrets()) {
    const std::string rewrite =
        std::string("\\1[removed: ") + secret.kind + "]" +
        (std::string_view(secret.kind) == "password" ? "@" : "");
    count(secret.kind, RE2::GlobalReplace(&out, *secret.regex, rewrite));
  }
  int named = 0;
  out = WithoutNamed(out, named);
  count("secret", named);
  return out;
}

void Redactor::Begin() {
  in_key_ = false;
}

std::string Redactor::Line(std::string_view line) {
  if (in_key_) {
    if (line.find("-----END") != std::string_view::npos) {
      in_key_ = false;
      return "";
    }
    if (++key_lines_ <= kMostKeyLines && MayBeOfKey(line, key_column_)) {
      return "";
    }
    in_key_ = false;
  }
  const auto begin = BeginOfKey(line);
  if (begin != std::string_view::npos &&
      line.find("-----END", begin) == std::string_view::npos) {
    in_key_ = true;
    key_column_ = begin;
    key_lines_ = 0;
  }
  return Redacted(line, &removed_);
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
  constexpr std::string_view kNever[] = {"TOKEN",      "SECRET", "PASS", "KEY",
                                         "CREDENTIAL", "AUTH",   "JWT"};
  for (std::string_view word : kNever) {
    if (name.find(word) != std::string_view::npos) {
      return false;
    }
  }
  return std::find(std::begin(kNames), std::end(kNames), name) !=
             std::end(kNames) ||
         std::any_of(
             std::begin(kPrefixes), std::end(kPrefixes),
             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace muster::diagnose
