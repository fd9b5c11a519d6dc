// JSON outside of strings (RFC 8259): part of Gate::Pass.
#include <algorithm>

#include "gate/pass.h"
#include "gate/scan.h"
#include "text/ascii.h"

namespace sluice {

namespace {

constexpr size_t kMaxNumber = 65'536;

bool is_number_byte(uint8_t c) {
  return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ sign ] 1*digit ]
bool is_number(const uint8_t* at, const uint8_t* end) {
  const auto digits = [&] {
    const uint8_t* begin = at;
    while (at < end && is_digit(*at)) ++at;
    return at > begin;
  };
  if (at < end && *at == '-') ++at;
  if (at == end) return false;
  if (*at == '0') {
    ++at;
  } else if (!digits()) {
    return false;
  }
  if (at < end && *at == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return false;
  }
  return at == end;
}

// The length of a short string, number or word, if it is whole; 0 for other values. Adds its
// characters.
size_t small_value(const uint8_t* at, const uint8_t* end, size_t& characters) {
  if (*at == '"') {
    const gate::ShortString found = gate::short_string(at + 1, end);
    characters += found.characters + 2;
    return found.closed ? found.bytes + 2 : 0;
  }
  const uint8_t* behind = at;
  if (*at == '-' || is_digit(*at)) {
    while (behind < end && is_number_byte(*behind)) ++behind;
    if (static_cast<size_t>(behind - at) > kMaxNumber || !is_number(at, behind)) return 0;
  } else {
    while (behind < end && is_lower(*behind)) ++behind;
    const std::string_view word = as_text(at, behind);
    if (word != "true" && word != "false" && word != "null") return 0;
  }
  characters += static_cast<size_t>(behind - at);
  return static_cast<size_t>(behind - at);
}

}  // namespace

// Passes members with short keys and small values, as rows have them, each in one step. Returns
// whether there was one. What is not whole here, or wrong, is left to the steps that tell where.
bool Gate::Pass::members() {
  const bool keys_matter = options_.protect && document_.place() != gate::Place::elsewhere;
  if (keys_matter || document_.protecting()) return false;
  const uint8_t* const begin = at_;
  while (at_ < end_ && *at_ == '"') {
    const gate::ShortString key = gate::short_string(at_ + 1, end_);
    if (!key.closed) break;
    const uint8_t* at = at_ + 1 + key.bytes + 1;
    if (end_ - at < 3 || *at++ != ':') break;
    if (options_.protect && as_text(at_ + 1, at_ + 1 + key.bytes) == "icons") break;
    if (*at == ' ') ++at;
    size_t characters = static_cast<size_t>(at - at_) - key.bytes + key.characters;
    const size_t size = small_value(at, end_, characters);
    at += size;
    if (size == 0 || at == end_ || (*at != ',' && *at != '}')) break;
    pass(static_cast<size_t>(at - at_), characters);
    end_value();
    if (*at != ',') break;
    pass(1, 1);
    expect_ = Expect::key;
    if (at_ < end_ && *at_ == ' ') pass(1, 1);
  }
  return at_ != begin;
}

// Skips white space and counts lines.
void Gate::Pass::pass_space() {
  while (at_ < end_ && is_white(*at_)) {
    ++line_characters_;
    document_.count(1);
    if (*at_++ != '\n') continue;
    ++line_;
    line_characters_ = 0;
  }
}

bool Gate::Pass::structure() {
  pass_space();
  if (at_ == end_) return false;
  const uint8_t c = *at_;
  switch (expect_) {
    case Expect::value_or_end:
      if (c == ']') return close();
      return begin_value(c);
    case Expect::value:
      return begin_value(c);
    case Expect::key_or_end:
      if (c == '}') return close();
      [[fallthrough]];
    case Expect::key:
      return members() || begin_string(true);
    case Expect::colon:
      if (c != ':') return fail(Code::json_syntax, at_, "a colon is expected after a key");
      expect_ = Expect::value;
      break;
    case Expect::comma_or_end: {
      const bool object = document_.in_object();
      if (c == (object ? '}' : ']')) return close();
      if (c != ',') {
        return fail(Code::json_syntax, at_,
                    object ? "a comma or } is expected here" : "a comma or ] is expected here");
      }
      expect_ = object ? Expect::key : Expect::value;
      break;
    }
    default:
      return fail(Code::json_syntax, at_, "nothing may follow the document");
  }
  pass(1, 1);
  return true;
}

// Appends source that stays, in one piece, before anything needs the document's end.
void Gate::Pass::lay() {
  document_.source(as_text(plain_, at_));
  plain_ = at_;
}

void Gate::Pass::pass(size_t bytes, size_t characters) {
  at_ += bytes;
  line_characters_ += characters;
  document_.count(characters);
}

bool Gate::Pass::begin_value(uint8_t c) {
  if (document_.protecting()) document_.open_protected(c);
  if (c != '"') rejected_column_ = 0;
  switch (c) {
    case '{':
      return open(true);
    case '[':
      return options_.detect_runs && !document_.protecting() ? try_array(false) : open(false);
    case '"': {
      const bool item = document_.depth() > 0 && !document_.in_object();
      return item && options_.detect_runs && !document_.protecting() ? try_items()
                                                                     : begin_string(false);
    }
    case 't':
      return literal("true");
    case 'f':
      return literal("false");
    case 'n':
      return literal("null");
    default:
      break;
  }
  if (c == '-' || is_digit(c)) return number();
  return fail(Code::json_syntax, at_, "a value is expected here");
}

// Strings that are too short to hold a run are skipped like the structure around them.
bool Gate::Pass::begin_string(bool key) {
  if (*at_ != '"') return fail(Code::json_syntax, at_, "a key in double quotes is expected here");
  const gate::ShortString found = gate::short_string(at_ + 1, end_);
  if (found.closed) {
    if (key && options_.protect) name(as_text(at_ + 1, at_ + 1 + found.bytes));
    pass(found.bytes + 2, found.characters + 2);
    after_string(key);
    return true;
  }
  key_ = key;
  detects_ = options_.detect_runs && !document_.protecting();
  lay();
  document_.open_string();
  ++at_;
  ++line_characters_;
  copied_ = stretch_ = at_;
  lane_ = Lane::scan;
  mid_word_ = false;
  armored_ = false;
  expect_ = Expect::in_string;
  return true;
}

void Gate::Pass::name(std::string_view key) {
  const gate::Member member = gate::member_named(key, document_.place());
  if (member >= gate::Member::icons) lay();
  document_.open_member(member);
}

void Gate::Pass::after_string(bool key) {
  if (key) {
    expect_ = Expect::colon;
  } else {
    end_value();
  }
}

bool Gate::Pass::number() {
  const uint8_t* p = at_;
  while (p < end_ && is_number_byte(*p)) ++p;
  const auto size = static_cast<size_t>(p - at_);
  if (size > kMaxNumber) {
    return fail(Code::json_number, at_, "a number is longer than 65,536 characters");
  }
  if (p == end_ && !final_) return wait();
  if (!is_number(at_, p)) return fail(Code::json_syntax, at_, "this is not a number");
  pass(size, size);
  end_value();
  return true;
}

bool Gate::Pass::literal(std::string_view word) {
  const auto size = std::min(word.size(), static_cast<size_t>(end_ - at_));
  if (as_text(at_, at_ + size) != word.substr(0, size)) {
    return fail(Code::json_syntax, at_, "true, false or null is expected here");
  }
  if (size < word.size()) return wait();
  pass(size, size);
  end_value();
  return true;
}

bool Gate::Pass::open(bool object) {
  if (document_.depth() >= gate::kMaxDepth) {
    return fail(Code::json_depth, at_, "containers are nested deeper than 1,000,000 levels");
  }
  lay();
  document_.open_container(object);
  pass(1, 1);
  expect_ = object ? Expect::key_or_end : Expect::value_or_end;
  return true;
}

bool Gate::Pass::close() {
  rejected_column_ = 0;
  pass(1, 1);
  lay();
  document_.close_container();
  end_value();
  return true;
}

void Gate::Pass::end_value() {
  if (document_.ends_member()) {
    lay();
    document_.close_member();
  }
  if (document_.overflows()) {
    lay();
    document_.shrink();
  }
  expect_ = document_.depth() == 0 ? Expect::nothing : Expect::comma_or_end;
}

}  // namespace sluice
