// SPDX-License-Identifier: Apache-2.0
// Part of token_source.h: external_account: a token of another provider,
// exchanged for one of Google's.
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/api/timestamp.h"
#include "cloud/auth/token_endpoint.h"
#include "sys/process/run_program.h"

namespace muster::cloud {
namespace {

constexpr const char* kExchangeGrant =
    "urn:ietf:params:oauth:grant-type:token-exchange";
constexpr const char* kAccessToken =
    "urn:ietf:params:oauth:token-type:access_token";
constexpr const char* kAllow = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";
constexpr std::chrono::milliseconds kProgramTime{30000};

// The words of a command line: white space parts them, quotes keep it.
std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
      inside = true;
    } else if (quote != '\'' && c == '\\' && i + 1 < line.size()) {
      word += line[++i];
      inside = true;
    } else if (quote == '\0' && (c == ' ' || c == '\t')) {
      if (inside) {
        words.push_back(std::exchange(word, ""));
      }
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) {
    words.push_back(word);
  }
  return words;
}

class ExternalSource : public TokenSource {
 public:
  ExternalSource(Json json, CredentialFile file, bool may_run)
      : json_(std::move(json)), file_(std::move(file)), may_run_(may_run) {}

  Result<Token> Fetch(Sender& sender) override {
    MUSTER_ASSIGN(const Secret subject, Subject(sender));
    TokenRequest request{
        .url = TextOf(json_, "token_url"),
        .form = {{"grant_type", kExchangeGrant},
                 {"audience", TextOf(json_, "audience")},
                 {"scope", kScope},
                 {"requested_token_type", kAccessToken},
                 {"subject_token", subject.Reveal()},
                 {"subject_token_type", TextOf(json_, "subject_token_type")}},
        .who = Who()};
    const std::string project = TextOf(json_, "workforce_pool_user_project");
    if (!project.empty()) {
      request.form.emplace_back("options",
                                Dump(Json{{"userProject", project}}));
    }
    MUSTER_ASSIGN(const Json answer, AskForToken(request, sender));
    return TokenOf(answer, request, sender.host().clock);
  }

  std::string Who() const override {
    const std::string audience = TextOf(json_, "audience");
    return "the identity of `" +
           Printable(audience.substr(audience.rfind('/') + 1)) + "` (`" +
           Printable(file_.path) + "`)";
  }

 private:
  Error Missing(const std::string& what) const {
    return Error(Cause::kCloudAuthMissing, "`" + Printable(file_.path) + "` (" +
                                               file_.source + "): " + what);
  }

  // The other provider's token.
  Result<Secret> Subject(Sender& sender) const {
    const Json& source = At(json_, {"credential_source"});
    if (!TextOf(source, "file").empty()) {
      return OfFile(TextOf(source, "file"), sender.host());
    }
    if (!TextOf(source, "environment_id").empty()) {
      return Missing("its tokens come from `" +
                     Printable(TextOf(source, "environment_id")) +
                     "`, for which muster has no support: it supports file, "
                     "url and executable");
    }
    if (!TextOf(source, "url").empty()) {
      return OfUrl(source, sender);
    }
    if (!TextOf(At(source, {"executable"}), "command").empty()) {
      return OfProgram(At(source, {"executable"}));
    }
    return Missing("credential_source has no file, url or executable");
  }

  Result<Secret> OfText(const std::string& text,
                        const std::string& from) const {
    const Json& format = At(json_, {"credential_source", "format"});
    if (TextOf(format, "type") != "json") {
      std::string token(Trim(text));
      return token.empty() ? Result<Secret>(Missing(from + " is empty"))
                           : Result<Secret>(Secret(std::move(token)));
    }
    const std::string key = TextOf(format, "subject_token_field_name");
    const auto json = ParseJson(text, Cause::kCloudAuthMissing, "");
    std::string token = json ? TextOf(*json, key.c_str()) : "";
    if (token.empty()) {
      return Missing(from + " is not JSON with the field `" + Printable(key) +
                     "`");
    }
    return Secret(std::move(token));
  }

  Result<Secret> OfFile(const std::string& path, const sys::Host& host) const {
    const auto text = host.fs.ReadNamed(path, 1U << 20);
    if (!text) {
      return Missing("the token of its provider cannot be read: " +
                     text.error().message());
    }
    return OfText(*text, "`" + Printable(path) + "`");
  }

  Result<Secret> OfUrl(const Json& source, Sender& sender) const {
    sys::HttpRequest get{.url = TextOf(source, "url")};
    const Json& headers = At(source, {"headers"});
    for (const auto& [name, value] : headers.items()) {
      if (value.is_string()) {
        get.headers[name] = value.get<std::string>();
      }
    }
    const std::string from = "`" + Printable(get.url) + "`";
    MUSTER_ASSIGN(const auto answer, sender.Send(get, Repeat::kToken));
    if (answer.status != 200) {
      return Missing(from + " returned " + std::to_string(answer.status) +
                     " for the token of its provider");
    }
    return OfText(answer.body, from);
  }

  Result<Secret> OfProgram(const Json& executable) const {
    const std::string command = TextOf(executable, "command");
    if (!may_run_) {
      return Missing("its tokens come from the program `" + Printable(command) +
                     "`, which muster runs only if " + kAllow + "=1 is set");
    }
    const auto time = NumberOf(executable, "timeout_millis");
    const sys::Program program{
        .argv = Words(command),
        .variables = {
            {"GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE", TextOf(json_, "audience")},
            {"GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE",
             TextOf(json_, "subject_token_type")},
            {"GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE", "0"}}};
    MUSTER_ASSIGN(
        const auto answer,
        sys::RunProgram(program,
                        Deadline::After(time ? std::chrono::milliseconds(*time)
                                             : kProgramTime)));
    if (!answer.Succeeded()) {
      return Missing("`" + Printable(command) + "` ended with " +
                     answer.Ending());
    }
    const auto json = ParseJson(answer.output, Cause::kCloudAuthMissing, "");
    if (!json || !json->is_object()) {
      return Missing("`" + Printable(command) +
                     "` did not print a JSON object");
    }
    std::string token =
        TextOf(*json, "id_token") + TextOf(*json, "saml_response");
    if (token.empty()) {
      const std::string said = TextOf(*json, "message");
      return Missing(
          "`" + Printable(command) + "` returned no token" +
          (said.empty() ? "" : ": " + Printable(said.substr(0, 200))));
    }
    return Secret(std::move(token));
  }

  Json json_;
  CredentialFile file_;
  bool may_run_;
};

}  // namespace

Result<TokenSourcePtr> MakeExternalSource(const Json& json,
                                          const CredentialFile& file,
                                          const sys::Env& env) {
  for (const char* key : {"audience", "subject_token_type", "token_url"}) {
    MUSTER_TRY(Require(json, key, file));
  }
  const std::string of = "` of `" + Printable(file.path) + "`";
  MUSTER_TRY(CheckTokenUrl("`token_url" + of, TextOf(json, "token_url")));
  const std::string subject_url =
      TextOf(At(json, {"credential_source"}), "url");
  if (!subject_url.empty()) {
    MUSTER_TRY(CheckTokenUrl("`credential_source.url" + of, subject_url,
                             PlainHttp::kMetadata));
  }
  TokenSourcePtr source = std::make_unique<ExternalSource>(
      json, file, env.Get(kAllow).value_or("") == "1");
  const std::string url = TextOf(json, "service_account_impersonation_url");
  if (url.empty()) {
    return source;
  }
  return MakeImpersonatedSource(std::move(source), url, json);
}

}  // namespace muster::cloud
