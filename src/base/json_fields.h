// SPDX-License-Identifier: Apache-2.0
// Fields of JSON that others wrote: what is absent or of another type is empty.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "base/json_fwd.h"

namespace muster {

// A whole number that a signed word of 64 bits holds; nullopt: it is none.
std::optional<std::int64_t> IntegerOf(const Json& value);
// A text field; empty when it is absent or of another type.
std::string TextOf(const Json& json, const char* key);
// A whole number, also when it is written as text.
std::optional<int> NumberOf(const Json& json, const char* key);
// json[a][b]…, an empty object when a step is missing.
const Json& At(const Json& json, std::initializer_list<const char*> keys);
// The elements of a list field; an empty list when there is none.
const Json& ListOf(const Json& json, const char* key);

}  // namespace muster
