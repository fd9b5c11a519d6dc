// A text shown by a few of its lines: those that tell most, from bounded looks at both of its ends.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "describe/formats.h"
#include "describe/text_kind.h"
#include "describe/wide_text.h"
#include "sluice/describe.h"
#include "sluice/segment.h"
#include "text/ascii.h"
#include "text/block.h"
#include "text/utf8.h"

namespace sluice {

namespace {

constexpr size_t kMostLines = 16;
constexpr size_t kMostRows = 6;
constexpr size_t kLongestValue = 100;
/// Bytes that surely fill a preview.
constexpr size_t kEnough = 4 * kPreviewChars;
/// What a reference counts as where its marker stands.
constexpr size_t kReferenceRoom = 96;
constexpr std::string_view kCut = "…";

/// The lines of a text, and those of the same in an error.
struct Excerpts {
  std::string usual;
  std::string of_error;
  bool whole = false;  ///< all of it is shown
};

// --- one line, fit to be shown ---------------------------------------------------------------

struct Shown {
  std::string text;
  size_t count = 0;      ///< code points, references as long as they become
  bool cut = false;      ///< there was more of it
  bool encoded = false;  ///< nothing but an encoding stood there
};

/// Whether a character may stand in an encoding.
bool in_word(char32_t value) {
  return value < 0x80 &&
         (is_alphanumeric(static_cast<char>(value)) || is_among(static_cast<char>(value), "+/=-_"));
}

/// What kinds of characters a word has, and how often one kind follows another.
struct Mix {
  bool upper = false;
  bool lower = false;
  bool digit = false;
  bool beyond_hex = false;
  size_t changes = 0;

  explicit Mix(std::string_view word) {
    char last = '\0';
    for (const char c : word) {
      const char kind = is_upper(c) ? 'A' : is_lower(c) ? 'a' : is_digit(c) ? '0' : '/';
      upper = upper || kind == 'A';
      lower = lower || kind == 'a';
      digit = digit || kind == '0';
      beyond_hex = beyond_hex || !is_hex_digit(c);
      changes += kind != last ? 1 : 0;
      last = kind;
    }
  }
};

/// Whether a word is base64, or hex longer than a hash. Names and paths are long too, but seldom
/// go from one kind of character to another.
bool is_encoding(std::string_view word) {
  constexpr size_t kLongestName = 40;
  constexpr size_t kLongestHash = 64;
  if (word.size() <= kLongestName) return false;
  const Mix mix(word);
  if (!mix.beyond_hex) return word.size() > kLongestHash && mix.digit && (mix.upper || mix.lower);
  return mix.upper && mix.lower && mix.digit && mix.changes * 5 >= word.size() * 2;
}

/// An array of many numbers as the first ones, which tell as much, and their count; and how long it
/// is in the text that it begins, 0 where that begins with none.
std::pair<std::string, size_t> write_series(std::string_view text) {
  constexpr uint64_t kShown = 3;
  constexpr uint64_t kFew = 16;
  if (!text.starts_with('[')) return {};
  uint64_t count = 1;
  size_t at = 1;
  std::string out = "[";
  for (; at < text.size() && is_among(text[at], "0123456789.+-eE, \n"); ++at) {
    if (count <= kShown && text[at] > ' ') out += text[at];
    count += text[at] == ',' ? 1 : 0;
  }
  const bool ends = at < text.size();
  if (count <= kFew || (ends && text[at] != ']')) return {};
  out += kCut;
  if (ends) out += ' ' + grouped(count) + " numbers";
  return {out, at};
}

/// Takes away a backslash that escapes nothing any more, and the first half of an escaped
/// surrogate pair.
void trim_escape(std::string& text, size_t& count) {
  size_t slashes = 0;
  while (slashes < text.size() && text[text.size() - 1 - slashes] == '\\') ++slashes;
  if (slashes % 2 == 1) {
    text.pop_back();
    --count;
  }
  constexpr size_t kEscape = 6;
  if (text.size() < kEscape) return;
  const std::string_view last = std::string_view(text).substr(text.size() - kEscape);
  if (lowered(last.substr(0, 3)) == "\\ud" && is_among(to_lower(last[3]), "89ab")) {
    text.resize(text.size() - kEscape);
    count -= kEscape;
  }
}

/// A line while it becomes fit to be shown.
class Line {
 public:
  /// With `exact` nothing is taken for an encoding.
  explicit Line(size_t limit, bool exact = false) : limit_(limit), exact_(exact) {}

  void read(std::string_view source) {
    for (size_t at = 0; at < source.size() && !cut_;) {
      if (source[at] == kMarkerOpen && marker_at(source, at) >= 0) {
        refer(source.substr(at, kMarkerBytes));
        at += kMarkerBytes;
      } else if (const size_t sequence = ansi_length(source, at); sequence > 0) {
        at += sequence;
      } else if (const auto [series, size] = write_series(source.substr(at)); size > 0) {
        at += size;
        read(series);
      } else {
        const CodePoint point = read_code_point(source, at);
        at += point.length;
        take(point.value);
      }
    }
  }

  Shown finish() && {
    if (cut_) {
      cut();
    } else {
      end_word();
    }
    shown_.cut = cut_;
    shown_.encoded = shown_.text == kCut && !cut_;
    return std::move(shown_);
  }

 private:
  void take(char32_t value) {
    const bool tab = value == '\t';
    if (!tab && is_space(value)) value = ' ';
    if ((!tab && is_control(value)) || is_invisible(value)) return;
    next_in_word_ = in_word(value);
    if (!next_in_word_) end_word();
    if (shown_.count >= limit_) {
      cut_ = true;
      return;
    }
    watch_voice(value);
    append_code_point(shown_.text, value);
    ++shown_.count;
    if (!next_in_word_) word_ = shown_.text.size();
  }

  void refer(std::string_view marker) {
    next_in_word_ = false;
    end_word();
    cut_ = limit_ - shown_.count < kReferenceRoom;
    if (cut_) return;
    shown_.text += marker;
    shown_.count += kReferenceRoom;
    word_ = shown_.text.size();
  }

  /// A file must not speak like us, whatever case, width or spaces it writes our name with.
  void watch_voice(char32_t value) {
    constexpr std::string_view kVoice = "[sluice]";
    if (value >= 0xff01 && value <= 0xff5e) value -= 0xfee0;
    if (voice_ > 0 && value == ' ') return;
    const bool next = value < 0x80 && to_lower(static_cast<char>(value)) == kVoice[voice_];
    voice_ = next ? voice_ + 1 : value == '[' ? 1 : 0;
    if (voice_ == 1) bracket_ = shown_.text.size();
    if (voice_ < kVoice.size()) return;
    const size_t length = read_code_point(shown_.text, bracket_).length;
    shown_.text.replace(bracket_, length, "\u2772");
    word_ = shown_.text.size();
    voice_ = 0;
  }

  void end_word() {
    const std::string_view word = std::string_view(shown_.text).substr(word_);
    if (!exact_ && is_encoding(word)) {
      shown_.count -= word.size() - 1;
      shown_.text.replace(word_, word.size(), kCut);
    }
    word_ = shown_.text.size();
  }

  // Ends behind a whole word, and before the backslash of an escape.
  void cut() {
    size_t begin = shown_.text.size();
    while (begin > 0 && in_word(static_cast<uint8_t>(shown_.text[begin - 1]))) --begin;
    const Mix mix(std::string_view(shown_.text).substr(begin));
    const bool drops = begin > 0 || (mix.digit && (mix.upper || mix.lower));
    // A whole word goes too where there is no room for the sign behind it.
    if (drops && (next_in_word_ || shown_.count >= limit_)) {
      shown_.count -= shown_.text.size() - begin;
      shown_.text.resize(begin);
    }
    trim_escape(shown_.text, shown_.count);
    if (shown_.count >= limit_) drop_last();
    trim_escape(shown_.text, shown_.count);
    while (shown_.text.ends_with(' ')) {
      shown_.text.pop_back();
      --shown_.count;
    }
    if (limit_ == 0) return;
    shown_.text += kCut;
    ++shown_.count;
  }

  void drop_last() {
    std::string& text = shown_.text;
    if (text.empty()) return;
    if (text.ends_with(kMarkerClose)) {
      text.resize(text.size() - kMarkerBytes);
      shown_.count -= kReferenceRoom;
      return;
    }
    while (is_continuation(text.back())) text.pop_back();
    text.pop_back();
    --shown_.count;
  }

  const size_t limit_;
  const bool exact_;
  Shown shown_;
  size_t word_ = 0;     // where the word that ends the text begins
  size_t voice_ = 0;    // characters of our name that end the text
  size_t bracket_ = 0;  // where they begin
  bool next_in_word_ = false;
  bool cut_ = false;
};

Shown show_line(std::string_view source, size_t limit) {
  Line line(limit);
  line.read(source);
  return std::move(line).finish();
}

// --- several lines ---------------------------------------------------------------------------

/// Lines below each other, as many lines and code points as there is room for.
class Page {
 public:
  explicit Page(size_t most_lines = kMostLines, size_t most_chars = kPreviewChars)
      : most_lines_(most_lines), most_chars_(most_chars) {}

  bool empty() const { return lines_ == 0; }

  /// Adds a line for which there is room. Lines of an encoding become one sign.
  void add(const Shown& line) {
    if (line.encoded && encoded_) return;
    encoded_ = line.encoded;
    if (lines_++ > 0) text_ += '\n';
    count_ += line.count + 1;
    text_ += line.text;
  }

  /// Adds as much of a line as there is room for. False if that is less than all of it and less
  /// than `fewest` code points.
  bool add(std::string_view source, size_t fewest) {
    const size_t room = most_chars_ - std::min(count_, most_chars_);
    if (room == 0 || lines_ >= most_lines_) return false;
    // The last line of an encoding may be as short as a name.
    if (encoded_ && std::all_of(source.begin(), source.end(), in_word)) return true;
    const Shown line = show_line(source, room);
    if (line.cut && room < fewest) return false;
    add(line);
    return !line.cut;
  }

  std::string finish() && {
    while (text_.ends_with('\n')) text_.pop_back();
    return std::move(text_);
  }

 private:
  size_t most_lines_;
  size_t most_chars_;
  std::string text_;
  size_t count_ = 0;  // with the end of each line
  size_t lines_ = 0;
  bool encoded_ = false;
};

/// Takes the line that begins `text`, and moves behind its end.
std::string_view take_line(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + (text.substr(end, 2) == "\r\n" ? 2 : 1)));
  return line;
}

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n\f\v") == line.npos;
}

using Lines = std::vector<std::string_view>;

void add_lines(Lines& lines, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!is_blank(line)) lines.push_back(line);
  }
}

/// The first lines of a text. Of the last one less than `fewest` code points are no use. Leaves in
/// `text` what was not read.
std::string first_lines(std::string_view& text, size_t fewest, Page page = Page()) {
  bool gap = false;
  while (!text.empty()) {
    std::string_view rest = text;
    const std::string_view line = take_line(rest);
    if (is_blank(line)) {
      gap = !page.empty();
      text = rest;
      continue;
    }
    if (gap) page.add(Shown{});
    gap = false;
    if (!page.add(line, fewest)) break;
    text = rest;
  }
  return std::move(page).finish();
}

/// The end of a long line, from a word on.
Shown show_end(std::string_view line) {
  constexpr size_t kLongest = 120;
  if (line.size() <= kLongest) return show_line(line, kLongest);
  const size_t at = line.find_first_of(" \t,;>", line.size() - kLongest);
  if (at == line.npos) return {};
  Shown shown = show_line(line.substr(at + 1), kLongest);
  shown.text.insert(0, kCut);
  ++shown.count;
  return shown;
}

/// The last lines of a text. `lines` are those at its end, the first of which may be cut.
struct Ending {
  Ending(const Lines& lines, size_t most_lines) {
    constexpr size_t kMostChars = 300;
    constexpr size_t kLongest = 160;
    std::vector<Shown> shown;
    for (size_t at = lines.size(); at > 0 && shown.size() < most_lines; --at) {
      Shown line = show_line(lines[at - 1], shown.empty() ? kMostChars - 1 : kLongest);
      if (line.encoded) break;
      const bool long_line = line.cut || at == 1;
      if (long_line && !shown.empty()) break;
      if (long_line) line = show_end(lines[at - 1]);
      if (line.count == 0 || count + line.count + 1 > kMostChars) break;
      count += line.count + 1;
      shown.push_back(std::move(line));
      if (long_line) break;
    }
    Page page;
    for (size_t at = shown.size(); at > 0; --at) page.add(shown[at - 1]);
    text = std::move(page).finish();
    height = shown.size();
  }

  std::string text;
  size_t count = 0;
  size_t height = 0;
};

/// The first lines of a text and its last ones, which stand at the end of `tail`. `whole`: the text
/// is all there is, and shown alone where it fits.
std::string both_ends(std::string_view text, std::string_view tail, size_t fewest, bool whole,
                      size_t most_lines = kMostLines) {
  constexpr size_t kMostLast = 4;
  std::string_view rest = text;
  std::string lines = first_lines(rest, fewest, Page(most_lines));
  if (whole && rest.empty() && text.size() < kDescribeHead) return lines;
  Lines last;
  add_lines(last, tail);
  const bool rows = most_lines == kMostRows;
  const Ending ending(last, kMostLast);
  if (ending.text.empty()) return lines;
  const size_t room = kPreviewChars - ending.count - kCut.size() - 2;
  rest = text;
  lines = first_lines(rest, fewest, Page(most_lines - (rows ? 0 : ending.height), room));
  if (!lines.ends_with(kCut)) lines.append("\n").append(kCut);
  return lines.append("\n").append(ending.text);
}

// --- JSON ------------------------------------------------------------------------------------

/// JSON without the white space between its tokens, a line for each row, long strings cut.
class Compact {
 public:
  std::string write(std::string_view json) {
    for (size_t at = 0; at < json.size() && out_.size() < kEnough;) {
      at = json[at] == '"' ? string(json, at) : token(json, at);
    }
    return std::move(out_);
  }

 private:
  size_t string(std::string_view json, size_t at) {
    size_t end = at + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    end = std::min(end, json.size());
    out_ += '"';
    out_ += show_line(json.substr(at + 1, end - at - 1), kLongestValue).text;
    if (end < json.size()) out_ += '"';
    return end + 1;
  }

  size_t token(std::string_view json, size_t at) {
    const char c = json[at];
    if (is_white(c)) return at + 1;
    if (const auto [series, size] = write_series(json.substr(at)); size > 0) {
      open_ += '[';
      out_ += series;
      return at + size;
    }
    if (c == '{' || c == '[') {
      if (rows_ == 0 && open_.ends_with('[')) rows_ = open_.size();
      open_ += c;
    } else if ((c == '}' || c == ']') && !open_.empty()) {
      open_.pop_back();
    }
    out_ += c;
    if (c == ',' && rows_ > 0 && open_.size() == rows_) out_ += '\n';
    return at + 1;
  }

  std::string out_;
  std::string open_;  // brackets
  size_t rows_ = 0;   // how many of them are around a row
};

/// The end of JSON, white space between tokens as one space. Empty where no word begins in it.
Shown show_json_end(std::string_view tail) {
  constexpr size_t kLooked = 512;
  std::string line;
  for (const char c : tail.substr(tail.size() - std::min(tail.size(), kLooked))) {
    if (!is_white(c)) line += c;
    if (is_white(c) && !line.ends_with(' ')) line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return show_end(line);
}

/// The first rows of JSON, and how it ends.
Excerpts lines_of_json(std::string_view head, std::string_view tail) {
  const std::string compact = Compact().write(PlainText().push(head));
  std::string_view rest = compact;
  std::string rows = first_lines(rest, kLongestValue, Page(kMostRows));
  if (rest.empty() && head.size() < kDescribeHead && compact.find(kCut) == compact.npos) {
    return {rows, rows, true};
  }
  const Shown end = show_json_end(tail);
  if (end.count == 0 || end.encoded) return {rows, rows, false};
  rest = compact;
  rows = first_lines(rest, kLongestValue, Page(kMostRows, kPreviewChars - end.count - 1));
  rows.append("\n").append(end.text);
  return {rows, rows, false};
}

// --- logs and errors -------------------------------------------------------------------------

/// Whether a list of words, each between bars, has this one.
bool is_one_of(std::string_view word, std::string_view list) {
  return !word.empty() && list.find('|' + std::string(word) + '|') != list.npos;
}

/// The characters that begin a text and are letters or among `others`.
std::string_view first_word(std::string_view text, std::string_view others = {}) {
  size_t end = 0;
  while (end < text.size() && (is_letter(text[end]) || is_among(text[end], others))) ++end;
  return text.substr(0, end);
}

/// What stands within lines that say what went wrong.
constexpr std::string_view kSigns[] = {
    " ERROR ",
    "[ERROR]",
    " ERROR:",
    " FATAL ",
    "[FATAL]",
    " CRITICAL ",
    "[error]",
    ": error:",
    ": error ",
    "error TS",
    " fatal error",
    "level=error",
    "\"level\":\"error\"",
    "panicked at",
    "*** [",
    "Caused by:",
    "Exception in thread",
    "Uncaught ",
    "npm ERR!",
};

/// Those that stand anywhere in a text: few, so that few are looked for in each line.
std::vector<std::string_view> signs_in(std::string_view text) {
  std::vector<std::string_view> found;
  std::copy_if(std::begin(kSigns), std::end(kSigns), std::back_inserter(found),
               [text](std::string_view sign) { return contains(text, sign); });
  return found;
}

/// Whether a line says what went wrong. `signs` are those of its text.
bool tells(std::string_view line, const std::vector<std::string_view>& signs) {
  for (const std::string_view sign : signs) {
    if (line.find(sign) != line.npos) return true;
  }
  line = without_indent(line);
  if (line.starts_with("E ")) line = without_indent(line.substr(2));  // pytest
  const std::string_view word = first_word(line);
  if (is_one_of(lowered(word), "|error|fatal|panic|failed|fail|critical|exception|")) {
    const char next = word.size() < line.size() ? line[word.size()] : ' ';
    if (is_upper(word.back()) || is_among(next, ":[!")) return true;
  }
  // `ValueError: …`, `java.io.IOException: …`, `KeyError`: what programs call what went wrong.
  const std::string_view name = first_word(line, "0123456789._$");
  const bool names = name.size() == line.size() || line[name.size()] == ':';
  return names && (name.ends_with("Error") || name.ends_with("Exception"));
}

/// Whether a line begins as programs log: with a time or a level.
bool is_logged(std::string_view line) {
  constexpr size_t kPrefix = 40;
  const std::string_view prefix = line.substr(0, kPrefix);
  for (size_t at = 2; at + 2 < prefix.size(); ++at) {
    if (prefix[at] == ':' && is_digit(prefix[at - 1]) && is_digit(prefix[at - 2]) &&
        is_digit(prefix[at + 1]) && is_digit(prefix[at + 2])) {
      return true;
    }
  }
  return is_one_of(lowered(first_word(line.substr(line.starts_with('[') ? 1 : 0))),
                   "|debug|info|warn|warning|notice|error|fatal|trace|");
}

bool is_frame(std::string_view line) {
  line = without_indent(line);
  return line.starts_with("at ") || line.starts_with("... ");
}

/// Lines of both ends of a text without the empty ones, but for one that stands for what lies
/// between them.
Lines lines_of_ends(std::string_view head, std::string_view tail) {
  constexpr size_t kFront = 2'048;
  Lines lines;
  const bool whole = head.size() < kDescribeHead;
  if (!whole || head.size() > kFront + kExcerptTail) {
    if (whole) tail = head;
    head = head.substr(0, kFront);
    add_lines(lines, head.substr(0, head.find_last_of("\r\n") + 1));
    lines.push_back({});
    tail = tail.substr(tail.size() - std::min(tail.size(), kExcerptTail));
    head = tail.substr(std::min(tail.find_first_of("\r\n"), tail.size()));
  }
  add_lines(lines, head);
  return lines;
}

/// Lines that are chosen one by one until there is no room, and shown in their order.
class Choice {
 public:
  explicit Choice(const Lines& lines) : lines_(lines), chosen_(lines.size(), '\0') {}

  size_t left() const { return left_; }

  /// False if there is no room for the line.
  bool take(size_t index) {
    constexpr size_t kGap = 3;  // two line ends and the sign between them
    if (lines_[index].empty() || chosen_[index] != '\0') return true;
    const size_t room = shown(index).count + kGap;
    if (room > left_ || most_ == 0) return false;
    left_ -= room;
    --most_;
    chosen_[index] = 1;
    return true;
  }

  std::string finish() const {
    Page page;
    bool gap = false;
    for (size_t at = 0; at < lines_.size(); ++at) {
      if (chosen_[at] == '\0') {
        gap = !page.empty();
        continue;
      }
      if (gap) page.add(Shown{std::string(kCut), 1, false, true});
      gap = false;
      page.add(shown(at));
    }
    return std::move(page).finish();
  }

 private:
  Shown shown(size_t index) const {
    constexpr size_t kLongest = 160;
    return show_line(lines_[index], kLongest);
  }

  const Lines& lines_;
  std::string chosen_;  // a flag for each line
  size_t left_ = kPreviewChars;
  size_t most_ = 10;
};

/// Whether it is the output of a program: most lines are logged, or the first or one of the last
/// says what went wrong.
bool is_log(const Lines& lines, const std::vector<std::string_view>& signs) {
  constexpr size_t kSample = 20;
  constexpr size_t kEnd = 2'048;
  const std::string_view first = lines.front();
  if (first.starts_with('#') || first.starts_with("//") || first.starts_with("/*")) return false;
  if (tells(first, signs)) return true;
  const size_t sample = std::min(lines.size(), kSample);
  size_t logged = 0;
  for (size_t at = 0; at < sample; ++at) logged += is_logged(lines[at]) ? 1 : 0;
  if (logged * 2 > sample) return true;
  size_t seen = 0;
  for (size_t at = lines.size(); at > 0 && seen < kEnd; --at) {
    if (tells(lines[at - 1], signs)) return true;
    seen += lines[at - 1].size();
  }
  return false;
}

/// The lines that say what went wrong, and some of both ends.
std::string telling_lines(const Lines& lines, const std::vector<std::string_view>& signs) {
  constexpr size_t kForBeginning = 150;
  Choice choice(lines);
  std::string telling;  // a flag for each line
  for (const std::string_view line : lines) telling += tells(line, signs) ? 1 : '\0';
  const size_t end = lines.size() - 1;
  const size_t cause = telling.rfind(1);
  if (cause != telling.npos) {
    // A cause stands last, what else went wrong because of it first; the frame below says where.
    choice.take(cause);
    if (cause < end && is_frame(lines[cause + 1])) choice.take(cause + 1);
    choice.take(telling.find(1));
  }
  choice.take(end);
  choice.take(0);
  for (size_t at = cause, more = 3; at != telling.npos && at > 0 && more > 0; --more) {
    at = telling.rfind(1, at - 1);
    if (at != telling.npos) choice.take(at);
  }
  for (size_t at = end; at > 0 && choice.left() > kForBeginning; --at) {
    if (lines[at].empty() || (!is_frame(lines[at]) && !choice.take(at))) break;
  }
  for (size_t at = 1; at < lines.size() && !lines[at].empty() && choice.take(at); ++at) continue;
  return choice.finish();
}

// --- pages of the web ------------------------------------------------------------------------

/// Reads the headings and the words of an HTML page, of either hardly more than `most` bytes.
class Html {
 public:
  Html(std::string_view page, size_t most) : page_(page), most_(most) {
    while (at_ < page_.size()) {
      const size_t open = std::min(page_.find('<', at_), page_.size());
      text(page_.substr(at_, open - at_));
      at_ = open;
      if (at_ < page_.size()) markup();
    }
    end_heading();
  }

  /// The title and the headings.
  const std::string& headings() const { return headings_; }
  const std::string& words() const { return words_; }

 private:
  void text(std::string_view text) {
    std::string& out = in_heading_ ? heading_ : words_;
    for (size_t at = 0; at < text.size() && out.size() < most_;) {
      const char c = text[at];
      const size_t length = c == '&' ? entity(text.substr(at), out) : 0;
      at += std::max<size_t>(length, 1);
      if (length > 0) continue;
      if (!is_white(c)) {
        out += c;
      } else if (!out.empty() && out.back() != ' ' && out.back() != '\n') {
        out += ' ';
      }
    }
  }

  // Those for `<` and `>` stay: what they write is no markup.
  static size_t entity(std::string_view text, std::string& out) {
    constexpr std::string_view kEntities = "&amp;&|&quot;\"|&#39;'|&apos;'|&nbsp; |";
    const size_t end = text.substr(0, 6).find(';') + 1;
    const size_t at = end > 2 ? kEntities.find(text.substr(0, end)) : kEntities.npos;
    if (at == kEntities.npos) return 0;
    out += kEntities[at + end];
    return end;
  }

  // A comment, or a tag with whatever stands between quotes in it.
  void markup() {
    const std::string_view rest = page_.substr(at_);
    if (rest.starts_with("<!--")) {
      skip_to("-->");
      at_ = std::min(at_ + 3, page_.size());
      return;
    }
    const bool closes = rest.substr(1, 1) == "/";
    const std::string_view from = rest.substr(closes ? 2 : 1, 11);
    if (rest.size() < 2 || (!closes && !is_letter(rest[1]) && !is_among(rest[1], "!?"))) {
      ++at_;
      return text("<");
    }
    const std::string name = lowered(first_word(from, "0123456789"));
    char quote = '\0';
    size_t end = 1;
    for (; end < rest.size() && (quote != '\0' || rest[end] != '>'); ++end) {
      if (rest[end] == quote) {
        quote = '\0';
      } else if (quote == '\0' && is_among(rest[end], "\"'")) {
        quote = rest[end];
      }
    }
    at_ += std::min(end + 1, rest.size());
    if (!closes && is_one_of(name, "|script|style|template|noscript|svg|")) {
      return skip_to("</" + name);
    }
    tag(name, closes);
  }

  void tag(const std::string& name, bool closes) {
    if (is_one_of(name, "|title|h1|h2|h3|")) {
      end_heading();
      in_heading_ = !closes;
      if (!closes && name != "title")
        heading_.append(static_cast<size_t>(name[1] - '0'), '#').append(" ");
      bare_ = heading_.size();
    }
    const bool inside = is_one_of(name, "|a|b|i|u|em|strong|span|code|");
    if (!inside && !in_heading_ && !words_.empty() && words_.back() != '\n') words_ += '\n';
  }

  void end_heading() {
    if (heading_.size() > bare_ && headings_.size() < most_) headings_ += heading_ + '\n';
    heading_.clear();
    bare_ = 0;
    in_heading_ = false;
  }

  void skip_to(std::string_view what) {
    do {
      at_ = std::min(page_.find(what[0], at_ + 1), page_.size());
    } while (at_ < page_.size() && lowered(page_.substr(at_, what.size())) != what);
  }

  std::string_view page_;
  const size_t most_;
  size_t at_ = 0;
  std::string words_;
  std::string headings_;
  std::string heading_;  // the open one
  size_t bare_ = 0;      // what its mark takes of it
  bool in_heading_ = false;
};

/// What a comment says that stands at the end of a page: that it was cut, where the next one is.
std::string_view find_last_comment(std::string_view tail) {
  constexpr std::string_view kBegin = "<!--";
  constexpr std::string_view kEnd = "-->";
  while (!tail.empty() && is_white(tail.back())) tail.remove_suffix(1);
  const size_t begin = tail.rfind(kBegin);
  if (!tail.ends_with(kEnd) || begin == tail.npos) return {};
  const size_t end = tail.find(kEnd, begin);
  const bool last = end + kEnd.size() == tail.size();
  return last ? tail.substr(begin + kBegin.size(), end - begin - kBegin.size())
              : std::string_view();
}

/// A page by its title and headings, or its first words if it has none, and by its last words.
std::string lines_of_page(std::string_view head, std::string_view tail) {
  // A script that begins before is none of the words.
  const size_t closed = tail.find("</script");
  if (closed < tail.find("<script")) tail.remove_prefix(closed);
  tail.remove_prefix(std::min(tail.find('<'), tail.size()));
  const Html page(head, kEnough);
  const Html end(tail, kExcerptTail);
  const bool words = page.headings().empty();
  // The first line of an end may be cut, which the first words behind a tag are not.
  std::string last = end.words() + '\n' + std::string(find_last_comment(tail));
  if (last.size() > 1) last.insert(0, std::string(kCut) + '\n');
  return both_ends(words ? page.words() : page.headings(), last, 1, words);
}

Excerpts alike(const std::string& lines) {
  return {lines, lines, false};
}

/// What the kind of text asks for.
Excerpts lines_of(const Subject& subject) {
  const std::string_view mime = subject.type.mime_type;
  if (!subject.text || mime.starts_with("image/")) return {};
  std::string_view head = as_text(subject.head.first(std::min(subject.head.size(), kDescribeHead)));
  std::string_view tail = head.size() < kDescribeHead ? head : as_text(subject.tail);
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  tail.remove_prefix(tail.size() - std::min(tail.size(), kExcerptTail));
  if (mime == "text/html") return alike(lines_of_page(head, tail));
  const bool json = mime == "application/json" || !subject.outline.empty();
  if (json && !subject.is_lines) {
    return lines_of_json(head, tail);
  }
  if (!subject.table.empty()) return alike(both_ends(head, tail, kLongestValue, true, kMostRows));
  const Lines lines = lines_of_ends(head, tail);
  const std::vector<std::string_view> signs = signs_in(std::string(head).append(tail));
  const bool log = subject.kind.empty() || subject.kind == "stack trace";
  if (log && !lines.empty() && is_log(lines, signs)) return alike(telling_lines(lines, signs));
  constexpr size_t kFewestWords = 40;
  const bool headed = !subject.headings.empty();
  const std::string_view front = headed ? subject.headings : head;
  std::string usual = subject.is_lines ? both_ends(head, tail, kLongestValue, true, kMostRows)
                                       : both_ends(front, tail, kFewestWords, !headed);
  if (lines.empty()) return alike(usual);
  return {std::move(usual), telling_lines(lines, signs), false};
}

/// The same lines, fit to be shown, and whole.
std::string show_values(std::string_view values) {
  std::string out;
  while (!values.empty()) {
    Line line(SIZE_MAX, true);
    line.read(take_line(values));
    if (!out.empty()) out += '\n';
    out += std::move(line).finish().text;
  }
  return out;
}

/// Nothing but an encoding is no line.
std::string unless_cut(std::string lines) {
  return lines == kCut ? std::string() : std::move(lines);
}

}  // namespace

void add_excerpts(const Subject& subject, Segment& segment) {
  if (segment.description.starts_with("UTF-")) {
    const Wide wide = find_wide_text(subject.head).value_or(Wide{});
    const auto read = [&](std::string_view text) {
      return decode_wide(text.substr(0, kExcerptTail), wide.width, wide.big, {});
    };
    const std::string_view head = as_text(subject.head).substr(wide.marked ? wide.width : 0);
    std::string_view tail = as_text(subject.tail);
    tail.remove_prefix(tail.size() - std::min(tail.size(), kExcerptTail));
    const bool whole = subject.size_bytes <= kExcerptTail;
    segment.excerpt = both_ends(read(head), read(tail), 1, whole);
    return;
  }
  if (is_private_key(as_text(subject.head).substr(0, kSniffHead))) return;
  Excerpts chosen = lines_of(subject);
  segment.excerpt = unless_cut(std::move(chosen.usual));
  segment.error_excerpt = unless_cut(std::move(chosen.of_error));
  if (segment.error_excerpt == segment.excerpt) segment.error_excerpt.clear();
  if (!chosen.whole) segment.values = show_values(subject.values);
}

}  // namespace sluice
