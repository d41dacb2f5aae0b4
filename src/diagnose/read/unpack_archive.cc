// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/unpack_archive.h"

#include <zlib.h>

#include <array>
#include <optional>
#include <utility>

#include "base/text.h"

namespace muster::diagnose {
namespace {

Unpacking OfMember(const Unpacking& unpacking) {
  Unpacking member = unpacking;
  member.only_text = true;
  return member;
}

// 512-byte blocks: a header, then the file's bytes, padded. A header may go
// ahead that tells a long name (L of GNU) or attributes (x of pax) of the next.
class Untar : public ByteSink {
 public:
  Untar(std::string name, const Unpacking& unpacking)
      : name_(std::move(name)), unpacking_(OfMember(unpacking)) {}

  void Feed(std::string_view bytes) override {
    while (!bytes.empty() && !broken_) {
      if (left_ > 0 || padding_ > 0) {
        Body(bytes);
        continue;
      }
      const std::size_t taken = std::min(bytes.size(), kBlock - header_.size());
      header_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (header_.size() == kBlock) {
        Header();
        header_.clear();
      }
    }
  }
  void End() override {
    EndMember();
    if (!broken_ && !ended_) {
      Note(unpacking_, name_ + ": incomplete tar, read only the beginning");
    }
  }

 private:
  static constexpr std::size_t kBlock = 512;
  static constexpr std::size_t kMaxAbout = 64U << 10;  // of such a header

  // What a header tells of the next one.
  struct Next {
    std::string name;
    std::optional<std::uint64_t> size;
  };

  void Body(std::string_view& bytes) {
    if (left_ > 0) {
      const auto taken = static_cast<std::size_t>(
          std::min<std::uint64_t>(left_, bytes.size()));
      if (member_ != nullptr) {
        member_->Feed(bytes.substr(0, taken));
      } else if (about_next_ != '\0') {
        about_.append(
            bytes.substr(0, std::min(taken, kMaxAbout - about_.size())));
      }
      left_ -= taken;
      bytes.remove_prefix(taken);
    }
    if (left_ == 0) {
      EndMember();
      const std::size_t taken = std::min(padding_, bytes.size());
      padding_ -= taken;
      bytes.remove_prefix(taken);
    }
  }

  void EndMember() {
    if (member_ != nullptr) {
      member_->End();
      member_.reset();
    }
    if (about_next_ == 'L') {
      next_.name = about_.substr(0, about_.find('\0'));
    } else if (about_next_ == 'x') {
      Attributes();
    }
    about_next_ = '\0';
  }

  // "28 path=logs/a/rank0.err\n": how long it is, all together.
  void Attributes() {
    std::string_view rest = about_;
    while (!rest.empty()) {
      const auto blank = rest.find(' ');
      const auto size = ParseInt(rest.substr(0, blank)).value_or(0);
      if (blank == rest.npos || size <= std::ssize(rest.substr(0, blank)) + 1 ||
          size > std::ssize(rest)) {
        return;
      }
      const auto end = static_cast<std::size_t>(size);
      const std::string_view one = rest.substr(blank + 1, end - blank - 2);
      constexpr std::string_view kPath = "path=";
      constexpr std::string_view kSize = "size=";
      if (one.starts_with(kPath)) {
        next_.name = one.substr(kPath.size());
      } else if (one.starts_with(kSize) && IsDigits(one.substr(kSize.size()))) {
        if (const auto bytes = ParseInt(one.substr(kSize.size()))) {
          next_.size = static_cast<std::uint64_t>(*bytes);
        }
      }
      rest.remove_prefix(end);
    }
  }

  std::string Field(std::size_t at, std::size_t size) const {
    const std::string field = header_.substr(at, size);
    return field.substr(0, field.find('\0'));
  }

  // Octal text; what is too large for it is binary behind a mark. nullopt: it
  // is neither.
  std::optional<std::uint64_t> Size() const {
    const std::string field = header_.substr(124, 12);
    std::uint64_t size = 0;
    const bool binary = static_cast<unsigned char>(field[0]) == 0x80;
    for (const char c : field.substr(binary ? 1 : 0)) {
      if (binary) {
        size = size << 8 | static_cast<unsigned char>(c);
      } else if (c >= '0' && c <= '7') {
        size = size * 8 + static_cast<std::uint64_t>(c - '0');
      } else if (c != ' ' && c != '\0') {
        return std::nullopt;
      }
    }
    return size;
  }

  void Header() {
    ended_ = header_.find_first_not_of('\0') == std::string::npos;
    if (ended_) {
      return;  // unless another one follows
    }
    const auto size = Size();
    if (!size) {
      Note(unpacking_, name_ + ": corrupt tar, read only the beginning");
      broken_ = true;
      return;
    }
    const char type = header_[156];
    if (type == 'L' || type == 'x' || type == 'K' || type == 'g') {
      BeginBody(*size);
      BeginAbout(type);
      return;
    }
    const Next next = std::exchange(next_, {});
    BeginBody(next.size.value_or(*size));
    if (type == '0' || type == '\0') {
      BeginMember(next.name);
    }
  }

  void BeginBody(std::uint64_t size) {
    left_ = size;
    padding_ = (kBlock - size % kBlock) % kBlock;
  }

  void BeginAbout(char type) {
    if (type != 'L' && type != 'x') {
      return;  // of links, and of all that follow
    }
    if (left_ > kMaxAbout) {
      Note(unpacking_, name_ + ": a name or attributes of " + BytesText(left_) +
                           ", read only up to " + BytesText(kMaxAbout));
    }
    about_next_ = type;
    about_.clear();
    if (left_ == 0) {
      EndMember();
    }
  }

  void BeginMember(const std::string& long_name) {
    if (!SpendMember(unpacking_, name_)) {
      broken_ = true;
      return;
    }
    const std::string prefix = Field(345, 155);
    const std::string own = Field(0, 100);
    const std::string name = !long_name.empty() ? long_name
                             : prefix.empty()   ? own
                                                : prefix + "/" + own;
    member_ = MakeUnpacker(name_ + ":" + name, unpacking_);
    if (left_ == 0) {
      EndMember();
    }
  }

  std::string name_;
  Unpacking unpacking_;
  std::string header_;
  std::uint64_t left_ = 0;
  std::size_t padding_ = 0;
  bool ended_ = false;      // the last header was the mark of the end
  bool broken_ = false;     // and a note has said so
  char about_next_ = '\0';  // the type of the header that is read: L, x
  std::string about_;
  Next next_;
  std::unique_ptr<ByteSink> member_;
};

// Local headers, one after the other. Members without their size in the header
// are read when they are deflated, for then the data tell their end; a
// descriptor follows them, with or without its signature.
class Unzip : public ByteSink {
 public:
  Unzip(std::string name, const Unpacking& unpacking)
      : name_(std::move(name)), unpacking_(OfMember(unpacking)) {}
  ~Unzip() override { CloseInflate(); }
  Unzip(const Unzip&) = delete;
  Unzip& operator=(const Unzip&) = delete;

  void Feed(std::string_view bytes) override {
    while (!bytes.empty() && !done_) {
      if (state_ == State::kBody) {
        bytes.remove_prefix(Body(bytes));
      } else {
        const std::size_t taken =
            std::min(bytes.size(), wanted_ - buffer_.size());
        buffer_.append(bytes.substr(0, taken));
        bytes.remove_prefix(taken);
        if (buffer_.size() == wanted_) {
          Buffered();
        }
      }
    }
  }
  void End() override {
    if (!done_) {
      Stop("incomplete zip, read only the beginning");
    }
  }

 private:
  enum class State { kSignature, kHeader, kName, kBody, kDescriptor };
  static constexpr std::uint32_t kEncrypted = 1;
  static constexpr std::uint32_t kStreamed = 8;  // a descriptor follows
  static constexpr std::uint64_t kInExtra = 0xFFFF'FFFF;
  static constexpr std::string_view kMember = "PK\x03\x04";
  static constexpr std::string_view kDescriptor = "PK\x07\x08";

  // The directory at the end, or what encrypts it.
  static bool IsDirectory(std::string_view signature) {
    return signature == "PK\x01\x02" || signature == "PK\x05\x06" ||
           signature == "PK\x06\x06" || signature == "PK\x06\x08";
  }

  static std::uint64_t NumberIn(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i) {
      value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
    }
    return value;
  }
  std::uint64_t Number(std::size_t at, std::size_t size) const {
    return NumberIn(std::string_view(buffer_).substr(at, size));
  }

  void Want(State state, std::size_t bytes) {
    state_ = state;
    wanted_ = bytes;
    buffer_.clear();
  }

  void Stop(const std::string& why) {
    Note(unpacking_, name_ + ": " + why);
    EndMember();
    done_ = true;
  }

  void Buffered() {
    switch (state_) {
      case State::kSignature:
        Signature();
        break;
      case State::kHeader:
        flags_ = static_cast<std::uint32_t>(Number(2, 2));
        method_ = static_cast<std::uint32_t>(Number(4, 2));
        left_ = Number(14, 4);
        unpacked_ = Number(18, 4);
        name_size_ = Number(22, 2);
        Want(State::kName, name_size_ + Number(24, 2));
        if (wanted_ == 0) {
          Buffered();
        }
        break;
      case State::kName:
        Extra(std::string_view(buffer_).substr(name_size_));
        BeginMember(buffer_.substr(0, name_size_));
        break;
      case State::kDescriptor:
        Descriptor();
        break;
      case State::kBody:
        break;
    }
  }

  void Signature() {
    if (buffer_ == kMember) {
      Want(State::kHeader, 26);
    } else if (IsDirectory(buffer_)) {
      done_ = true;
    } else {
      Stop("corrupt zip, read only the beginning");
    }
  }

  // CRC, packed and unpacked size, the sizes of four or of eight bytes: which
  // is told by what was read.
  void Descriptor() {
    constexpr std::size_t kShort = 12;
    constexpr std::size_t kLong = 20;
    const auto is = [&](std::size_t bytes) {
      const std::uint64_t most = bytes == 8 ? ~std::uint64_t{0} : 0xFFFF'FFFF;
      return Number(4, bytes) == (packed_ & most) &&
             Number(4 + bytes, bytes) == (unpacked_ & most);
    };
    // Of an empty member both begin alike.
    const bool may_be_short = !large_ || unpacked_ > 0;
    if (wanted_ == 4 && buffer_ == kDescriptor) {
      Want(State::kDescriptor, kShort);
    } else if (wanted_ == 4 && (buffer_ == kMember || IsDirectory(buffer_))) {
      Signature();
    } else if (wanted_ == 4) {
      wanted_ = kShort;
    } else if (wanted_ == kShort && !(may_be_short && is(4))) {
      wanted_ = kLong;
    } else if (wanted_ == kLong && !is(8)) {
      Stop("corrupt zip, read only the beginning");
    } else {
      Want(State::kSignature, 4);
    }
  }

  // Fields of an identifier and a size, two bytes each. Sizes that do not fit
  // into the header are in the field 1.
  void Extra(std::string_view fields) {
    large_ = false;
    while (fields.size() >= 4) {
      const auto size = NumberIn(fields.substr(2, 2));
      if (NumberIn(fields.substr(0, 2)) == 1) {
        large_ = true;
        if (left_ == kInExtra && size >= 16 && fields.size() >= 20) {
          unpacked_ = NumberIn(fields.substr(4, 8));
          left_ = NumberIn(fields.substr(12, 8));
        }
      }
      fields.remove_prefix(std::min(fields.size(), 4 + size));
    }
  }

  void BeginMember(const std::string& name) {
    const bool folder = name.ends_with('/');
    const bool encrypted = (flags_ & kEncrypted) != 0;
    const bool readable = !encrypted && (method_ == 0 || method_ == 8);
    stored_ = !readable || method_ == 0;
    const bool endless =
        stored_ && !folder && (flags_ & kStreamed) != 0 && left_ == 0;
    if (!readable || endless) {
      Note(unpacking_,
           name_ + ":" + name +
               (encrypted ? ": encrypted, not read"
                          : ": an unsupported kind of zip") +
               (endless ? ", skipped with the following members" : ""));
      done_ = endless;
    } else if (!folder && !SpendMember(unpacking_, name_)) {
      done_ = true;
    } else if (!folder) {
      member_ = MakeUnpacker(name_ + ":" + name, unpacking_);
    }
    BeginBody();
  }

  void BeginBody() {
    packed_ = left_;
    if (!stored_) {
      stream_ = {};
      inflating_ = inflateInit2(&stream_, -15) == Z_OK;
    }
    buffer_.clear();
    state_ = State::kBody;
    if (stored_ && left_ == 0) {
      EndMember();
    }
  }

  std::size_t Body(std::string_view bytes) {
    return stored_ ? Stored(bytes) : Deflated(bytes);
  }

  std::size_t Stored(std::string_view bytes) {
    const auto taken =
        static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    if (member_ != nullptr) {
      member_->Feed(bytes.substr(0, taken));
    }
    left_ -= taken;
    if (left_ == 0) {
      EndMember();
    }
    return taken;
  }

  std::size_t Deflated(std::string_view bytes) {
    std::array<char, 64U << 10> out;
    std::string in(bytes);
    stream_.next_in = reinterpret_cast<Bytef*>(in.data());
    stream_.avail_in = static_cast<uInt>(in.size());
    while (inflating_ && stream_.avail_in > 0) {
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(out.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = out.size() - stream_.avail_out;
      if (!Spend(unpacking_, name_, made)) {
        EndMember();
        done_ = true;
        return bytes.size();
      }
      if (member_ != nullptr) {
        member_->Feed({out.data(), made});
      }
      if (code == Z_STREAM_END) {
        const std::size_t used = in.size() - stream_.avail_in;
        packed_ = stream_.total_in;
        unpacked_ = stream_.total_out;
        EndMember();
        return used;
      }
      if (code != Z_OK && code != Z_BUF_ERROR) {
        Stop("corrupt zip, read only the beginning");
      }
    }
    return bytes.size();
  }

  void CloseInflate() {
    if (inflating_) {
      inflateEnd(&stream_);
      inflating_ = false;
    }
  }

  void EndMember() {
    if (member_ != nullptr) {
      member_->End();
      member_.reset();
    }
    CloseInflate();
    Want((flags_ & kStreamed) != 0 ? State::kDescriptor : State::kSignature, 4);
  }

  std::string name_;
  Unpacking unpacking_;
  State state_ = State::kSignature;
  std::size_t wanted_ = 4;
  std::size_t name_size_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t packed_ = 0;  // of the member that was read, for its descriptor
  std::uint64_t unpacked_ = 0;
  std::uint32_t flags_ = 0;
  std::uint32_t method_ = 0;
  bool large_ = false;  // its sizes may have eight bytes
  bool stored_ = false;
  bool inflating_ = false;
  bool done_ = false;
  std::string buffer_;
  z_stream stream_{};
  std::unique_ptr<ByteSink> member_;
};

}  // namespace

std::unique_ptr<ByteSink> MakeUntar(std::string name,
                                    const Unpacking& unpacking) {
  return std::make_unique<Untar>(std::move(name), unpacking);
}

std::unique_ptr<ByteSink> MakeUnzip(std::string name,
                                    const Unpacking& unpacking) {
  return std::make_unique<Unzip>(std::move(name), unpacking);
}

}  // namespace muster::diagnose
