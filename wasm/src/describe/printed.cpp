// What programs print: hits of grep and ripgrep, stack traces, listings of ls and ps.
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

bool is_message(std::string_view text) {
  return text.find("error") != text.npos || text.find("warning") != text.npos;
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

bool fits_hits(const Sample& sample, Tally& tally) {
  const Lines& lines = sample.filled;
  size_t numbered = 0, messages = 0, named = 0;
  for (const std::string_view line : lines) {
    const Hit hit = read_hit(line);
    numbered += !hit.path.empty() || is_border(line) ? 1 : 0;
    messages += is_message(hit.text.substr(0, 40)) ? 1 : 0;
    const size_t colon = line.find(':');
    const std::string_view path = line.substr(0, colon);
    named += colon != line.npos && path.find('/') != path.npos && is_path(path) ? 1 : 0;
  }
  tally.label = "grep output";
  // Compilers write places in the same way.
  if (is_share(messages, lines.size(), 50)) return false;
  tally.form = is_share(numbered, lines.size(), 80) ? kNumbered
               : has_numbers(lines)                 ? kGrouped
               : is_share(named, lines.size(), 95)  ? kNamedOnly
                                                    : 0;
  return tally.form != 0;
}

void begin_group(Tally& tally, std::string_view path) {
  if (path == tally.last) return;
  tally.last = path;
  ++tally.groups;
  add_named(tally, path);
}

void take_hit(Tally& tally, std::string_view line) {
  if (is_border(line) || is_empty(line)) return;
  if (tally.form == kNumbered) {
    const Hit hit = read_hit(line);
    if (!hit.is_hit) return;
    begin_group(tally, hit.path);
  } else if (tally.form == kNamedOnly) {
    const size_t colon = line.find(':');
    if (colon == line.npos || !is_path(line.substr(0, colon))) return;
    begin_group(tally, line.substr(0, colon));
  } else {
    bool is_hit = false;
    if (read_number(line, is_hit) == 0) {
      if (is_path(line)) begin_group(tally, line);
      return;
    }
    if (!is_hit) return;
  }
  ++tally.things;
}

void tell_hits(const Tally& tally, std::string& facts) {
  append_count(facts, tally.things, "hit");
  if (tally.groups == 0) return;
  facts += " in ";
  facts += grouped(tally.groups);
  append_named(facts, tally.groups == 1 ? " file" : " files", tally);
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
  const bool itself = line.ends_with(" .") || line.ends_with(" ..");
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

const Kind kHits = {fits_hits, take_hit, tell_hits};
const Kind kTrace = {fits_trace, take_frame, tell_trace};
const Kind kFiles = {fits_files, take_file, tell_files};
const Kind kProcesses = {fits_processes, take_process, tell_processes};

}  // namespace sluice::kinds
