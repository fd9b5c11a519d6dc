#include "gate/document.h"

#include <algorithm>

#include "gate/scan.h"
#include "json/unescape.h"

namespace sluice::gate {

void Document::source(std::string_view text) {
  out_.append(text);
}

void Document::open_string() {
  in_string_ = true;
  string_begin_ = out_.size();
  string_chars_ = 0;
  string_source_ = 0;
  stays_plain_ = !options_.divert_text;
  out_ += '"';
}

void Document::text(const uint8_t* at, const uint8_t* end) {
  if (at == end) return;
  out_.append(reinterpret_cast<const char*>(at), static_cast<size_t>(end - at));
  const size_t chars = count_code_points(at, end);
  string_chars_ += chars;
  string_source_ += chars;
  // A prefix may still be taken back: only what is out of reach counts before the string ends.
  check_string(options_.max_inline_chars + kReach);
}

void Document::check_string(uint64_t limit) {
  if (protecting_) limit = std::max(limit, unspent_);
  if (text_ < 0 && !stays_plain_ && string_chars_ > limit) start_text();
}

void Document::start_text() {
  protecting_ = false;
  if (log_.size() >= max_segments() && !frames_.empty()) {
    saturate();
    stays_plain_ = true;
    return;
  }
  text_ = log_.open(SegmentKind::text);
  text_begin_ = string_begin_ + 1;
}

bool Document::is_mangled() const {
  if (protecting_ || !options_.detect_runs || string_chars_ < options_.min_run_chars) return false;
  std::string source = out_.substr(string_begin_ + 1);
  uint64_t references = 0;
  for (size_t at = source.find(kMarkerOpen); at != std::string::npos;
       at = source.find(kMarkerOpen, at)) {
    source.erase(at, kMarkerBytes);
    references += kReferenceChars;
  }
  std::string value;
  append_unescaped(value, source);
  return looks_mangled(value, count_damage(value), value.size() + references, options_.signatures);
}

void Document::close_string(bool key) {
  if (key) next_ = Place::elsewhere;
  check_string(options_.max_inline_chars);
  if (text_ < 0 && !stays_plain_ && is_mangled()) start_text();
  if (text_ >= 0) {
    end_text();
  } else if (!key) {
    mark_if_whole();
  } else if (options_.protect) {
    name_member();
  }
  out_ += '"';
  count(string_chars_ + 2);
  in_string_ = false;
}

void Document::end_text() {
  const auto index = static_cast<uint32_t>(text_);
  emit(index, std::string_view(out_).substr(text_begin_), true);
  out_.resize(string_begin_ + 1);
  Segment& segment = log_.segment(index);
  segment.whole = true;
  segment.chars = string_source_;
  log_.close(index);
  text_ = -1;
  append_marker(out_, index);
  string_chars_ = kReferenceChars;
}

void Document::mark_if_whole() {
  if (out_.size() != string_begin_ + 1 + kMarkerBytes) return;
  const int32_t index = marker_at(out_, string_begin_ + 1);
  if (index >= 0) log_.segment(static_cast<uint32_t>(index)).whole = true;
}

std::string_view Document::behind() const {
  const std::string_view all(out_);
  const size_t begin = text_ >= 0 ? text_begin_ : string_begin_ + 1;
  return all.substr(std::max(begin, all.size() - std::min(all.size(), kReach)));
}

std::string_view Document::tail() const {
  const std::string_view all(out_);
  return all.substr(all.size() - std::min(all.size(), kReach));
}

bool Document::admits_run() {
  if (log_.size() < max_segments()) return true;
  if (!collapsed() && text_ < 0 && !frames_.empty()) {
    saturate();
    stays_plain_ = true;
  }
  return false;
}

void Document::take_back(size_t prefix) {
  out_.resize(out_.size() - prefix);
  string_chars_ -= prefix;
  check_string(options_.max_inline_chars + kReach);
}

void Document::mark(uint32_t segment) {
  append_marker(out_, segment);
  string_chars_ += kReferenceChars;
  string_source_ += log_.segment(segment).chars;
  check_string(options_.max_inline_chars + kReach);
}

void Document::mark_value(uint32_t segment) {
  out_ += '"';
  append_marker(out_, segment);
  out_ += '"';
  count(kReferenceChars);
}

namespace {

// Whether source begins with the escape of a surrogate whose third digit lies in a range.
bool is_surrogate(std::string_view source, char low, char high) {
  if (source.size() < 6 || source[0] != '\\' || source[1] != 'u') return false;
  const char third = static_cast<char>(source[3] | 0x20);
  return (source[2] | 0x20) == 'd' && third >= low && third <= high;
}

// Bytes of what must not be cut: a marker, an escape, a pair of surrogate escapes, or one byte.
size_t element_size(std::string_view source) {
  if (source[0] == kMarkerOpen) return kMarkerBytes;
  if (source[0] != '\\') return 1;
  if (source[1] != 'u') return 2;
  const bool pair = (is_surrogate(source, '8', '9') || is_surrogate(source, 'a', 'b')) &&
                    is_surrogate(source.substr(6), 'c', 'f');
  return pair ? 12 : 6;
}

}  // namespace

// Where the text before may be cut: behind no escape that could still combine with what follows.
size_t Document::text_cut() const {
  if (out_.size() < text_begin_ + 2 * kReach) return text_begin_;
  const size_t wanted = out_.size() - kReach;
  // A surrogate pair is 12 bytes long: a place with no backslash in the 12 before it cuts none.
  constexpr size_t kPair = 12;
  size_t clear = 0;
  for (size_t cut = wanted; cut > text_begin_ && wanted - cut < 16 * kReach; --cut) {
    clear = out_[cut - 1] == '\\' || out_[cut - 1] == kMarkerOpen ? 0 : clear + 1;
    if (clear > kPair) return cut + kPair;
  }
  // Dense escapes: walk them from the start, which is always a boundary.
  size_t at = text_begin_;
  size_t safe = at;
  while (at < wanted) {
    at += element_size(std::string_view(out_).substr(at));
    if (at <= wanted) safe = at;
  }
  return safe;
}

// The place that leaves kReach bytes behind it, and no marker cut.
size_t Document::reach_cut() const {
  size_t cut = out_.size() - std::min(out_.size(), kReach);
  for (size_t i = 0; i + 1 < kMarkerBytes && cut > 0; ++i) {
    if (out_[cut - 1] == kMarkerClose) break;
    if (marker_at(out_, cut - 1) >= 0) return cut - 1;
    --cut;
  }
  return cut;
}

void Document::flush() {
  if (collapsed()) {
    const bool held = in_string_ && !stays_plain_;
    size_t cut = std::min(held ? string_begin_ : out_.size(), reach_cut());
    if (protecting_) cut = std::min(cut, protect_begin_);
    cut = std::max(json_begin_, cut);
    emit(static_cast<uint32_t>(json_),
         std::string_view(out_).substr(json_begin_, cut - json_begin_), false);
    out_.erase(json_begin_, cut - json_begin_);
    const size_t moved = cut - json_begin_;
    string_begin_ -= std::min(moved, string_begin_);
    text_begin_ -= std::min(moved, text_begin_);
    protect_begin_ -= std::min(moved, protect_begin_);
  }
  if (text_ >= 0) {
    const size_t cut = text_cut();
    emit(static_cast<uint32_t>(text_),
         std::string_view(out_).substr(text_begin_, cut - text_begin_), true);
    out_.erase(text_begin_, cut - text_begin_);
  }
}

void Document::emit(uint32_t segment, std::string_view source, bool undo_escapes) {
  while (!source.empty()) {
    const size_t marker = source.find(kMarkerOpen);
    const std::string_view piece = source.substr(0, marker);
    if (undo_escapes && piece.find('\\') != std::string_view::npos) {
      std::string value;
      append_unescaped(value, piece);
      log_.data(segment, value);
    } else {
      log_.data(segment, piece);
    }
    if (marker == std::string_view::npos) return;
    log_.reference(segment, static_cast<uint32_t>(marker_at(source, marker)));
    source.remove_prefix(marker + kMarkerBytes);
  }
}

}  // namespace sluice::gate
