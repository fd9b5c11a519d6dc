#include "json/value.h"

namespace sluice {

namespace {

/// `Json::parse` would bring a second reader, for callbacks: 2 KB gzipped.
Json parse(std::string_view text) {
  Json value;
  nlohmann::detail::json_sax_dom_parser<Json> reader(value, false);
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) value = Json::value_t::discarded;
  return value;
}

}  // namespace

Json read_json(const Tape& tape) {
  for (size_t at = 0; at < tape.size(); ++at) {
    if (tape[at].type == Type::object && tape.count(at) > kMaxMembers)
      return Json::value_t::discarded;
  }
  return parse(tape.text());
}

std::string write_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sluice
