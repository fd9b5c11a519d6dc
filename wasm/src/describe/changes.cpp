// Diffs, unified or as git writes them, and the log of git, which may have diffs in it.
#include <algorithm>

#include "describe/facts.h"
#include "describe/text_kind.h"
#include "text/ascii.h"

namespace sluice::kinds {

namespace {

enum Form { kDiff, kLog, kShortLog };

/// How many hex digits begin a text.
size_t count_hash(std::string_view text) {
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return !is_hex_digit(c); });
  return static_cast<size_t>(end - text.begin());
}

bool begins_commit(std::string_view line) {
  constexpr size_t kShortest = 7;
  return line.starts_with("commit ") && count_hash(line.substr(7)) >= kShortest;
}

/// A line without what `git log --graph` draws before it.
std::string_view skip_graph(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of("*|/\\_ "), line.size()));
}

/// `a1b2c3d Words`
bool is_short_commit(std::string_view line) {
  const size_t digits = count_hash(line);
  return digits >= 7 && line.size() > digits + 1 && line[digits] == ' ' && line[digits + 1] != ' ';
}

/// Whether all lines are commits: their hashes are short or whole, are no numbers, and stand in no
/// order; other words than a path or what `git blame` has in brackets stand behind some.
bool has_short_commits(const Lines& lines) {
  constexpr size_t kLongestShort = 12;
  constexpr size_t kWhole = 40;
  constexpr size_t kFewOrdered = 8;
  size_t commits = 0, letters = 0, words = 0, rises = 0;
  std::string_view last;
  for (std::string_view line : lines) {
    line = skip_graph(line);
    if (line.empty()) continue;
    const size_t digits = count_hash(line);
    if (!is_short_commit(line) || (digits > kLongestShort && digits != kWhole)) return false;
    if (!last.empty() && (last.size() == kWhole) != (digits == kWhole)) return false;
    const std::string_view rest = line.substr(digits + 1);
    ++commits;
    letters += count_digits(line) < std::min<size_t>(digits, 7) ? 1 : 0;
    const bool path = rest.find(' ') == rest.npos && rest.find_first_of("./") != rest.npos;
    words += rest[0] != '(' && !path ? 1 : 0;
    rises += last < line.substr(0, digits) ? 1 : 0;
    last = line.substr(0, digits);
  }
  return letters > 0 && words > 0 && (commits < kFewOrdered || rises < commits);
}

bool fits(const Sample& sample, Tally& tally) {
  const Lines& lines = sample.filled;
  tally.label = "git log";
  if (begins_commit(lines[0]) && begins_with(lines[1], "|Author:|Merge:|tree |")) {
    tally.form = kLog;
    return true;
  }
  if (has_short_commits(lines)) {
    tally.form = kShortLog;
    return true;
  }
  tally.label = "diff";
  constexpr size_t kIntroduction = 6;
  for (size_t at = 0; at < std::min(lines.size() - 1, kIntroduction); ++at) {
    if (lines[at].starts_with("diff --git ")) return true;
    const bool pair = lines[at].starts_with("--- ") && lines[at + 1].starts_with("+++ ");
    if (pair && at + 2 < lines.size() && lines[at + 2].starts_with("@@ ")) return true;
  }
  return false;
}

void begin_file(Tally& tally, std::string_view name) {
  tally.inside = false;
  ++tally.groups;
  add_named(tally, name);
}

/// The number of lines behind the comma of `-12,30`; 1 where there is none.
int64_t read_span(std::string_view range) {
  range.remove_prefix(std::min(1 + count_digits(range.substr(1)), range.size()));
  if (!range.starts_with(',')) return 1;
  const auto lines = decimal(range.substr(1, count_digits(range.substr(1))), 9);
  return static_cast<int64_t>(lines.value_or(1));
}

/// A name behind `+++ `, without what git and diff add to it.
std::string_view read_name(std::string_view line) {
  line = line.substr(4, line.find('\t') - 4);
  return begins_with(line, "|a/|b/|") ? line.substr(2) : line;
}

void count_change(Tally& tally, bool adds) {
  ++(adds ? tally.added : tally.removed);
  if (tally.groups == 0 || tally.groups != tally.named.size()) return;
  Named& file = tally.named.back();
  ++(adds ? file.added : file.removed);
}

//   diff --git a/x b/x     begins a file, wherever it stands: lines of a hunk begin with a space or
//   --- a/x                a sign. Without that line these two do, where no hunk is open
//   +++ b/x
//   @@ -1,30 +1,31 @@      begins a hunk
void take(Tally& tally, std::string_view line) {
  if (tally.form == kShortLog) {
    tally.things += is_short_commit(skip_graph(line)) ? 1 : 0;
    return;
  }
  if (tally.form == kLog && begins_commit(line)) {
    ++tally.things;
    tally.inside = false;
  } else if (tally.form == kLog && tally.things == 1 && tally.last.empty() &&
             line.starts_with("    ") && !is_empty(line)) {
    tally.last = skip_indent(line);
  } else if (line.starts_with("diff --git ")) {
    const size_t name = line.rfind(" b/");
    begin_file(tally, line.substr(name == line.npos ? 11 : name + 3));
    tally.old_left = -1;  // named
  } else if (line.starts_with("@@ ")) {
    tally.inside = true;
    tally.old_left = read_span(line.substr(3));
  } else if (tally.inside && line.starts_with("--- ") && tally.old_left <= 0) {
    tally.inside = false;
    tally.old_left = 0;
  } else if (!tally.inside && line.starts_with("+++ ") && tally.old_left == 0) {
    begin_file(tally, read_name(line));
  } else if (tally.inside && !line.empty()) {
    if (line[0] == '+' || line[0] == '-') count_change(tally, line[0] == '+');
    if (line[0] == ' ' || line[0] == '-') --tally.old_left;
  }
}

void tell(const Tally& tally, std::string& facts) {
  if (tally.form != kDiff) append_count(facts, tally.things, "commit");
  if (!tally.last.empty()) Quotes(facts, ", newest").add(tally.last);
  if (tally.groups == 0) return;
  append_count(facts, tally.groups, "file");
  facts += ',';
  facts += write_change(tally.added, tally.removed);
  if (tally.things < 2) append_named(facts, ", names", tally);
}

}  // namespace

const Kind kChanges = {fits, take, tell};

}  // namespace sluice::kinds
