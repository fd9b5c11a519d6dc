#include "gate/inner.h"

#include <algorithm>
#include <utility>

#include "json/number.h"
#include "json/scan.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::gate {

namespace {

// A string that is closed within so many bytes is passed like the structure around it.
constexpr size_t kShort = 256;

// White space behind a value that belongs to it, where nothing else follows.
constexpr size_t kMaxTail = 64;

// Characters of the longest number.
constexpr size_t kMaxWord = 1'024;

bool is_word(std::string_view text) {
  for (const std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
    if (text == word) return true;
  }
  const uint8_t* const begin = as_bytes(text).data();
  return !text.empty() && behind_number(begin, begin + text.size()) == begin + text.size();
}

bool ends_word(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte <= ' ' || byte >= 0x7F || is_among(c, ",]}:\"[{");
}

}  // namespace

// Appends source that stays, before anything needs the document's end.
void Inner::lay(const char* upto) {
  document_.source({laid_, static_cast<size_t>(upto - laid_)});
  laid_ = upto;
}

void Inner::end_value(const char* at) {
  if (document_.overflows()) {
    lay(at);
    document_.shrink();
  }
  state_ = State::comma_or_end;
  if (document_.depth() == 0) state_ = document_.collapsed() ? State::tail : State::done;
}

size_t Inner::push(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* at = begin;
  while (at != end && !is_over()) {
    if (state_ == State::text) {
      at = string(at, end);
    } else if (state_ == State::escape || state_ == State::unicode) {
      escaped(*at);
      if (state_ != State::broken) ++at;
    } else {
      at = structure(at, end);
    }
  }
  return static_cast<size_t>(at - begin);
}

// Reads up to the inside of a string.
const char* Inner::structure(const char* at, const char* end) {
  laid_ = at;
  while (at != end && !is_over() && state_ != State::text) {
    if (state_ == State::word) {
      at = word(at, end);
      continue;
    }
    const char c = *at;
    if (state_ == State::tail) {
      if (is_white(c) && held_.size() < kMaxTail) {
        held_ += c;
        laid_ = ++at;
      } else {
        state_ = State::done;
      }
      continue;
    }
    if (is_white(c)) {
      document_.count(1);
      ++at;
      continue;
    }
    const bool object = document_.in_object();
    switch (state_) {
      case State::value_or_end:
      case State::key_or_end:
      case State::comma_or_end:
        if (c == (object ? '}' : ']')) {
          document_.count(1);
          ++at;
          if (!document_.is_deep()) lay(at);
          document_.close_container();
          end_value(at);
          continue;
        }
        if (state_ == State::value_or_end) {
          at = begin_value(at, end);
        } else if (state_ == State::key_or_end) {
          at = begin_string(at, end, true);
        } else if (c == ',') {
          document_.count(1);
          document_.pass_comma();
          ++at;
          state_ = object ? State::key : State::value;
        } else {
          state_ = State::broken;
        }
        continue;
      case State::value:
        at = begin_value(at, end);
        continue;
      case State::key:
        at = begin_string(at, end, true);
        continue;
      default:
        if (c == ':') {
          document_.count(1);
          ++at;
          state_ = State::value;
        } else {
          state_ = State::broken;
        }
    }
  }
  // Inside a string the document has all of it already.
  if (state_ != State::text) lay(at);
  return at;
}

const char* Inner::begin_value(const char* at, const char* end) {
  if (*at == '"') return begin_string(at, end, false);
  if (*at != '{' && *at != '[') {
    state_ = State::word;
    held_.clear();
    return at;
  }
  if (document_.depth() >= kMaxDepth) {
    state_ = State::broken;
    return at;
  }
  const bool object = *at == '{';
  if (!document_.opens_deep()) lay(at);
  document_.open_container(object);
  document_.count(1);
  state_ = object ? State::key_or_end : State::value_or_end;
  return at + 1;
}

const char* Inner::begin_string(const char* at, const char* end, bool key) {
  if (*at != '"') {
    state_ = State::broken;
    return at;
  }
  key_ = key;
  const char* const stop =
      skip_plain(at + 1, at + 1 + std::min<ptrdiff_t>(kShort, end - at - 1), false);
  if (stop != end && *stop == '"' && document_.keeps_string(static_cast<size_t>(stop - at - 1)) &&
      (key || !document_.is_field())) {
    if (key && document_.follows()) document_.follow({at + 1, static_cast<size_t>(stop - at - 1)});
    document_.count(count_chars({at, static_cast<size_t>(stop - at)}) + 1);
    if (key) {
      state_ = State::colon;
    } else {
      end_value(stop + 1);
    }
    return stop + 1;
  }
  lay(at);
  document_.open_string(key);
  laid_ = at + 1;
  state_ = State::text;
  return at + 1;
}

// Reads a number, or true, false, null, up to what ends it. What is none of them, as the dots of
// JSON that was cut, stays behind the value.
const char* Inner::word(const char* at, const char* end) {
  const bool begins = held_.empty();
  const auto room = static_cast<ptrdiff_t>(kMaxWord - held_.size());
  const char* const limit = at + std::min(room, end - at);
  const char* const stop = std::find_if(at, limit, ends_word);
  held_.append(at, stop);
  const bool full = held_.size() == kMaxWord;
  const bool goes_on = stop == end && !full;
  const bool whole = !goes_on && !full && is_word(held_);
  if (begins && !whole) lay(at);
  if (!begins || !whole) laid_ = stop;
  if (goes_on) return end;
  if (!whole) {
    state_ = State::broken;
    return stop;
  }
  document_.count(held_.size());
  if (!begins) document_.source(held_);
  held_.clear();
  end_value(stop);
  return stop;
}

void Inner::pass(std::string_view source) {
  document_.text(source, count_chars(source), false);
}

// Reads up to the end of a string, or a part of it that needs a closer look.
const char* Inner::string(const char* at, const char* end) {
  const char* const begin = at;
  const auto pass_to = [&](const char* upto) { pass({begin, static_cast<size_t>(upto - begin)}); };
  for (;;) {
    at = skip_plain(at, end, false);
    if (at == end) {
      pass_to(end);
      return end;
    }
    const size_t escape = *at == '\\' ? escape_bytes(reinterpret_cast<const uint8_t*>(at),
                                                     reinterpret_cast<const uint8_t*>(end))
                                      : 0;
    at += escape;
    if (escape == 0) break;
  }
  pass_to(at);
  if (*at == '"') {
    end_string();
    return at + 1;
  }
  if (*at == '\\') {
    held_ = *at;
    state_ = State::escape;
    return at + 1;
  }
  state_ = State::broken;
  return at;
}

void Inner::end_string() {
  document_.close_string(key_);
  if (key_) {
    state_ = State::colon;
  } else {
    laid_ = nullptr;
    end_value(nullptr);
  }
}

// One byte of an escape that was cut, or is none.
void Inner::escaped(char c) {
  const bool digit = state_ == State::unicode;
  if (digit ? !is_hex_digit(c) : c != 'u' && !is_short_escape(c)) {
    state_ = State::broken;
    return;
  }
  held_ += c;
  if (!digit && c == 'u') {
    state_ = State::unicode;
    left_ = 4;
    return;
  }
  if (digit && --left_ > 0) return;
  pass(held_);
  held_.clear();
  state_ = State::text;
}

bool Inner::mark(uint32_t segment) {
  if (state_ == State::text) {
    document_.mark(segment);
    return true;
  }
  if (state_ != State::value && state_ != State::value_or_end) return false;
  // Bytes outside of strings.
  std::string marker;
  append_marker(marker, segment);
  document_.source(marker);
  document_.count(kReferenceChars);
  laid_ = nullptr;
  end_value(nullptr);
  return true;
}

std::string Inner::finish() {
  // A number may have no end of its own.
  const bool last = state_ == State::word && is_word(held_);
  if (state_ == State::tail || last) document_.source(std::exchange(held_, ""));
  document_.break_off();
  // The beginning of an escape or a word.
  return document_.out() + held_;
}

}  // namespace sluice::gate
