// JSON outside of strings (RFC 8259): part of Gate::Pass.
#include <algorithm>

#include "gate/pass.h"
#include "gate/scan.h"
#include "json/number.h"
#include "text/ascii.h"
#include "text/block.h"

namespace sluice {

namespace {

constexpr size_t kMaxNumber = 65'536;

bool is_number_byte(uint8_t c) {
  return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// Where a number or word ends, or `at` for other values.
const uint8_t* behind_word(const uint8_t* at, const uint8_t* end) {
  if (*at == '-' || is_digit(*at)) {
    const uint8_t* const behind = behind_number(at, end);
    return behind - at > static_cast<ptrdiff_t>(kMaxNumber) ? at : behind;
  }
  const uint8_t* const behind = std::find_if(at, end, [](uint8_t next) { return !is_lower(next); });
  const std::string_view word = as_text(at, behind);
  return word == "true" || word == "false" || word == "null" ? behind : at;
}

// Where a member with a short key and a small value ends, before a comma or bracket; null for other
// members, and for what is not whole or reaches out of the `strings`. Adds its characters.
const uint8_t* behind_member(const gate::ShortStrings& strings, const uint8_t* at,
                             const uint8_t* end, bool protects, size_t& characters) {
  if (*at != '"') return nullptr;
  const gate::ShortString key = strings[at];
  if (!key.closed) return nullptr;
  const uint8_t* const colon = at + 1 + key.bytes + 1;
  if (end - colon < 3 || *colon != ':') return nullptr;
  if (protects && as_text(at + 1, colon - 1) == "icons") return nullptr;
  const uint8_t* const value = colon + (colon[1] == ' ' ? 2 : 1);
  const uint8_t* behind = value;
  size_t more = static_cast<size_t>(value - at) - key.bytes + key.characters;
  if (*value != '"') {
    behind = behind_word(value, end);
    more += static_cast<size_t>(behind - value);
  } else if (value - strings.begin() < ptrdiff_t{Blocks::kBytes}) {
    const gate::ShortString text = strings[value];
    if (text.closed) behind = value + 1 + text.bytes + 1;
    more += text.characters + 2;
  }
  if (behind == value || behind == end || (*behind != ',' && *behind != '}')) return nullptr;
  characters += more;
  return behind;
}

}  // namespace

// Passes members with short keys and small values, as rows have them, in one step. Returns whether
// there was one. What is not whole here, or wrong, is left to the steps that tell where.
bool Gate::Pass::members() {
  if (document_.reads_keys() || document_.follows() || document_.protecting()) return false;
  if (end_ - at_ < ptrdiff_t{Blocks::kBytes}) return false;
  gate::ShortStrings strings(at_);
  const uint64_t room = document_.room();
  const uint8_t* at = at_;
  size_t characters = 0;
  Expect expected = Expect::key;
  while (expected == Expect::key) {
    const bool within = at - strings.begin() < ptrdiff_t{Blocks::kBytes};
    const uint8_t* const behind =
        within ? behind_member(strings, at, end_, options_.protect, characters) : nullptr;
    if (behind == nullptr) {
      if (at == strings.begin() || end_ - at < ptrdiff_t{Blocks::kBytes}) break;
      strings = gate::ShortStrings(at);
      continue;
    }
    at = behind;
    expected = Expect::comma_or_end;
    if (*at != ',' || characters > room) break;
    ++at;
    ++characters;
    expected = Expect::key;
    if (at == end_ || *at != ' ') continue;
    ++at;
    ++characters;
  }
  if (at == at_) return false;
  pass(static_cast<size_t>(at - at_), characters);
  expect_ = expected;
  if (expected == Expect::comma_or_end) end_value();
  return true;
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
  if (at_ != end_ && is_white(*at_)) pass_space();
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
      document_.pass_comma();
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
      return options_.detect_runs && !document_.protecting() ? try_object() : open(true);
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
  const bool infinity = c == '-' && at_ + 1 < end_ && is_letter(at_[1]);
  if (!infinity && (c == '-' || is_digit(c))) return number();
  return fail_word("a value is expected here");
}

// Fails at a word that is no value. Serialisers of Python and others write NaN and Infinity.
bool Gate::Pass::fail_word(std::string_view expected) {
  constexpr ptrdiff_t kLongest = 20;
  const uint8_t* p = at_ + (*at_ == '-' ? 1 : 0);
  while (p < end_ && p - at_ < kLongest && is_letter(*p)) ++p;
  if (p == end_ && !final_) return wait();
  if (p == at_) return fail(Code::json_syntax, at_, expected);
  const std::string word(as_text(at_, p));
  return fail(Code::json_syntax, at_, word + " is no JSON: " + std::string(expected));
}

// Strings that are too short to hold a run are skipped like the structure around them.
bool Gate::Pass::begin_string(bool key) {
  if (*at_ != '"') return fail(Code::json_syntax, at_, "a key in double quotes is expected here");
  const gate::ShortString found = gate::short_string(at_ + 1, end_);
  if (found.closed && (key || !document_.is_field())) {
    const std::string_view text = as_text(at_ + 1, at_ + 1 + found.bytes);
    if (key && (options_.protect || document_.reads_keys())) name(text);
    if (key && document_.follows()) document_.follow(text);
    pass(found.bytes + 2, found.characters + 2);
    after_string(key);
    return true;
  }
  key_ = key;
  detects_ = options_.detect_runs && !document_.protecting();
  lay();
  document_.open_string(key);
  ++at_;
  ++line_characters_;
  copied_ = stretch_ = at_;
  lane_ = Lane::scan;
  mid_word_ = false;
  armored_ = false;
  starts_ = detects_ && !key;
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
  if (behind_number(at_, p) != p) return fail(Code::json_syntax, at_, "this is not a number");
  const bool leaves = document_.add_number(as_text(at_, p));
  pass(size, size);
  if (leaves) {
    lay();
    document_.collapse_series();
  }
  end_value();
  return true;
}

bool Gate::Pass::literal(std::string_view word) {
  const auto size = std::min(word.size(), static_cast<size_t>(end_ - at_));
  if (as_text(at_, at_ + size) != word.substr(0, size)) {
    return fail_word("true, false or null is expected here");
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
  if (!document_.opens_deep()) lay();
  document_.open_container(object);
  pass(1, 1);
  expect_ = object ? Expect::key_or_end : Expect::value_or_end;
  return true;
}

bool Gate::Pass::close() {
  rejected_column_ = 0;
  pass(1, 1);
  if (!document_.is_deep()) lay();
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
