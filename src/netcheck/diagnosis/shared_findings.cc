// SPDX-License-Identifier: Apache-2.0
#include "netcheck/diagnosis/shared_findings.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace muster::netcheck {
namespace {

using ByDigest = std::map<std::string, std::set<int>>;

struct Kind {
  std::string_view word;  // the first of a name in MeshRow::files
  Severity severity;
  Cause cause;
};
// Another program breaks a run; another interpreter mostly does not; hosts may
// be meant to read parts of the data.
constexpr std::array kKinds{
    Kind{"program", Severity::kError, Cause::kVerPeerMismatch},
    Kind{"interpreter", Severity::kWarning, Cause::kVerPeerMismatch},
    Kind{"data", Severity::kWarning, Cause::kUnevenData}};

void JudgeKind(MeshCase& one, const Kind& kind,
               const std::map<std::string, ByDigest>& files) {
  std::vector<std::string> differ;
  std::vector<Fact> facts;
  std::set<int> named;
  for (const auto& [path, by_digest] : files) {
    if (by_digest.size() < 2) {
      continue;
    }
    differ.push_back("`" + Printable(path) + "`");
    named.merge(OddOnes(by_digest));
    for (const auto& [digest, ranks] : by_digest) {
      if (facts.size() < kMaxEvidence) {
        facts.push_back(Seen(one,
                             Printable(path) + ": digest " + Printable(digest),
                             NamesOf(one.cluster, ranks)));
      }
    }
  }
  if (differ.empty()) {
    return;
  }
  Add(one, kind.cause,
      NamesOf(one.cluster, named) +
          (named.size() == 1 ? " has a different " : " have different ") +
          Join(differ, ", ") + (named.size() == 1 ? " than its peers" : ""),
      kind.severity == Severity::kError ? Confidence::kCertain
                                        : Confidence::kPossible,
      facts, named);
  one.findings.back().severity = kind.severity;
}

using Pair = std::pair<int, int>;  // by whom, of whom

// Those with most of the pairs.
std::set<int> Busiest(const std::set<Pair>& pairs) {
  std::map<int, int> counts;
  for (const auto& [by, of] : pairs) {
    ++counts[by];
    ++counts[of];
  }
  std::set<int> busiest;
  int most = 0;
  for (const auto& [rank, count] : counts) {
    if (count > most) {
      busiest.clear();
      most = count;
    }
    if (count == most) {
      busiest.insert(rank);
    }
  }
  return busiest;
}

// Of hosts that do not see each other's files: those whose folder is on a disk
// of their own, where that of others is served. Empty: it is with all, or with
// none.
std::set<int> NotMounted(const MeshCase& one, const std::string& path) {
  std::set<int> own;
  bool served = false;
  for (const auto& [rank, row] : one.rows) {
    const auto place = row.files.find("place " + path);
    if (place != row.files.end() && rank >= 0) {
      served |= place->second == kServedPlace;
      if (place->second == kOwnPlace) {
        own.insert(rank);
      }
    }
  }
  return served ? own : std::set<int>{};
}

void JudgeFolder(MeshCase& one, const std::string& path,
                 const std::set<Pair>& unseen, bool nobody) {
  std::map<int, std::set<int>> by_observer;
  for (const auto& [by, of] : unseen) {
    by_observer[by].insert(of);
  }
  std::vector<Fact> facts;
  for (const auto& [by, of] : by_observer) {
    if (facts.size() < kMaxEvidence) {
      facts.push_back(Seen(one,
                           "does not see the file that " +
                               NamesOf(one.cluster, of) + " wrote to " +
                               Printable(path),
                           NameOf(one.cluster, by)));
    }
  }
  const std::set<int> named = Busiest(unseen);
  if (!nobody) {
    Add(one, Cause::kCkptPlacement,
        "`" + Printable(path) + "` of " + NamesOf(one.cluster, named) +
            " is not the folder that other hosts share",
        Confidence::kCertain, facts, named);
    return;
  }
  const std::set<int> own = NotMounted(one, path);
  if (!own.empty()) {
    Add(one, Cause::kCkptPlacement,
        "`" + Printable(path) + "` of " + NamesOf(one.cluster, own) +
            " is on a local disk, but other hosts mount it from a file server",
        Confidence::kLikely, facts, own);
    return;
  }
  Add(one, Cause::kCkptPlacement,
      "every host has its own `" + Printable(path) +
          "`: no host sees the files of another",
      Confidence::kPossible, facts, named);
  one.findings.back().severity = Severity::kWarning;
}

// Ranks come from peers.
bool AreOfOneHost(const Cluster& cluster, int a, int b) {
  const auto size = static_cast<int>(cluster.members.size());
  if (std::min(a, b) < 0 || std::max(a, b) >= size) {
    return false;
  }
  const auto& one = cluster.members[static_cast<std::size_t>(a)].address;
  const auto& other = cluster.members[static_cast<std::size_t>(b)].address;
  return one && other && one->value.host == other->value.host;
}

}  // namespace

void JudgeFiles(MeshCase& one) {
  for (const Kind& kind : kKinds) {
    std::map<std::string, ByDigest> files;
    for (const auto& [rank, row] : one.rows) {
      for (const auto& [name, digest] : row.files) {
        const auto space = name.find(' ');
        if (name.substr(0, space) == kind.word && space != std::string::npos) {
          files[name.substr(space + 1)][digest].insert(rank);
        }
      }
    }
    JudgeKind(one, kind, files);
  }
}

// Where some see each other and one does not, it lacks what the others share.
// Where nobody sees anybody, each may be meant to have a place of its own.
void JudgeMarks(MeshCase& one) {
  std::map<std::string, std::set<Pair>> unseen;
  std::size_t compared = 0;
  for (const auto& [by, row] : one.rows) {
    for (const auto& [of, folders] : row.marks) {
      if (AreOfOneHost(one.cluster, by, of)) {
        continue;  // they see each other's in any case
      }
      ++compared;
      for (const std::string& path : folders) {
        unseen[path].insert({by, of});
      }
    }
  }
  const auto size = static_cast<int>(one.cluster.members.size());
  for (auto& [path, pairs] : unseen) {
    // Ranks come from peers.
    std::erase_if(pairs, [&](const Pair& pair) {
      return pair.second < 0 || pair.second >= size;
    });
    if (!pairs.empty()) {
      JudgeFolder(one, path, pairs, pairs.size() == compared);
    }
  }
}

}  // namespace muster::netcheck
