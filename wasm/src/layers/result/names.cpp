#include "layers/result/names.h"

#include <algorithm>

#include "layers/result/references.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice::layers {

// --- file names ------------------------------------------------------------------------------

namespace {

void trim_end(std::string& name) {
  while (name.ends_with(' ') || name.ends_with('.')) name.pop_back();
}

/// The extension of a name with its dot, or nothing.
std::string_view extension_of(std::string_view name) {
  constexpr size_t kLongest = 9;
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.size() - dot > kLongest) return {};
  const std::string_view extension = name.substr(dot);
  const bool plain = std::all_of(extension.begin() + 1, extension.end(), is_alphanumeric<char>);
  return plain ? extension : std::string_view();
}

/// Whether a name begins like our own notes.
bool is_our_voice(std::string_view name) {
  constexpr std::string_view kVoice = "[sluice]";
  return lowered(name.substr(0, kVoice.size())) == kVoice;
}

/// A name shortened to the limits, with its extension.
std::string cut_to_name(const std::string& name) {
  const std::string_view extension = extension_of(name);
  size_t words = 1;
  size_t chars = extension.size();
  size_t end = 0;
  const size_t stem = name.size() - extension.size();
  for (; end < stem; end += read_code_point(name, end).length) {
    if (name[end] == ' ' && ++words > kMaxFilenameWords) break;
    if (++chars > kMaxFilename) break;
  }
  if (end == stem) return name;
  if (words > kMaxFilenameWords && extension.empty()) return {};
  std::string cut = name.substr(0, end);
  trim_end(cut);
  return cut.append(extension);
}

}  // namespace

std::string clean_filename(std::string_view name) {
  const size_t slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string clean;
  for (size_t at = 0; at < name.size();) {
    const CodePoint point = read_code_point(name, at);
    const std::string_view source = name.substr(at, point.length);
    at += point.length;
    if (is_space(point.value)) {
      if (!clean.empty() && !clean.ends_with(' ')) clean += ' ';
      continue;
    }
    const bool shown = !is_control(point.value) && !is_invisible(point.value);
    if (!shown || point.value == kReplacement || (clean.empty() && point.value == '.')) continue;
    const bool forbidden = point.length == 1 && is_among(source[0], "<>:\"|?*`");
    clean += forbidden ? std::string_view("_") : source;
  }
  trim_end(clean);
  if (is_our_voice(clean)) clean.insert(0, 1, '_');
  return cut_to_name(clean);
}

std::string filename_of_uri(std::string_view uri) {
  if (uri.starts_with("data:")) return {};
  uri = uri.substr(0, uri.find_first_of("?#"));
  const size_t authority = uri.find("://");
  if (authority != std::string_view::npos) {
    const size_t path = uri.find('/', authority + 3);
    if (path == std::string_view::npos) return {};
    uri.remove_prefix(path);
  } else if (const size_t colon = uri.find(':'); colon != std::string_view::npos) {
    uri.remove_prefix(colon + 1);
  }
  std::string path;
  undo_percent(uri, path);
  return clean_filename(path);
}

// --- members beside a value ------------------------------------------------------------------

std::string string_member(const Document& document, size_t object, std::string_view key) {
  const std::optional<size_t> value = document.tape().find(object, key);
  if (!value || !document.marks(*value).empty()) return {};
  return document.tape().string(*value);
}

std::optional<uint64_t> number_member(const Document& document, size_t object,
                                      std::string_view key) {
  const std::optional<size_t> value = document.tape().find(object, key);
  if (!value || document.tape()[*value].type != Type::number) return std::nullopt;
  return decimal(document.tape().source(*value), 18);
}

std::string sibling_filename(const Document& document, size_t object) {
  for (const std::string_view key : {"filename", "fileName", "file_name"}) {
    std::string name = clean_filename(string_member(document, object, key));
    if (!name.empty()) return name;
  }
  return {};
}

std::string payload_filename(const Document& document, size_t holder) {
  std::string name = filename_of_uri(string_member(document, holder, "uri"));
  if (name.empty()) name = clean_filename(string_member(document, holder, "name"));
  if (name.empty()) name = clean_filename(string_member(document, holder, "title"));
  return name.empty() ? sibling_filename(document, holder) : name;
}

}  // namespace sluice::layers
