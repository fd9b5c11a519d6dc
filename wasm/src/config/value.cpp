#include "config/value.h"

namespace sluice::config {

std::optional<std::string> Value::text() const {
  if (!is(Type::string)) return std::nullopt;
  return tape->string(node);
}

std::vector<Value> elements(const Value& array, size_t most) {
  std::vector<Value> found;
  if (!array.is(Type::array)) return found;
  const Tape& tape = *array.tape;
  for (size_t at = array.node + 1; at < tape[array.node].next && found.size() <= most;
       at = tape[at].next)
    found.push_back({&tape, at});
  return found;
}

std::vector<Member> members(const Value& object, size_t most) {
  std::vector<Member> found;
  if (!object.is(Type::object)) return found;
  const Tape& tape = *object.tape;
  for (size_t at = object.node + 1; at < tape[object.node].next; at = tape[at + 1].next) {
    std::string key = tape.string(at);
    size_t place = 0;
    while (place < found.size() && found[place].key != key) ++place;
    if (place < found.size())
      found[place].value.node = at + 1;
    else if (place <= most)
      found.push_back({std::move(key), {&tape, at + 1}});
  }
  return found;
}

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

std::string range(uint64_t least, uint64_t most) {
  return std::to_string(least) + " to " + std::to_string(most);
}

Status check_integer(const Limits& limits, const Value& value, const std::string& path,
                     uint32_t& number) {
  const std::string_view digits = value.tape->source(value.node);
  uint64_t read = digits.size() > 10 ? UINT64_MAX : 0;
  for (const char c : digits.substr(0, 10))
    read = c < '0' || c > '9' || read == UINT64_MAX ? UINT64_MAX
                                                    : read * 10 + static_cast<uint64_t>(c - '0');
  if (read < limits.least || read > limits.most)
    return wrong_value(path, "an integer from " + range(limits.least, limits.most));
  number = static_cast<uint32_t>(read);
  return {};
}

Status read_value(const Limits&, const Value& value, const std::string& path, bool& target) {
  if (!value.is(Type::boolean)) return wrong_value(path, "true or false");
  target = value.tape->source(value.node) == "true";
  return {};
}

Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  std::string& target) {
  if (limits.nullable && value.is(Type::null)) {
    target.clear();
    return {};
  }
  auto text = value.text();
  const size_t chars = text ? count_chars(*text) : 0;
  if (!text || chars < limits.least || chars > limits.most)
    return wrong_value(path, (limits.nullable ? "null or a string of " : "a string of ") +
                                 range(limits.least, limits.most) + " characters");
  target = std::move(*text);
  return {};
}

Status read_value(const Limits&, const Value& value, const std::string& path, Prefer& target) {
  if (value.is("structured"))
    target = Prefer::structured;
  else if (value.is("content"))
    target = Prefer::content;
  else
    return wrong_value(path, R"("structured" or "content")");
  return {};
}

Status read_value(const Limits&, const Value& value, const std::string& path,
                  InlineMedia::Mode& target) {
  if (value.is("auto"))
    target = InlineMedia::Mode::automatic;
  else if (value.is("off"))
    target = InlineMedia::Mode::off;
  else
    return wrong_value(path, R"("auto", "off" or an object {"types", "max_bytes", "max_count"})");
  return {};
}

}  // namespace sluice::config
