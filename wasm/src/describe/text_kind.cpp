#include "describe/text_kind.h"

#include <algorithm>

#include "describe/facts.h"
#include "sluice/describe.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {

namespace kinds {

std::string_view skip_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

bool is_empty(std::string_view line) {
  return skip_indent(line).empty();
}

size_t count_digits(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end;
}

bool begins_with(std::string_view text, std::string_view words) {
  while (words.size() > 1) {
    const std::string_view word = words.substr(1, words.find('|', 1) - 1);
    if (text.starts_with(word)) return true;
    words.remove_prefix(word.size() + 1);
  }
  return false;
}

void add_named(Tally& tally, std::string_view text) {
  if (tally.named.size() < kMostNamed) tally.named.push_back({std::string(text), 0, 0});
}

void add_group(Tally& tally, std::string_view name) {
  if (name == tally.last) return;
  tally.last = name;
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char character : name) {
    hash = (hash ^ static_cast<uint8_t>(character)) * 0x100000001b3;
  }
  const auto place = std::lower_bound(tally.met.begin(), tally.met.end(), hash);
  if (tally.met.size() == kMostMet || (place != tally.met.end() && *place == hash)) return;
  tally.met.insert(place, hash);
  ++tally.groups;
  add_named(tally, name);
}

void append_files(std::string& facts, const Tally& tally) {
  if (tally.groups == 0) return;
  facts += tally.groups == kMostMet ? " in at least " : " in ";
  facts += grouped(tally.groups);
  append_named(facts, tally.groups == 1 ? " file" : " files", tally);
}

std::string write_change(uint64_t added, uint64_t removed) {
  return " +" + grouped(added) + " −" + grouped(removed);
}

void append_named(std::string& facts, std::string_view intro, const Tally& tally) {
  Quotes quotes(facts, intro);
  for (const Named& named : tally.named) {
    if (!quotes.add(named.text)) return;
    if (named.added + named.removed > 0) facts += write_change(named.added, named.removed);
  }
}

namespace {

// The strictest come first.
constexpr const Kind* kKinds[] = {&kChanges, &kTrace, &kMessages, &kHits,     &kFiles, &kProcesses,
                                  &kSource,  &kToml,  &kYaml,     &kMarkdown, &kDrawn};

constexpr size_t kLongestLine = 400;

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.substr(0, kLongestLine);
}

}  // namespace

}  // namespace kinds

TextKind::TextKind(std::string_view head, bool whole) {
  constexpr size_t kFewest = 3;
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  kinds::Sample sample;
  while (!head.empty()) {
    const size_t end = head.find('\n');
    if (end == head.npos && !whole) break;
    const std::string_view line = kinds::without_return(head.substr(0, end));
    sample.lines.push_back(line);
    if (!kinds::is_empty(line)) sample.filled.push_back(line);
    head.remove_prefix(end == head.npos ? head.size() : end + 1);
  }
  if (sample.filled.size() < kFewest) return;
  for (const kinds::Kind* kind : kinds::kKinds) {
    tally_ = {};
    if (!kind->fits(sample, tally_)) continue;
    kind_ = kind;
    return;
  }
}

void TextKind::push(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view piece = text.substr(0, end);
    if (end == text.npos || !line_.empty()) {
      line_ += piece.substr(
          0, kinds::kLongestLine + 1 - std::min(line_.size(), kinds::kLongestLine + 1));
    }
    if (end == text.npos) return;
    ++tally_.lines;
    kind_->take(tally_, kinds::without_return(line_.empty() ? piece : line_));
    line_.clear();
    text.remove_prefix(end + 1);
  }
}

kinds::Tally TextKind::finished() const {
  kinds::Tally tally = tally_;
  if (!line_.empty()) kind_->take(tally, kinds::without_return(line_));
  return tally;
}

std::string TextKind::facts() const {
  std::string facts;
  kind_->tell(finished(), facts);
  return facts;
}

// Of a diff with few files the description names them all, and the first lines tell more; so they
// do of a page with hardly a heading.
std::string TextKind::headings() const {
  constexpr size_t kFewFiles = 5;
  constexpr size_t kFewHeadings = 2;
  const bool changes = kind_ == &kinds::kChanges;
  const kinds::Tally tally = finished();
  std::string lines;
  const bool few = changes ? tally.groups <= kFewFiles : tally.things <= kFewHeadings;
  if (few || (!changes && kind_ != &kinds::kMarkdown)) return lines;
  for (const kinds::Named& named : tally.named) {
    lines += named.text;
    if (changes) lines += kinds::write_change(named.added, named.removed);
    lines += '\n';
  }
  return lines;
}

std::string PlainText::push(std::string_view piece) {
  constexpr size_t kLongestSequence = 4'096;
  held_ += piece;
  const std::string text = std::move(held_);
  held_.clear();
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\x1b', at), text.size());
    out.append(text, at, end - at);
    if (end == text.size()) break;
    const size_t behind = end + std::max<size_t>(ansi_length(text, end), 1);
    if (behind == text.size() && behind - end < kLongestSequence) {
      held_ = text.substr(end);
      break;
    }
    at = behind - end < kLongestSequence ? behind : end + 1;
  }
  return out;
}

}  // namespace sluice
