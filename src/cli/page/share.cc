// SPDX-License-Identifier: Apache-2.0
// Part of verbs.h: `muster share DIR`, by which the build writes the man pages
// and completions that packages install.
#include "cli/command_line.h"
#include "cli/page/completion.h"
#include "cli/page/man.h"
#include "cli/verbs.h"
#include "sys/file/fs.h"

namespace muster::cli {
namespace {

Status WriteInto(sys::Fs& fs, const std::string& folder,
                 const std::string& name, const std::string& text) {
  MUSTER_TRY(fs.MakeDirectories(folder));
  return fs.Write(sys::JoinPath(folder, name), text);
}

Result<int> ShareVerb(const CommandLine& line, const settings::Settings&,
                      const sys::Host& host) {
  const std::string& root = line.inputs.front();
  for (const Verb& verb : Verbs()) {
    if (!verb.hidden) {
      MUSTER_TRY(WriteInto(host.fs, sys::JoinPath(root, "man/man1"),
                           ManPageName(verb) + ".1", ManPage(verb)));
    }
  }
  MUSTER_TRY(WriteInto(host.fs,
                       sys::JoinPath(root, "bash-completion/completions"),
                       "muster", CompletionScript("bash")));
  MUSTER_TRY(WriteInto(host.fs, sys::JoinPath(root, "zsh/vendor-completions"),
                       "_muster", CompletionScript("zsh")));
  MUSTER_TRY(WriteInto(host.fs,
                       sys::JoinPath(root, "fish/vendor_completions.d"),
                       "muster.fish", CompletionScript("fish")));
  return 0;
}

}  // namespace

Verb DescribeShare() {
  return {.path = "share",
          .summary = "write the man pages and completions below a folder",
          .about =
              "Write the man pages and the completions of bash, zsh and "
              "fish below a folder, where packages install them from.",
          .examples = {{"muster share /usr/local/share"}},
          .argument = {.name = "DIR",
                       .required = true,
                       .values = kFolders,
                       .take = To(&CommandLine::inputs)},
          .run = ShareVerb,
          .hidden = true,
          .has_settings = false};
}

}  // namespace muster::cli
