// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/json_text.h"

#include <optional>

namespace muster::diagnose {
namespace {

// Reads strings one after the other without building the document, so that its
// size does not matter: the text of "data", "text", "traceback" and "evalue"
// goes on, everything else is passed over.
class JsonText : public ByteSink {
 public:
  JsonText(std::string name, const Unpacking& unpacking)
      : next_(MakeText(std::move(name), unpacking)) {}

  void Feed(std::string_view bytes) override {
    for (const char c : bytes) {
      if (inside_) {
        InString(c);
      } else {
        Outside(c);
      }
    }
    Flush();
  }
  void End() override {
    Flush();
    next_->End();
  }

 private:
  static bool HoldsText(std::string_view key) {
    return key == "data" || key == "text" || key == "traceback" ||
           key == "evalue" || key == "text/plain";
  }

  void Outside(char c) {
    switch (c) {
      case '"':
        inside_ = true;
        string_.clear();
        break;
      case ':':
        key_ = last_;
        wanted_ = HoldsText(key_);
        break;
      case '[':
        ++depth_;
        list_of_ = wanted_ ? std::optional(depth_) : list_of_;
        break;
      case ']':
        if (list_of_ == depth_) {
          list_of_.reset();
          wanted_ = false;
        }
        --depth_;
        break;
      case '{':
        // {"data": {"text/plain": [...]}}: the keys inside decide.
        wanted_ = false;
        list_of_.reset();
        break;
      case ',':
        wanted_ = list_of_.has_value();
        break;
      default:
        break;
    }
  }

  void InString(char c) {
    if (unicode_ > 0) {
      code_ = code_ * 16 + Hex(c);
      if (--unicode_ == 0) {
        Put(code_ < 0x80 ? static_cast<char>(code_) : '?');
      }
    } else if (escaped_) {
      escaped_ = false;
      Escape(c);
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      inside_ = false;
      Close();
    } else {
      Put(c);
    }
  }

  void Escape(char c) {
    switch (c) {
      case 'n':
        Put('\n');
        break;
      case 't':
        Put('\t');
        break;
      case 'r':
        Put('\r');
        break;
      case 'u':
        unicode_ = 4;
        code_ = 0;
        break;
      case 'b':
      case 'f':
        break;
      default:
        Put(c);
    }
  }

  static unsigned Hex(char c) {
    return c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
           : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                  : 0;
  }

  void Put(char c) {
    if (wanted_) {
      out_ += c;
    } else if (string_.size() < 64) {
      string_ += c;
    }
  }

  void Close() {
    if (!wanted_) {
      last_ = string_;
    } else if (!out_.empty() && out_.back() != '\n' &&
               (list_of_ || key_ != "data")) {
      out_ += '\n';  // Kaggle's pieces of a stream may end within a line
    }
  }

  void Flush() {
    next_->Feed(out_);
    out_.clear();
  }

  std::unique_ptr<ByteSink> next_;
  std::string string_, last_, key_, out_;
  bool inside_ = false;
  bool escaped_ = false;
  bool wanted_ = false;
  int unicode_ = 0;
  unsigned code_ = 0;
  int depth_ = 0;
  std::optional<int> list_of_;
};

}  // namespace

std::unique_ptr<ByteSink> MakeJsonText(std::string name,
                                       const Unpacking& unpacking) {
  return std::make_unique<JsonText>(std::move(name), unpacking);
}

}  // namespace muster::diagnose
