#include "layers/naming.h"

#include "layers/filename.h"

namespace sluice::layers {

std::string string_member(const Document& document, size_t object, std::string_view key) {
  const std::optional<size_t> value = document.tape().find(object, key);
  if (!value || !document.marks(*value).empty()) return {};
  return document.tape().string(*value);
}

std::optional<uint64_t> number_member(const Document& document, size_t object,
                                      std::string_view key) {
  const std::optional<size_t> value = document.tape().find(object, key);
  if (!value || document.tape()[*value].type != Type::number) return std::nullopt;
  const std::string_view digits = document.tape().source(*value);
  if (digits.size() > 18) return std::nullopt;
  uint64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

std::string sibling_filename(const Document& document, size_t object) {
  for (const std::string_view key : {"filename", "fileName", "file_name"}) {
    std::string name = clean_filename(string_member(document, object, key));
    if (!name.empty()) return name;
  }
  return {};
}

std::string payload_filename(const Document& document, size_t holder) {
  std::string name = filename_of_uri(string_member(document, holder, "uri"));
  if (name.empty()) name = clean_filename(string_member(document, holder, "name"));
  if (name.empty()) name = clean_filename(string_member(document, holder, "title"));
  return name.empty() ? sibling_filename(document, holder) : name;
}

}  // namespace sluice::layers
