// What people write in plain text: Markdown, YAML, TOML, and tables that are drawn.
#include <algorithm>

#include "describe/facts.h"
#include "describe/text_kind.h"
#include "text/ascii.h"

namespace sluice::kinds {

// --- keys --------------------------------------------------------------------------------------

namespace {

/// How many characters of a bare or quoted key begin a line.
size_t count_key(std::string_view line) {
  if (line.empty()) return 0;
  if (line[0] == '"' || line[0] == '\'') {
    const size_t end = line.find(line[0], 1);
    return end == line.npos ? 0 : end + 1;
  }
  size_t end = 0;
  while (end < line.size() && (is_alphanumeric(line[end]) || is_among(line[end], "_./-$@"))) ++end;
  return end;
}

bool is_comment(std::string_view line) {
  return skip_indent(line).starts_with('#');
}

std::string_view read_key(std::string_view line, size_t size) {
  line = line.substr(0, size);
  if (line.size() > 1 && is_among(line[0], "\"'")) return line.substr(1, line.size() - 2);
  return line;
}

void tell_keys(const Tally& tally, std::string& facts) {
  facts += ", " + grouped(tally.things) + (tally.label == "TOML" ? " table" : " key");
  if (tally.things != 1) facts += 's';
  append_named(facts, "", tally);
}

/// The size of the key with which a line begins a member, or 0.
size_t count_member(std::string_view line) {
  const size_t key = count_key(line);
  const bool colon = key > 0 && line.substr(key, 1) == ":";
  return colon && (key + 1 == line.size() || line[key + 1] == ' ') ? key : 0;
}

// --- Markdown ----------------------------------------------------------------------------------

/// The level of an ATX heading (CommonMark §4.2), or 0.
size_t read_level(std::string_view line) {
  const size_t level = std::min(line.find_first_not_of('#'), line.size());
  return level <= 6 && level < line.size() && line[level] == ' ' ? level : 0;
}

bool is_fence(std::string_view line) {
  return begins_with(skip_indent(line), "|```|~~~|");
}

/// `0.5 -1 2e3`, as rows of measurements are.
bool is_numeric(std::string_view line) {
  return line.find_first_not_of("0123456789.+-eE,; \t") == line.npos;
}

/// A heading stands alone: comments of programs follow each other, or what they are about.
bool fits_markdown(const Sample& sample, Tally& tally) {
  const Lines& lines = sample.lines;
  size_t alone = 0;
  size_t crowded = 0;
  bool fenced = false;
  bool first = false;
  bool front = lines[0] == "---";
  bool begun = false;
  size_t members = 0;
  size_t numbers = 0;
  for (size_t at = 0; at < lines.size(); ++at) {
    if (front) {
      front = at == 0 || lines[at] != "---";
      continue;
    }
    if (is_fence(lines[at])) fenced = !fenced;
    if (fenced || is_empty(lines[at])) continue;
    const size_t level = read_level(lines[at]);
    const bool after = at == 0 || is_empty(lines[at - 1]) || !begun;
    const bool before = at + 1 < lines.size() && lines[at + 1].starts_with('#');
    if (level > 0) ++(after && !before ? alone : crowded);
    members += count_member(lines[at]) > 0 ? 1 : 0;
    numbers += is_numeric(lines[at]) ? 1 : 0;
    if (!begun) first = level > 0 && level < 3;
    begun = true;
  }
  tally.label = "Markdown";
  // Settings or measurements below a comment are none.
  if (members * 2 > sample.filled.size() || numbers * 2 > sample.filled.size()) return false;
  return alone > crowded && (first || alone > 1);
}

void take_markdown(Tally& tally, std::string_view line) {
  if (is_fence(line)) tally.inside = !tally.inside;
  const size_t level = tally.inside ? 0 : read_level(line);
  if (level == 0) return;
  ++tally.things;
  add_named(tally, line);
}

void tell_markdown(const Tally& tally, std::string& facts) {
  append_count(facts, tally.things, "heading");
  if (tally.named.empty()) return;
  const std::string_view title = tally.named[0].text;
  Quotes(facts, ", title").add(title.substr(read_level(title)));
}

// --- YAML --------------------------------------------------------------------------------------

bool is_item(std::string_view line) {
  return line == "-" || line.starts_with("- ");
}

/// Members and items, and something inside of them: what has no depth may be anything.
bool fits_yaml(const Sample& sample, Tally& tally) {
  size_t nested = 0, aligned = 0, wrong = 0, members = 0;
  bool opens = false;
  for (const std::string_view line : sample.filled) {
    if (is_comment(line) || line == "---") continue;
    const std::string_view bare = skip_indent(line);
    const bool deep = bare.size() < line.size();
    const size_t key =
        count_member(is_item(bare) ? bare.substr(std::min<size_t>(2, bare.size())) : bare);
    nested += opens && (deep || is_item(bare)) ? 1 : 0;
    aligned += !deep && key > 0 && bare.substr(key + 1).starts_with("  ") ? 1 : 0;
    members += key > 0 ? 1 : 0;
    wrong += key == 0 && !deep && !is_item(bare) ? 1 : 0;
    opens = key > 0 && bare.ends_with(':');
  }
  tally.label = "YAML";
  return nested > 0 && members > 1 && (members * 3 > sample.filled.size() || wrong == 0) &&
         aligned < 3 && is_share(sample.filled.size() - wrong, sample.filled.size(), 98);
}

// Documents, or else items where there is no key at the margin.
void take_yaml(Tally& tally, std::string_view line) {
  tally.groups += line == "---" && tally.things + tally.added > 0 ? 1 : 0;
  tally.added += is_item(line) ? 1 : 0;
  const size_t key = count_member(line);
  if (key == 0) return;
  ++tally.things;
  add_named(tally, read_key(line, key));
}

void tell_yaml(const Tally& tally, std::string& facts) {
  if (tally.groups > 0) return append_count(facts, tally.groups + 1, "document");
  if (tally.things == 0) return append_count(facts, tally.added, "item");
  tell_keys(tally, facts);
}

// --- TOML --------------------------------------------------------------------------------------

std::string_view trim_end(std::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t") + 1);
}

bool is_table(std::string_view line) {
  line = trim_end(line.substr(0, line.find(" #")));
  return line.size() > 2 && line[0] == '[' && line.ends_with(']') && line[1] != ' ' &&
         line.find_first_of(",{:") == line.npos;
}

/// `key = "value"`, with a value as TOML has them and other settings do not.
bool is_setting(std::string_view line) {
  const size_t key = count_key(line);
  if (key == 0) return false;
  line = skip_indent(line.substr(key));
  if (!line.starts_with('=')) return false;
  line = skip_indent(line.substr(1));
  return !line.empty() && (is_digit(line[0]) || is_among(line[0], "\"'[{+-") ||
                           begins_with(line, "|true|false|inf|nan|"));
}

bool fits_toml(const Sample& sample, Tally& tally) {
  size_t tables = 0, settings = 0, wrong = 0, all = 0;
  bool open = false;
  for (const std::string_view line : sample.filled) {
    if (is_comment(line)) continue;
    ++all;
    const std::string_view bare = trim_end(skip_indent(line));
    if (open) {
      open = !bare.starts_with(']') && !bare.ends_with("\"\"\"") && !bare.ends_with("'''");
    } else if (is_table(line)) {
      ++tables;
    } else if (is_setting(bare)) {
      ++settings;
      open = bare.ends_with('[') || bare.ends_with("\"\"\"") || bare.ends_with("'''");
    } else {
      ++wrong;
    }
  }
  tally.label = "TOML";
  return settings > 1 && tables > 0 && is_share(all - wrong, all, 95);
}

void take_toml(Tally& tally, std::string_view line) {
  if (!is_table(line)) return;
  ++tally.things;
  line.remove_prefix(line.find_first_not_of('['));
  line = line.substr(0, line.find(']'));
  // Of a list each item has the same.
  if (line != tally.last) add_named(tally, line);
  tally.last = line;
}

// --- tables that are drawn
// -------------------------------------------------------------------------

/// Signs of the block of box drawing, U+2500 to U+257F, begin with these bytes.
constexpr std::string_view kBox[] = {"\xe2\x94", "\xe2\x95"};

bool is_box(std::string_view text) {
  return text.starts_with(kBox[0]) || text.starts_with(kBox[1]);
}

bool has_border(std::string_view line) {
  constexpr std::string_view kBorders[] = {"|", "│", "┃", "║"};
  return std::any_of(std::begin(kBorders), std::end(kBorders),
                     [line](std::string_view border) { return line.find(border) != line.npos; });
}

/// `|---|:--|`, `----+----`, `├───┼───┤`
bool is_rule(std::string_view line) {
  bool dashes = false;
  bool joints = false;
  for (size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    if (is_box(rest)) {
      const bool dash = begins_with(rest, "|─|━|═|");
      dashes = dashes || dash;
      joints = joints || !dash;
      at += 3;
      continue;
    }
    if (!is_among(line[at], "-+|:= \t")) return false;
    dashes = dashes || begins_with(rest, "|--|==|-:|:-|");
    joints = joints || is_among(line[at], "+|");
    ++at;
  }
  return dashes && joints;
}

bool begins_table(std::string_view above, std::string_view line) {
  return is_rule(line) && has_border(above) && !is_rule(above);
}

bool fits_drawn(const Sample& sample, Tally& tally) {
  constexpr size_t kMostAbove = 8;
  const Lines& lines = sample.filled;
  for (size_t at = 1; at + 1 < std::min(lines.size(), kMostAbove); ++at) {
    if (!begins_table(lines[at - 1], lines[at]) || !has_border(lines[at + 1])) continue;
    const bool markdown = lines[at].find('+') == lines[at].npos &&
                          lines[at].find(kBox[0]) == lines[at].npos &&
                          lines[at].find(kBox[1]) == lines[at].npos;
    tally.label = markdown ? "Markdown table" : "table drawn in text";
    return true;
  }
  return false;
}

enum DrawnForm { kPlain, kUnsure };

void name_columns(Tally& tally, std::string_view header) {
  while (!header.empty()) {
    size_t end = 0;
    while (end < header.size() && header[end] != '|' && !is_box(header.substr(end))) ++end;
    const std::string_view name = trim_end(skip_indent(header.substr(0, end)));
    if (!name.empty()) add_named(tally, name);
    header.remove_prefix(
        std::min(end + (end < header.size() && header[end] != '|' ? 3 : 1), header.size()));
  }
}

// Rows of the table at hand are counted in `added`, rules below its first in `removed`. Where rules
// stand between rows, or a row takes several lines, lines are no rows.
void take_drawn(Tally& tally, std::string_view line) {
  if (tally.inside && is_rule(line)) {
    if (++tally.removed > 1) tally.form = kUnsure;
  } else if (tally.inside && has_border(line)) {
    if (line.find("+|") != line.npos || line.ends_with('+')) tally.form = kUnsure;
    tally.things = std::max(tally.things, ++tally.added);
  } else {
    tally.inside = begins_table(tally.last, line);
    if (tally.inside && ++tally.groups == 1) name_columns(tally, tally.last);
    tally.added = tally.removed = 0;
  }
  tally.last = line;
}

void tell_drawn(const Tally& tally, std::string& facts) {
  if (tally.form == kPlain) append_count(facts, tally.things, "row");
  if (tally.groups > 1) {
    facts += " in the longest of " + grouped(tally.groups) + " tables";
    return;
  }
  append_named(facts, ", columns", tally);
}

}  // namespace

const Kind kDrawn = {fits_drawn, take_drawn, tell_drawn};
const Kind kMarkdown = {fits_markdown, take_markdown, tell_markdown};
const Kind kYaml = {fits_yaml, take_yaml, tell_yaml};
const Kind kToml = {fits_toml, take_toml, tell_keys};

}  // namespace sluice::kinds
