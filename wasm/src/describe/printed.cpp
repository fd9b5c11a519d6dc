// What programs print: messages of compilers, hits of grep and ripgrep, stack traces, listings of
// ls and ps.
#include <algorithm>

#include "describe/facts.h"
#include "describe/text_kind.h"
#include "text/ascii.h"

namespace sluice::kinds {

// --- hits --------------------------------------------------------------------------------------

namespace {

enum HitForm { kNumbered = 1, kGrouped, kNamedOnly };

/// `path:12:text`, and a line around a hit: `path-12-text`.
struct Hit {
  std::string_view path;  // empty where the line begins with its number
  std::string_view text;
  bool is_hit = false;
};

/// Whether a text may be the path of a file.
bool is_path(std::string_view text) {
  if (text.empty() || is_among(text[0], "-#")) return false;
  if (text.find_first_of(" <>|\"'(){};,=*\t") != text.npos) return false;
  constexpr size_t kLongestExtension = 6;
  const size_t dot = text.rfind('.');
  return text.find('/') != text.npos ||
         (dot != text.npos && text.size() - dot <= kLongestExtension);
}

Hit read_hit(std::string_view line) {
  for (size_t at = 0; at < line.size(); ++at) {
    const char sign = line[at];
    if (sign != ':' && sign != '-') continue;
    const std::string_view rest = line.substr(at + 1);
    const size_t digits = count_digits(rest);
    if (digits == 0 || digits > 8 || rest.substr(digits, 1) != line.substr(at, 1)) {
      if (sign == ':') break;
      continue;
    }
    if (!is_path(line.substr(0, at))) break;
    return {line.substr(0, at), rest.substr(digits + 1), sign == ':'};
  }
  return {};
}

/// `12:text`; the number, or 0.
uint64_t read_number(std::string_view line, bool& is_hit) {
  const size_t digits = count_digits(line);
  if (digits == 0 || digits > 8 || digits >= line.size()) return 0;
  is_hit = line[digits] == ':';
  if (!is_hit && line[digits] != '-') return 0;
  // A time of day.
  if (is_hit && digits == 2 && count_digits(line.substr(3)) == 2 && line.substr(5, 1) == ":")
    return 0;
  return decimal(line.substr(0, digits), 8).value_or(0);
}

bool is_border(std::string_view line) {
  return line == "--";
}

bool has_numbers(const Lines& lines) {
  uint64_t last = 0;
  size_t numbers = 0;
  size_t heads = 0;
  for (const std::string_view line : lines) {
    bool is_hit = false;
    if (is_border(line)) continue;
    const uint64_t number = read_number(line, is_hit);
    if (number == 0) {
      if (!is_path(line)) return false;
      ++heads;
      last = 0;
      continue;
    }
    if (number <= last) return false;
    last = number;
    ++numbers;
  }
  return numbers >= 3 && heads <= numbers;
}

/// `path:text`, where no name of a test or number alone follows.
std::string_view read_named(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == line.npos || !is_path(line.substr(0, colon))) return {};
  const std::string_view rest = line.substr(colon + 1);
  const bool other = rest.starts_with(':') || count_digits(rest) == rest.size();
  return other || line.substr(0, colon).find('/') == line.npos ? std::string_view()
                                                               : line.substr(0, colon);
}

bool fits_hits(const Sample& sample, Tally& tally) {
  const Lines& lines = sample.filled;
  size_t numbered = 0, named = 0, changes = 0, hosts = 0;
  std::string_view last;
  for (const std::string_view line : lines) {
    const Hit hit = read_hit(line);
    numbered += !hit.path.empty() || is_border(line) ? 1 : 0;
    named += read_named(line).empty() ? 0 : 1;
    if (hit.path.empty()) continue;
    const std::string_view number =
        line.substr(hit.path.size(), line.size() - hit.path.size() - hit.text.size());
    changes += number != last ? 1 : 0;
    hosts += hit.path.find('/') == hit.path.npos ? 1 : 0;
    last = number;
  }
  tally.label = "grep output";
  // `example.com:8080: words`: a host and its port.
  const bool ports = numbered > 1 && changes == 1 && hosts == numbered;
  tally.form = is_share(numbered, lines.size(), 80) && !ports ? kNumbered
               : has_numbers(lines)                           ? kGrouped
               : is_share(named, lines.size(), 95)            ? kNamedOnly
                                                              : 0;
  return tally.form != 0;
}

void take_hit(Tally& tally, std::string_view line) {
  if (is_border(line) || is_empty(line)) return;
  if (tally.form == kNumbered) {
    const Hit hit = read_hit(line);
    if (!hit.is_hit) return;
    add_group(tally, hit.path);
  } else if (tally.form == kNamedOnly) {
    const std::string_view path = read_named(line);
    if (path.empty()) return;
    add_group(tally, path);
  } else {
    bool is_hit = false;
    if (read_number(line, is_hit) == 0) {
      if (is_path(line)) add_group(tally, line);
      return;
    }
    if (!is_hit) return;
  }
  ++tally.things;
}

void tell_hits(const Tally& tally, std::string& facts) {
  append_count(facts, tally.things, "hit");
  append_files(facts, tally);
}

// --- messages of compilers and linters -----------------------------------------------------------

/// `path:12:5: error: text`, `path(12,5): error X1: text`, `path: line 12, col 5, Error - text`.
struct Message {
  std::string_view path;  // empty: it is none
  bool is_error = false;
  bool is_warning = false;
};

/// `E501`, `TS2345`
bool is_code(std::string_view text) {
  size_t letters = 0;
  while (letters < text.size() && text[letters] >= 'A' && text[letters] <= 'Z') ++letters;
  const size_t digits = count_digits(text.substr(std::min(letters, text.size())));
  return letters > 0 && letters < 6 && digits > 2 && digits < 6;
}

Message read_message(std::string_view line) {
  constexpr std::string_view kLine = ": line ";
  Message message;
  std::string_view text;
  const size_t bracket = line.find("): ");
  const size_t words = line.find(kLine);
  if (const Hit hit = read_hit(line); hit.is_hit) {
    message.path = hit.path;
    text = hit.text;
    const size_t digits = count_digits(text);
    if (digits > 0 && text.substr(digits, 1) == ":") text.remove_prefix(digits + 1);
    if (!text.starts_with(' ')) return {};
  } else if (bracket != line.npos) {
    const size_t open = line.rfind('(', bracket);
    if (open == line.npos || !is_digit(line[open + 1])) return {};
    if (line.substr(open + 1, bracket - open - 1).find_first_not_of("0123456789,") != line.npos)
      return {};
    message.path = line.substr(0, open);
    text = line.substr(bracket + 2);
  } else if (words != line.npos && count_digits(line.substr(words + kLine.size())) > 0) {
    const size_t comma = line.rfind(", ", line.find(" - "));
    if (comma == line.npos || comma < words) return {};
    message.path = line.substr(0, words);
    text = line.substr(comma + 1);
  }
  text = skip_indent(text);
  message.is_error = begins_with(text, "|error|Error|fatal error|");
  message.is_warning = begins_with(text, "|warning|Warning|");
  const bool other = begins_with(text, "|note:|info:|");
  return message.is_error || message.is_warning || other || is_code(text) ? message : Message();
}

bool fits_messages(const Sample& sample, Tally& tally) {
  const Lines& lines = sample.filled;
  const auto messages = static_cast<size_t>(std::count_if(
      lines.begin(), lines.end(), [](auto line) { return !read_message(line).path.empty(); }));
  tally.label = "compiler messages";
  return messages > 2 && is_share(messages, lines.size(), 20);
}

void take_message(Tally& tally, std::string_view line) {
  const Message message = read_message(line);
  if (message.path.empty()) return;
  ++tally.things;
  tally.added += message.is_error ? 1 : 0;
  tally.removed += message.is_warning ? 1 : 0;
  add_group(tally, message.path);
}

void tell_messages(const Tally& tally, std::string& facts) {
  append_count(facts, tally.things, "message");
  if (tally.added > 0) append_count(facts, tally.added, "error");
  if (tally.removed > 0) append_count(facts, tally.removed, "warning");
  append_files(facts, tally);
}

// --- stack traces ------------------------------------------------------------------------------

bool is_frame(std::string_view line) {
  line = skip_indent(line);
  if (line.starts_with("at ")) {
    return line.ends_with(')') || line.find(':') != line.npos || line.find("/") != line.npos;
  }
  return line.starts_with("File \"") && line.find("\", line ") != line.npos;
}

constexpr std::string_view kPython = "Traceback (most recent call last):";

bool fits_trace(const Sample& sample, Tally& tally) {
  const Lines& lines = sample.filled;
  const auto frames = static_cast<size_t>(std::count_if(lines.begin(), lines.end(), is_frame));
  const bool python = std::any_of(lines.begin(), lines.begin() + 3,
                                  [](std::string_view line) { return line.starts_with(kPython); });
  tally.label = "stack trace";
  return frames > 1 && is_share(frames, lines.size(), python ? 25 : 50);
}

/// What went wrong stands at the margin; what stands last there is the cause.
void take_frame(Tally& tally, std::string_view line) {
  if (is_frame(line)) {
    ++tally.things;
  } else if (!line.empty() && line[0] != ' ' && line[0] != '\t' && !line.starts_with(kPython) &&
             (line.find("Error") != line.npos || line.find("Exception") != line.npos)) {
    tally.last = line;
  }
}

void tell_trace(const Tally& tally, std::string& facts) {
  append_count(facts, tally.things, "frame");
  Quotes(facts, ", error").add(tally.last);
}

// --- listings ----------------------------------------------------------------------------------

/// `-rw-r--r-- 1 …`
bool is_entry(std::string_view line) {
  constexpr size_t kMode = 10;
  if (line.size() <= kMode || !is_among(line[0], "-dlbcps")) return false;
  return line.substr(1, kMode - 1).find_first_not_of("rwxsStT-") == line.npos &&
         is_among(line[kMode], " .+@");
}

bool fits_files(const Sample& sample, Tally& tally) {
  size_t entries = 0;
  for (const std::string_view line : sample.filled) {
    const bool frames = line.ends_with(':') || line.starts_with("total ");
    entries += frames || is_entry(line) ? 1 : 0;
  }
  tally.label = "directory listing";
  return is_share(entries, sample.filled.size(), 80) &&
         std::any_of(sample.filled.begin(), sample.filled.end(), is_entry);
}

void take_file(Tally& tally, std::string_view line) {
  const bool itself =
      (line.ends_with(" .") || line.ends_with(" ..")) && line.find(" -> ") == line.npos;
  if (is_entry(line) && !itself) ++tally.things;
}

void tell_files(const Tally& tally, std::string& facts) {
  append_count(facts, tally.things, "entry");
}

bool is_heading(std::string_view line) {
  const bool has_id = line.find("PID ") != line.npos;
  return has_id && (line.find("CMD") != line.npos || line.find("COMMAND") != line.npos) &&
         std::none_of(line.begin(), line.end(), [](char c) { return is_lower(c); });
}

bool fits_processes(const Sample& sample, Tally& tally) {
  constexpr size_t kAbove = 8;  // what top tells first
  const auto end =
      sample.filled.begin() + static_cast<ptrdiff_t>(std::min(sample.filled.size() - 1, kAbove));
  tally.label = "process list";
  return std::any_of(sample.filled.begin(), end, is_heading);
}

void take_process(Tally& tally, std::string_view line) {
  if (tally.inside && !is_empty(line)) ++tally.things;
  tally.inside = tally.inside || is_heading(line);
}

void tell_processes(const Tally& tally, std::string& facts) {
  append_count(facts, tally.things, "process");
  if (tally.things != 1) facts.insert(facts.size() - 1, "e");
}

}  // namespace

const Kind kMessages = {fits_messages, take_message, tell_messages};
const Kind kHits = {fits_hits, take_hit, tell_hits};
const Kind kTrace = {fits_trace, take_frame, tell_trace};
const Kind kFiles = {fits_files, take_file, tell_files};
const Kind kProcesses = {fits_processes, take_process, tell_processes};

}  // namespace sluice::kinds
