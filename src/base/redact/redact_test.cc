// SPDX-License-Identifier: Apache-2.0
#include "base/redact/redact.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/redact/secret_name.h"
#include "base/text.h"

namespace muster {
namespace {

std::string Replaced(std::string text, const std::string& from,
                     const std::string& to) {
  for (auto at = text.find(from); at != text.npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

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
  Redactor redactor;
  const std::string token = "hf_" + std::string(34, 'a');
  EXPECT_EQ(redactor.Text("HF_TOKEN=" + token + " python"),
            "HF_TOKEN=[removed: token] python");
  EXPECT_EQ(redactor.removed(), (std::map<std::string, int>{{"token", 1}}));
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
                           "--token-file secret.txt",
                           "tokens=4096 max_tokens: 12 n_tokens=3 author: me",
                           "pass 1 of 3",
                           "pass: layer1",
                           "test_a: pass",
                           "PASS: test_a",
                           "token 5",
                           "auth failed",
                           "Enter password:\nTraceback",
                           "secret_name: my-secret",
                           "GOOGLE_APPLICATION_CREDENTIALS=/root/key.json",
                           "compass=north monkey=3",
                           "https://host:8080/@scope/package",
                           "[\"user\", \"password\", \"email\"]",
                           "token:\n  file: /x",
                           "Result<Secret>(x)"}) {
    EXPECT_EQ(Redacted(text), text);
  }
}

TEST(Redaction, TakesAKeyOfSeveralLinesAsAWhole) {
  Redactor redactor;
  EXPECT_EQ(redactor.Text("before\n-----BEGIN RSA PRIVATE KEY-----\nMIIEowC\n"
                          "QQ==\n-----END RSA PRIVATE KEY-----\nafter"),
            "before\n[removed: key]\n\n\n\nafter");
  EXPECT_EQ(redactor.removed().at("key"), 1);
}

std::string OfLines(const std::vector<std::string>& lines) {
  return Redacted(Join(lines, "\n"));
}

std::string KeyBegin() {
  return "-----BEGIN " + std::string("PRIVATE KEY-----");
}

TEST(Redaction, LeavesAKeyAtALineThatCanBeNoneOfIt) {
  EXPECT_EQ(
      OfLines({"expected " + KeyBegin(), "Traceback (most recent call last):",
               R"(  File "train.py", line 3, in main)", "ValueError: no key"}),
      "expected [removed: key]\nTraceback (most recent call last):\n"
      "  File \"train.py\", line 3, in main\nValueError: no key");
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
    EXPECT_EQ(OfLines(lines).find("MIIE"), std::string::npos) << OfLines(lines);
  }
}

TEST(Redaction, LeavesAKeyThatIsLongerThanAnyIs) {
  std::vector<std::string> lines(300, "word");
  lines[0] = KeyBegin();
  EXPECT_NE(OfLines(lines).find("word\nword"), std::string::npos);
}

TEST(Redaction, LeavesAKeyAtTheEndOfItsText) {
  Redactor redactor;
  (void)redactor.Text(KeyBegin());
  EXPECT_EQ(redactor.Text("hello"), "hello");
}

// Each line a string of a list.
std::string Notebook(const std::string& text) {
  std::vector<std::string> lines = Split(text, '\n');
  for (std::string& line : lines) {
    line += '\n';
  }
  return Json{{"source", lines}}.dump(1);
}

// A secret at '@', and what carries it: neither more nor less than it goes.
TEST(Redaction, TakesThePlantedAndLeavesTheRestInEveryCarrier) {
  constexpr std::string_view kPlaces[] = {
      "PASSWORD=@",
      "db_password: @",
      "DB_PASS=@",
      "RABBITMQ_PASS=@",
      "JWT=@",
      "AZURE_CREDENTIAL=@",
      "REDIS_AUTH=@",
      "SSH_KEY=@",
      "clientSecret=@",
      "apiKey: \"@\"",
      "pwd: '@'",
      "password: !!str @",
      "token: @",
      "--password @",
      "--token=@",
      "password=&quot;@&quot;",
      "&quot;token&quot;: &quot;@&quot;",
      "\x1b[1mpassword\x1b[0m=\x1b[32m@\x1b[0m",
      "<password>@</password>",
      "('password', '@')",
      "{'password': '@'}",
      "{\"auth\": \"@\"}",
      "config[\"password\"] = \"@\"",
      "<add key=\"Password\" value=\"@\"/>",
      "{\"name\": \"DB_PASSWORD\", \"value\": \"@\"}",
      "db:\n  password:\n    @",
      "db:\n  password: |\n    @\n  port: 3",
      "12:03 step 1 password: |\n  @\nstep 2 loss 0.5",
      "args:\n- --password\n- @",
      "- name: DB_PASSWORD\n  value: @",
      "{\n  \"password\":\n    \"@\"\n}",
      "[\n \"--password\",\n \"@\",\n \"x\"\n]",
      "https://me:@@host/x",
      "HTTPS://me:@@host/x",
      "https://@@host/x",
      "postgres://me:@@host/db",
      "sshpass -p @ ssh host",
      "curl -u me:@ https://host",
      "https://host/x?sig=@&x=1"};
  const std::string secret = "Zq9xK2mW7vR4tY8bLp3s";
  for (const std::string_view place : kPlaces) {
    const auto at = place.find('@');
    const std::string line = "step 3 of 9\n" +
                             std::string(place.substr(0, at)) + secret +
                             std::string(place.substr(at + 1)) + "\nloss 0.1";
    const auto carried = [&](const std::string& text) {
      return std::vector<std::string>{
          text, Json(text).dump(), Json{{"a", Json{{"b", text}}}}.dump(1),
          Json(Json(text).dump()).dump(), Notebook(text)};
    };
    const std::vector<std::string> texts = carried(line);
    for (const std::string& text : texts) {
      const std::string left = Redacted(text);
      const auto mark = left.find("[removed: ");
      ASSERT_NE(mark, std::string::npos) << text;
      EXPECT_EQ(
          Replaced(left, left.substr(mark, left.find(']', mark) - mark + 1),
                   secret),
          text);
      EXPECT_EQ(Redacted(left), left);
    }
  }
}

TEST(Redaction, TakesTokensThatServicesGive) {
  const std::string word = "Zq9xK2mW7vR4tY8bLp3sZq9xK2mW7vR4tY8bLp3s";
  const std::string hex = "0123456789abcdef0123456789abcdef01234567";
  for (const std::string& text :
       {"npm_" + word, "pypi-" + word, "sk_live_" + word, "SG." + word,
        "xapp-1-" + word, "nvapi-" + word, "gsk_" + word, "r8_" + word,
        "api_org_" + word, "GOCSPX-" + word, "1//0g" + word, "hvs." + word,
        "tskey-auth-" + word, "dop_v1_" + hex, "dp.st.prd." + word,
        "dapi" + hex}) {
    EXPECT_EQ(Redacted("a\\n" + text + " b"), "a\\n[removed: token] b") << text;
  }
  EXPECT_EQ(Redacted("https://api.telegram.org/bot123456:AA" + word + "/send"),
            "https://api.telegram.org/bot[removed: token]/send");
  EXPECT_EQ(Redacted("x sk-learn-contrib-estimators y"),
            "x sk-learn-contrib-estimators y");
}

TEST(Redaction, TakesTheWordsOfACommand) {
  const std::vector<std::string> argv = {
      "python3",      "x.py",
      "--password",   "two words",
      "--token-file", "/x",
      "PASSWORD=a b", "sh",
      "-c",           "TOKEN=Zq9xK2mW python3",
      "--epochs",     "5"};
  EXPECT_EQ(RedactedCommand(argv),
            (std::vector<std::string>{
                "python3", "x.py", "--password", "[removed: secret]",
                "--token-file", "/x", "PASSWORD=[removed: secret]", "sh", "-c",
                "TOKEN=[removed: secret] python3", "--epochs", "5"}));
  EXPECT_TRUE(RedactedCommand({}).empty());
}

TEST(Redaction, TakesNamesOfFiles) {
  EXPECT_EQ(Redactor().Path("/runs/password=Zq9xK2mW7v.log"),
            "/runs/password=[removed: secret].log");
  EXPECT_EQ(Redactor().Path("a/token/rank0.err"), "a/token/rank0.err");
}

TEST(Redaction, TakesEmailsIfAskedTo) {
  const std::string text = "ask me@example.org. git@github.com:x/y rank@0";
  EXPECT_EQ(Redacted(text), text);
  EXPECT_EQ(Redactor(true).Text(text),
            "ask [removed: email]. git@github.com:x/y rank@0");
}

TEST(Redaction, CountsWhatItRemoved) {
  Redactor redactor;
  (void)redactor.Text("hf_0123456789abcdefgh and hf_0123456789abcdefgi");
  EXPECT_EQ(redactor.removed().at("token"), 2);
}

TEST(Redaction, ShowsOnlyVariablesOfTheList) {
  EXPECT_TRUE(VariableIsPublic("NCCL_SOCKET_IFNAME"));
  EXPECT_TRUE(VariableIsPublic("RANK"));
  EXPECT_FALSE(VariableIsPublic("WANDB_API_KEY"));
  EXPECT_FALSE(VariableIsPublic("SLURM_JWT"));
  EXPECT_FALSE(VariableIsPublic("MY_OWN"));
}

}  // namespace
}  // namespace muster
