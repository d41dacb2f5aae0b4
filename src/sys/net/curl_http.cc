// SPDX-License-Identifier: Apache-2.0
#include "sys/net/curl_http.h"

#include <curl/curl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "sys/file/fs.h"
#include "sys/net/name_lookup.h"
#include "sys/net/proxy.h"

namespace muster::sys {
namespace {

// Where distributions keep the certificates that they trust.
constexpr const char* kCertificates[] = {
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem"};

// What the callbacks fill.
struct Received {
  HttpResponse response;
  std::size_t most_bytes = 0;
  bool too_large = false;
};

std::size_t TakeBody(char* bytes, std::size_t size, std::size_t count,
                     void* to) {
  auto& received = *static_cast<Received*>(to);
  const std::size_t length = size * count;
  if (received.response.body.size() + length > received.most_bytes) {
    received.too_large = true;
    return 0;
  }
  received.response.body.append(bytes, length);
  return length;
}

std::size_t TakeHeader(char* bytes, std::size_t size, std::size_t count,
                       void* to) {
  auto& received = *static_cast<Received*>(to);
  const std::string_view line(bytes, size * count);
  const auto colon = line.find(':');
  if (colon != std::string_view::npos && line.size() < 64U << 10) {
    std::string name(Trim(line.substr(0, colon)));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    });
    received.response.headers[name] = Trim(line.substr(colon + 1));
  }
  return size * count;
}

long Milliseconds(Duration duration) {
  const auto ms =
      std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<long>(std::max<std::int64_t>(ms, 1));
}

// Frees a list of libcurl's.
struct List {
  curl_slist* head = nullptr;
  List() = default;
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() { curl_slist_free_all(head); }
  void Add(const std::string& text) {
    head = curl_slist_append(head, text.c_str());
  }
};

// Only a proxy answers CONNECT, with what is no 200 where it refuses.
bool IsOfProxy(CURLcode code, long connect_status) {
  return code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_PROXY ||
         (connect_status != 0 && connect_status != 200);
}

// The other side is not who it says, or speaks no TLS that is trusted.
bool IsOfTls(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION ||
         code == CURLE_SSL_CONNECT_ERROR || code == CURLE_SSL_CACERT_BADFILE;
}

Cause CauseOf(CURLcode code, long os_error) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return Cause::kNetTimeoutFiltered;
    case CURLE_COULDNT_CONNECT:
      return os_error == EHOSTUNREACH || os_error == ENETUNREACH ||
                     os_error == ETIMEDOUT
                 ? Cause::kNetTimeoutFiltered
                 : Cause::kNetWrongEndpoint;
    case CURLE_COULDNT_RESOLVE_HOST:
      return Cause::kNetNameResolution;
    case CURLE_WRITE_ERROR:
      return Cause::kFileCorrupt;
    default:
      return Cause::kNetWrongEndpoint;
  }
}

class CurlHttp : public Http {
 public:
  CurlHttp() { curl_global_init(CURL_GLOBAL_DEFAULT); }

  Result<HttpResponse> Send(const HttpRequest& request) override {
    const Deadline deadline = Deadline::After(request.timeout);
    List resolved;
    MUSTER_TRY(LookUp(request, deadline, resolved));
    CURL* curl = curl_easy_init();
    if (curl == nullptr) {
      return Error(Cause::kInternalError, "libcurl returned no handle");
    }
    Received received{.most_bytes = request.most_bytes};
    List headers;
    for (const auto& [name, value] : request.headers) {
      headers.Add(std::string(name).append(": ").append(value));
    }
    curl_easy_setopt(curl, CURLOPT_RESOLVE, resolved.head);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.head);
    SetOptions(curl, request, deadline, received);
    const CURLcode code = curl_easy_perform(curl);
    long status = 0;
    Failure failure{.code = code, .too_large = received.too_large};
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &failure.os_error);
    curl_easy_getinfo(curl, CURLINFO_HTTP_CONNECTCODE, &failure.connect_status);
    curl_easy_cleanup(curl);
    if (code != CURLE_OK) {
      return Failed(request, failure);
    }
    received.response.status = static_cast<int>(status);
    return std::move(received.response);
  }

 private:
  static std::string PortOf(const HttpRequest& request,
                            const std::string& host_port) {
    const auto colon = host_port.rfind(':');
    const bool has_port = colon != std::string::npos &&
                          host_port.find(']', colon) == std::string::npos;
    return has_port                            ? host_port.substr(colon + 1)
           : request.url.starts_with("https:") ? "443"
                                               : "80";
  }

  // libcurl would wait for a name server beyond its own deadline.
  static Status LookUp(const HttpRequest& request, Deadline deadline,
                       List& resolved) {
    const std::string host_port = SplitUrl(request.url).host;
    std::string port = PortOf(request, host_port);
    std::string host = host_port.starts_with('[')
                           ? host_port
                           : host_port.substr(0, host_port.find(':'));
    if (!request.proxy.empty()) {
      // The proxy looks the host up itself.
      MUSTER_ASSIGN(const auto proxy, PlaceOf(request.proxy));
      host = proxy.host;
      port = std::to_string(proxy.port);
    }
    if (host.find(':') != std::string::npos) {
      return Ok();  // a number
    }
    const auto soon = deadline.Sooner(Deadline::After(request.connect_timeout));
    auto found = Resolve({.host = host}, soon);
    if (!found && !request.proxy.empty()) {
      return Error(Cause::kNetProxy,
                   Subject(request) + ": " + found.error().message());
    }
    MUSTER_ASSIGN(const auto addresses, std::move(found));
    std::vector<std::string> numbers;
    for (const SocketAddress& one : addresses) {
      std::string text = one.Text();
      text.resize(text.rfind(':'));
      numbers.push_back(std::move(text));
    }
    resolved.Add(host + ":" + port + ":" + Join(numbers, ","));
    return Ok();
  }

  static void SetOptions(CURL* curl, const HttpRequest& request,
                         Deadline deadline, Received& received) {
    curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, request.proxy.c_str());
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                     Milliseconds(request.connect_timeout));
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                     Milliseconds(deadline.Remaining()));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, TakeBody);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &received);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, TakeHeader);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &received);
    if (request.method != "GET" && request.method != "POST") {
      curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    if (request.method == "POST" || !request.body.empty()) {
      curl_easy_setopt(curl, CURLOPT_POST, 1L);
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
    }
    if (!request.ca_file.empty()) {
      curl_easy_setopt(curl, CURLOPT_CAINFO, request.ca_file.c_str());
      return;
    }
    for (const char* file : kCertificates) {
      if (access(file, R_OK) == 0) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, file);
        return;
      }
    }
  }

  struct Failure {
    CURLcode code = CURLE_OK;
    long os_error = 0;
    long connect_status = 0;
    bool too_large = false;
  };

  // Who was asked, and through whom.
  static std::string Subject(const HttpRequest& request) {
    const std::string host = "`" + Printable(SplitUrl(request.url).host) + "`";
    return request.proxy.empty()
               ? host
               : host + " through the proxy `" +
                     Printable(WithoutUser(request.proxy)) + "`";
  }

  static Error Failed(const HttpRequest& request, const Failure& failure) {
    if (failure.too_large) {
      return Error(Cause::kFileCorrupt, "the response of " + Subject(request) +
                                            " is larger than " +
                                            BytesText(request.most_bytes));
    }
    const bool connecting = failure.code == CURLE_COULDNT_CONNECT;
    const bool by_proxy =
        !request.proxy.empty() &&
        (connecting || IsOfProxy(failure.code, failure.connect_status));
    std::string why = Printable(curl_easy_strerror(failure.code));
    if (failure.connect_status != 0 && failure.connect_status != 200) {
      why = "it returned " + std::to_string(failure.connect_status) +
            " to CONNECT";
    } else if (failure.os_error != 0) {
      why += " (" + ErrnoName(static_cast<int>(failure.os_error)) + ")";
    }
    Error error(
        by_proxy ? Cause::kNetProxy : CauseOf(failure.code, failure.os_error),
        Subject(request) + ": " + why);
    if (IsOfTls(failure.code)) {
      return std::move(error).With({.name = "http.tls_failed",
                                    .fields = {{"text", why}},
                                    .by = "this machine"});
    }
    return error;
  }
};

}  // namespace

std::unique_ptr<Http> MakeCurlHttp() {
  return std::make_unique<CurlHttp>();
}

}  // namespace muster::sys
