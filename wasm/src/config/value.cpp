#include "config/value.h"

#include <nlohmann/json.hpp>

#include "sluice/tape.h"

namespace sluice::config {

namespace {

std::string bounds(uint64_t least, uint64_t most) {
  return std::to_string(least) + " to " + std::to_string(most);
}

}  // namespace

Status wrong_value(const std::string& path, std::string_view expected) {
  Status status;
  status.code = Code::config_value;
  status.path = path;
  status.message = path + " must be ";
  status.message += expected;
  return status;
}

std::string path_below(std::string_view path, std::string_view key) {
  std::string below(path);
  if (!below.empty()) below += '.';
  below += key;
  return below;
}

Status check_integer(const Row& row, const Json& value, const std::string& path, uint64_t& number) {
  // The parser calls a number unsigned exactly when it has no sign, point or exponent.
  if (value.is_number_unsigned()) number = value.get<uint64_t>();
  if (value.is_number_unsigned() && number >= row.least && number <= row.most) return {};
  return wrong_value(path, "an integer from " + bounds(row.least, row.most));
}

Status read_value(const Row&, const Json& value, const std::string& path, bool& target) {
  if (!value.is_boolean()) return wrong_value(path, "true or false");
  target = value.get<bool>();
  return {};
}

Status read_value(const Row& row, const Json& value, const std::string& path, std::string& target) {
  const bool nullable = row.type.ends_with("null");
  if (nullable && value.is_null()) {
    target.clear();
    return {};
  }
  const auto* const text = value.get_ptr<const std::string*>();
  const size_t chars = text == nullptr ? 0 : count_chars(*text);
  if (text == nullptr || chars < row.least || chars > row.most)
    return wrong_value(path, (nullable ? "null or a string of " : "a string of ") +
                                 bounds(row.least, row.most) + " characters");
  target = *text;
  return {};
}

Status read_value(const Row&, const Json& value, const std::string& path, Prefer& target) {
  if (value == "structured")
    target = Prefer::structured;
  else if (value == "content")
    target = Prefer::content;
  else
    return wrong_value(path, R"("structured" or "content")");
  return {};
}

Status read_value(const Row&, const Json& value, const std::string& path,
                  InlineMedia::Mode& target) {
  if (value == "auto")
    target = InlineMedia::Mode::automatic;
  else if (value == "off")
    target = InlineMedia::Mode::off;
  else
    return wrong_value(path, R"("auto", "off" or an object {"types", "max_bytes", "max_count"})");
  return {};
}

Json show_value(bool value) {
  return value;
}
Json show_value(uint64_t value) {
  return value;
}
Json show_value(const std::string& value) {
  return value;
}

Json show_value(Prefer value) {
  return value == Prefer::structured ? "structured" : "content";
}

Json show_value(InlineMedia::Mode value) {
  switch (value) {
    case InlineMedia::Mode::automatic:
      return "auto";
    case InlineMedia::Mode::off:
      return "off";
    case InlineMedia::Mode::listed:
      break;
  }
  return Json::object();
}

}  // namespace sluice::config
