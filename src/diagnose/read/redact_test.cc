// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/redact.h"

#include <gtest/gtest.h>

namespace muster::diagnose {
namespace {

constexpr std::string_view kSecret = "CANARY0123456789abcdefCANARY";

TEST(Redaction, LeavesNoCanary) {
  const std::string c(kSecret);
  const std::string texts[] = {
      "Authorization: Bearer " + c,
      "using hf_" + c,
      "WANDB_API_KEY=" + c,
      "--password " + std::string("password=") + c,
      "https://user:" + c + "@example.org/x",
      "https://storage.googleapis.com/b/o?X-Goog-Signature=" + c + "&x=1",
      "{\"access_token\": \"" + c + "\"}",
      "token ghp_" + c,
      "ya29." + c,
      "AWS_SECRET_ACCESS_KEY='" + c + "'",
      R"({"text": "{\"api_key\": \"" + c + R"(\"}"})",
      R"("headers": "{\"Authorization\": \"Bearer )" + c + R"(\"}")",
      "eyJ" + c + "." + c + "." + c,
  };
  for (const std::string& text : texts) {
    EXPECT_EQ(Redacted(text).find(kSecret), std::string::npos)
        << Redacted(text);
  }
}

TEST(Redaction, FindsAKeyWithoutAMarkBesideIt) {
  EXPECT_EQ(Redacted("key AIza" + std::string(35, 'b') + " last"),
            "key [removed: key] last");
  EXPECT_EQ(Redacted("id AKIA" + std::string(16, 'C')), "id [removed: key]");
}

TEST(Redaction, KnowsASecretByItsName) {
  const std::string c(kSecret);
  const std::string texts[] = {
      "MINIO_SECRET_KEY=" + c,
      "SECRET_KEY=" + c,
      "AWS_SECRET_KEY=" + c,
      "KAGGLE_KEY=" + c,
      "x-api-key: " + c,
      "python train.py --api-key=" + c,
      "DefaultEndpointsProtocol=https;AccountKey=" + c + ";Suffix=x",
      R"({"token": ")" + c + R"("})",
      "curl -d token=" + c,
      "login --password " + c,
      "['login', '--token', '" + c + "']",
      "machine api.wandb.ai login user password " + c,
      "  password " + c,
      "glpat-" + c,
      "DB_PASS=" + c,
      "PASSPHRASE=" + c,
      "HF_TOKEN=" + c,
      "hub_token: " + c,
      R"("{\"--token\", \")" + c + R"(\"}")",
  };
  for (const std::string& text : texts) {
    const std::string left = Redacted(text);
    EXPECT_EQ(left.find(kSecret), std::string::npos) << left;
    EXPECT_EQ(Redacted(left), left);
  }
  const std::string digits = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(Redacted(R"({"username":"me","key":")" + digits + R"("})"),
            R"({"username":"me","key":"[removed: key]"})");
}

TEST(Redaction, KnowsASecretByTheProgramThatIsGivenIt) {
  const std::string c(kSecret);
  const std::string texts[] = {
      "wandb login " + c,
      "wandb login --relogin " + c,
      "git clone https://" + c + "@github.com/x/y",
      "git clone https://" + c + ":x-oauth-basic@github.com/x/y",
      "post https://hooks.slack.com/services/T000/B000/" + c,
      "post https://discord.com/api/webhooks/123/" + c,
      "curl -u bob:" + c + " https://x",
      "curl -sS --user 'bob:" + c + "' https://x",
      "sshpass -p " + c + " ssh host",
      "sshpass -p'" + c + "' ssh host",
      "docker login -u bob -p " + c + " registry",
      "mysql -uroot -p" + c + " db",
      "Cookie: session=" + c + "; csrftoken=abc",
      "Set-Cookie: sid=" + c + "; Path=/",
      "{'Cookie': 'session=" + c + "'}",
      "_auth = " + c,
      "//registry.npmjs.org/:_auth=" + c,
      "pwd=" + c,
      "Server=db;Uid=bob;Pwd=" + c + ";",
      "postgresql://user:p@" + c + "@host/db",
  };
  for (const std::string& text : texts) {
    const std::string left = Redacted(text);
    EXPECT_EQ(left.find(kSecret), std::string::npos) << left;
    EXPECT_EQ(Redacted(left), left);
  }
  EXPECT_EQ(Redacted("postgresql://user:p@ss@host/db"),
            "postgresql://user:[removed: password]@host/db");
}

TEST(Redaction, TakesAValueAsAWhole) {
  const std::string name = "PASSWORD=";
  for (const auto& [value, behind] :
       {std::pair<std::string, std::string>{"ab&cdefgh", ""},
        {"abcd,efgh", ""},
        {"abcd'efgh", " next"},
        {"abcd", ",user=me"},
        {"abcd", "&user=me"},
        {"[removed: token]ab", ""},
        {"abcd", "; echo"},
        {"abcd", "\" image"},
        {"abcd", "\\\", more"}}) {
    EXPECT_EQ(Redacted(name + value + behind),
              name + "[removed: secret]" + behind);
  }
  EXPECT_EQ(Redacted("password: 'four words \\' here' last"),
            "password: '[removed: secret]' last");
  EXPECT_EQ(Redacted(R"(\"password\": \"four \\\"words\", \"x\": 1)"),
            R"(\"password\": \"[removed: secret]\", \"x\": 1)");
}

TEST(Redaction, RemovesAndCountsATokenOnce) {
  std::map<std::string, int> removed;
  const std::string token = "hf_" + std::string(34, 'a');
  EXPECT_EQ(Redacted("HF_TOKEN=" + token + " python", &removed),
            "HF_TOKEN=[removed: token] python");
  EXPECT_EQ(removed, (std::map<std::string, int>{{"token", 1}}));
}

TEST(Redaction, LeavesWhatWasRemovedBefore) {
  const std::string token = "hf_" + std::string(34, 'a');
  const std::string left = Redacted("https://x/y?token=" + token + "&x=1");
  EXPECT_EQ(left, "https://x/y?token=[removed: token]&x=1");
  EXPECT_EQ(Redacted(left), left);
  const std::string header = Redacted("Authorization: Bearer " + token);
  EXPECT_EQ(Redacted(header), header);
}

TEST(Redaction, LeavesWhatAnExplanationNeeds) {
  for (const char* text : {"RuntimeError: key 'weight' not found in checkpoint",
                           "ipv4:10.0.0.4:8476: connect() timed out",
                           "gs://bucket/model.ckpt-0",
                           "KeyError: 'RANK'",
                           "Tried to allocate 2.00 GiB",
                           "tokenizer=AutoTokenizer.from_pretrained",
                           "pad_token: <pad>",
                           "eos_token='</s>'",
                           "IMAGE_TOKEN = \"<image>\"",
                           "num_tokens=512",
                           "max_new_tokens=20",
                           "key: 3",
                           "sort_key=name1",
                           "primary_key=id",
                           "tokens per second: 1200",
                           "missing key(s) \"fc.weight\"",
                           "loss_per_token=2.3456e-05",
                           "token = tokenizer.pad_token",
                           "error: argument --token: expected one argument",
                           "--password is required",
                           "usage: x [--token TOKEN] [--api-key KEY]",
                           "--pad-token <pad> --max-tokens 512",
                           "password authentication failed",
                           "use_auth_token=None",
                           "first_pass: 12.5",
                           "PWD=/root/work",
                           "pwd=$(pwd)",
                           "OLDPWD=~/work",
                           "bash: pwd: command not found",
                           "wandb login --relogin",
                           "wandb login at https://api.wandb.ai",
                           "https://bob@example.org/x",
                           "docker run -p 8080:80 image",
                           "docker login registry; ssh -p 2222 host",
                           "curl -u bob https://example.org:8080/x",
                           "mysql -uroot -p db",
                           "cookie: 0x7f31",
                           "no cookie: the session is new",
                           "use_auth = required_by_policy",
                           "ray://head:10001",
                           "Unexpected token: layer1",
                           "--token-file secret.txt"}) {
    EXPECT_EQ(Redacted(text), text);
  }
}

TEST(Redaction, TakesAKeyOfSeveralLinesAsAWhole) {
  Redactor redactor;
  std::string out;
  for (const char* line :
       {"before", "-----BEGIN RSA PRIVATE KEY-----", "MIIEowCANARY",
        "CANARY==", "-----END RSA PRIVATE KEY-----", "after"}) {
    out += redactor.Line(line) + "\n";
  }
  EXPECT_EQ(out.find("CANARY"), std::string::npos);
  EXPECT_NE(out.find("before"), std::string::npos);
  EXPECT_NE(out.find("after"), std::string::npos);
  EXPECT_EQ(redactor.removed().at("key"), 1);
}

// What is left of these lines.
std::string LinesOf(Redactor& redactor, const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    out += redactor.Line(line) + "\n";
  }
  return out;
}

std::string KeyBegin() {
  return "-----BEGIN " + std::string("PRIVATE KEY-----");
}

TEST(Redaction, LeavesAKeyAtALineThatCanBeNoneOfIt) {
  Redactor redactor;
  EXPECT_EQ(
      LinesOf(redactor,
              {"expected " + KeyBegin(), "Traceback (most recent call last):",
               R"(  File "train.py", line 3, in main)", "ValueError: no key"}),
      "expected [removed: key]\nTraceback (most recent call last):\n"
      "  File \"train.py\", line 3, in main\nValueError: no key\n");
}

TEST(Redaction, KnowsTheLinesOfAKeyBehindWhatALoggerWrites) {
  const std::string word(64, 'Q');
  for (const std::vector<std::string>& lines :
       {std::vector<std::string>{"[rank0]: " + KeyBegin(),
                                 "[rank0]: MIIE" + word, "[rank0]: MIIEq=="},
        {"step 9 " + KeyBegin(), "step 10 MIIE" + word},
        {"key = (\"" + KeyBegin() + "\\n\"", "  \"MIIE" + word + "\\n\"",
         "  \"MIIEqq=\\n\""},
        {KeyBegin(), "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,MIIE", "",
         "MIIE" + word}}) {
    Redactor redactor;
    EXPECT_EQ(LinesOf(redactor, lines).find("MIIE"), std::string::npos)
        << LinesOf(redactor, lines);
  }
}

TEST(Redaction, LeavesAKeyThatIsLongerThanAnyIs) {
  Redactor redactor;
  std::vector<std::string> lines(300, "word");
  lines[0] = KeyBegin();
  EXPECT_NE(LinesOf(redactor, lines).find("word\nword"), std::string::npos);
}

TEST(Redaction, LeavesAKeyAtTheEndOfItsText) {
  Redactor redactor;
  (void)redactor.Line(KeyBegin());
  redactor.Begin();
  EXPECT_EQ(redactor.Line("hello"), "hello");
}

TEST(Redaction, CountsWhatItRemoved) {
  std::map<std::string, int> removed;
  (void)Redacted("hf_0123456789abcdefgh and hf_0123456789abcdefgi", &removed);
  EXPECT_EQ(removed["token"], 2);
}

TEST(Redaction, ShowsOnlyVariablesOfTheList) {
  EXPECT_TRUE(VariableIsPublic("NCCL_SOCKET_IFNAME"));
  EXPECT_TRUE(VariableIsPublic("RANK"));
  EXPECT_FALSE(VariableIsPublic("WANDB_API_KEY"));
  EXPECT_FALSE(VariableIsPublic("SLURM_JWT"));
  EXPECT_FALSE(VariableIsPublic("MY_OWN"));
}

}  // namespace
}  // namespace muster::diagnose
