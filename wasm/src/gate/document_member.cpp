// Members with a meaning, members that pass as they came, series of numbers, and places that the
// configuration names. Part of Document.
#include <algorithm>
#include <utility>

#include "codec/payload.h"
#include "gate/document.h"
#include "sluice/config.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::gate {

// --- members with a meaning ------------------------------------------------------------------

namespace {

struct Name {
  std::string_view name;
  Member member;
};

constexpr Name kNames[] = {
    {"jsonrpc", Member::jsonrpc},
    {"result", Member::result},
    {"content", Member::blocks},
    {"messages", Member::blocks},
    {"contents", Member::entries},
    {"tools", Member::entries},
    {"resources", Member::entries},
    {"resourceTemplates", Member::entries},
    {"prompts", Member::entries},
    {"tasks", Member::entries},
    {"task", Member::entries},
    {"roots", Member::entries},
    {"resource", Member::resource},
    {"icons", Member::icons},
    {"_meta", Member::meta},
    {"requestState", Member::fixed},
    {"inputRequests", Member::fixed},
    {"inputResponses", Member::fixed},
    {"nextCursor", Member::fixed},
    {"resultType", Member::fixed},
    {"structuredContent", Member::structured},
};

}  // namespace

// Most keys are those of rows, so `elsewhere` needs no search.
Member member_named(std::string_view name, Place place) {
  if (!has_meaning(place)) return name == "icons" ? Member::icons : Member::other;
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [name](const Name& known) { return known.name == name; });
  return found == std::end(kNames) ? Member::other : found->member;
}

Place place_of(Member member, Place place) {
  const bool result = place == Place::result;
  const bool block = place == Place::block;
  if (member == Member::result && result) return Place::result;
  if (member == Member::blocks && (result || block)) return Place::blocks;
  if (member == Member::entries && result) return Place::entries;
  if (member == Member::resource && block) return Place::entries;
  if (member == Member::structured && result) return Place::structured;
  return Place::elsewhere;
}

Place place_of_object(Place place) {
  if (place == Place::blocks) return Place::block;
  return place == Place::entries ? Place::entry : place;
}

bool is_protected(Member member, Place place) {
  if (member == Member::meta) return has_meaning(place);
  return member == Member::fixed && place == Place::result;
}

// --- members that pass as they came ----------------------------------------------------------

// Bytes of source of the longest name that a configured path may have.
constexpr size_t kMaxNameSource = 500 * 6;

// Reads the key that closes. It may contain escapes.
void Document::name_member() {
  const std::string_view source = std::string_view(out_).substr(string_begin_ + 1);
  std::string name;
  if (source.size() <= (follows() ? kMaxNameSource : kMaxMemberSource)) {
    append_unescaped(name, source);
  }
  if (options_.protect || reads_keys()) open_member(member_named(name, place()), string_begin_);
  if (follows()) follow(name);
}

// Source that streams into a segment is not protected there. The protected members of a result that
// does stream are, because they have to stay in the document too.
void Document::open_member(Member member, size_t begin) {
  if (protecting_) return;
  const Frame& frame = frames_.back();
  next_ = place_of(member, frame.place);
  if (!options_.protect) return;
  if (frames_.size() == 1) envelope_ = envelope_ || member == Member::jsonrpc;
  const bool streams =
      collapsed() && (is_deep() || frames_.size() > json_frame_ + 1 || !frame.body);
  if (streams || unspent_ == 0) return;
  wants_array_ = member == Member::icons;
  protecting_ = wants_array_ || is_protected(member, frame.place);
  protect_begin_ = begin;
  protect_depth_ = frames_.size();
}

// An object in an array has the place of the array's elements. A result in an array is no result.
Place Document::place_within(bool object) const {
  if (frames_.empty()) return Place::result;
  const Frame& around = frames_.back();
  if (around.object) return object ? place_of_object(next_) : next_;
  const bool holds = object && (around.place == Place::blocks || around.place == Place::entries);
  return holds ? place_of_object(around.place) : Place::elsewhere;
}

void Document::open_protected(uint8_t first) {
  if (wants_array_ && first != '[') protecting_ = false;
  wants_array_ = false;
}

void Document::close_member() {
  protecting_ = false;
  if (!frames_.back().body) return;
  std::string& members = members_[frames_.size() - 1];
  members += ',';
  members.append(out_, protect_begin_);
}

void Document::spend(uint64_t chars) {
  unspent_ -= std::min(unspent_, chars);
  if (unspent_ == 0) protecting_ = false;
}

// --- series of numbers: what a model can do least with -------------------------------------------

namespace {

// How many numbers of a series are told, and the longest of them.
constexpr uint64_t kFirst = 3;

// Numbers without decimals after which an array is no series.
constexpr uint64_t kTried = 16;
constexpr size_t kMaxTold = 24;

// Digits behind the point.
size_t count_decimals(std::string_view number) {
  const size_t point = number.find('.');
  if (point == number.npos) return 0;
  return std::min(number.find_first_not_of("0123456789", point + 1), number.size()) - point - 1;
}

// Close enough to find the least and the greatest.
double value_of(std::string_view number) {
  double value = 0;
  double scale = 1;
  int64_t exponent = 0;
  bool behind_point = false, behind_e = false, down = false;
  for (const char c : number) {
    if (c == '.') behind_point = true;
    if ((c | 0x20) == 'e') behind_e = true;
    if (c == '-') down = behind_e;
    if (!is_digit(c)) continue;
    if (behind_e) {
      exponent = std::min<int64_t>(exponent * 10 + (c - '0'), 400);
    } else {
      value = value * 10 + (c - '0');
      if (behind_point) scale *= 10;
    }
  }
  value /= scale;
  for (; exponent > 0; --exponent) value = down ? value / 10 : value * 10;
  return number[0] == '-' ? -value : value;
}

}  // namespace

// What streams already needs no closer look, but for the series that does.
bool Document::add_number(std::string_view number) {
  if (is_deep() || frames_.empty() || frames_.back().object || protecting_) return false;
  if (!options_.divert_text || (collapsed() && frames_.size() != json_frame_ + 1)) return false;
  // Most arrays are of integers.
  if (series_.count == kTried && series_.decimals == 0) return false;
  if (series_.count == 0) series_ = {};
  ++series_.count;
  series_.decimals += count_decimals(number) >= 4;
  if (number.size() <= kMaxTold) {
    if (series_.count <= kFirst) series_.first.append(series_.count > 1 ? ", " : "").append(number);
    const double value = value_of(number);
    if (series_.least.empty() || value < series_.low) {
      series_.low = value;
      series_.least = number;
    }
    if (series_.greatest.empty() || value > series_.high) {
      series_.high = value;
      series_.greatest = number;
    }
  }
  return series_.is_long() && !collapsed() && log_.size() < max_segments();
}

// --- places that the configuration names -----------------------------------------------------

namespace {

// Takes the next step off a configured path. Brackets are another spelling of dots.
std::string_view take_step(std::string_view& path) {
  path.remove_prefix(std::min(path.find_first_not_of(".[]"), path.size()));
  const std::string_view step = path.substr(0, path.find_first_of(".[]"));
  path.remove_prefix(step.size());
  return step;
}

std::string_view take_name(std::string_view& path) {
  const std::string_view name = path.substr(0, path.find('\0'));
  path.remove_prefix(std::min(name.size() + 1, path.size()));
  return name;
}

bool leads_to(std::string_view configured, std::string_view path) {
  if (configured.starts_with('$')) take_step(configured);
  while (!path.empty()) {
    const std::string_view step = take_step(configured);
    const std::string_view name = take_name(path);
    if (step.empty() || (step != "*" && step != name)) return false;
  }
  return take_step(configured).empty();
}

}  // namespace

void Document::follow(std::string_view name) {
  path_.resize(frames_.back().name);
  path_.append(name).append(1, '\0');
}

void Document::next_element() {
  constexpr size_t kMostDigits = 19;
  if (!follows() || in_object()) return;
  std::string_view last = std::string_view(path_).substr(frames_.back().name);
  follow(std::to_string(decimal(take_name(last), kMostDigits).value_or(0) + 1));
}

// A path begins at the outermost container, and in a `result` or `structuredContent` around the
// value.
std::optional<uint32_t> Document::find_field() const {
  constexpr int kMostWrappers = 3;
  if (!follows() || protecting_) return std::nullopt;
  std::string_view path = path_;
  for (int around = 0; around <= kMostWrappers && !path.empty(); ++around) {
    for (uint32_t index = 0; index < options_.fields->size(); ++index) {
      if (leads_to((*options_.fields)[index].field_path, path)) return index;
    }
    const std::string_view name = take_name(path);
    if (name != "result" && name != "structuredContent") break;
  }
  return std::nullopt;
}

// Takes the configured values between two places out of what leaves as a whole, or the `texts` of
// blocks there, which alone leave. Returns where that ends now.
size_t Document::take_named(size_t begin, size_t end, bool texts) {
  for (Named& named : named_) {
    const bool is_text = named.field == kBlockText;
    if (named.begin < begin || named.begin >= end || (texts && !is_text)) continue;
    const size_t from = named.begin + 1;
    const size_t size = std::exchange(named.size, 0) - 2;
    if (texts != is_text) continue;
    const uint64_t chars = texts ? count_string(from, from + size) - kReferenceChars : 0;
    const std::string marker = take_field(std::string_view(out_).substr(from, size), named.field);
    if (marker.empty()) continue;
    out_.replace(from, size, marker);
    close_gap(named.begin, size - marker.size(), chars);
    end -= size - marker.size();
  }
  std::erase_if(named_, [](const Named& named) { return named.size == 0; });
  return end;
}

// Takes the texts of blocks out of a list of them that is too large: each is told, and read, by
// itself. Returns whether one was there.
bool Document::take_texts() {
  const auto lists = [](const Frame& frame) { return frame.place == Place::blocks; };
  if (std::none_of(frames_.begin(), frames_.end(), lists)) return false;
  takes_texts_ = true;
  const size_t before = out_.size();
  return take_named(0, before, true) < before;
}

// The marker of a value that leaves; nothing where it stays.
std::string Document::take_field(std::string_view source, uint32_t field) {
  std::string marker;
  if (source.empty()) return marker;
  const bool named = field != kBlockText;
  size_t markers = 0;
  for (; named && marker_at(source, markers) >= 0; markers += kMarkerBytes) {
    log_.segment(static_cast<uint32_t>(marker_at(source, markers))).field = field + 1;
  }
  if (markers == source.size()) return marker;
  // The last one is for what leaves as a whole.
  if (log_.size() + 1 >= max_segments()) return marker;
  std::string value;
  append_unescaped(value, source);
  std::optional<Payload> payload;
  if (named && source.find(kMarkerOpen) == source.npos) payload = read_encoded(value);
  if (payload && is_text_type((*options_.fields)[field].mime_type) && !is_printable(payload->bytes))
    payload.reset();
  if (payload && level_ > 0 && !fit_nested(*payload, source)) payload.reset();
  Spelling spelling;
  if (!payload && level_ > 0 && spelling.learn(source) < source.size()) return marker;
  const uint32_t index = log_.open(payload ? SegmentKind::run : SegmentKind::text);
  if (payload) {
    log_.segment(index).declared = payload->declared;
    log_.data(index, payload->bytes);
  } else {
    emit(index, source, true);
  }
  Segment& segment = log_.segment(index);
  if (payload) segment.form = payload->form;
  if (!payload && level_ > 0) segment.spelling = spelling.name();
  segment.field = field + 1;  // none of a block's text
  segment.whole = true;
  segment.chars = count_chars(source);
  log_.close(index);
  append_marker(marker, index);
  return marker;
}

}  // namespace sluice::gate
