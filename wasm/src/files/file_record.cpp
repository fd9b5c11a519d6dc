#include "files/file_record.h"

#include <algorithm>

#include "files/base64.h"
#include "files/line.h"
#include "files/media_type.h"
#include "files/reference.h"

namespace sluice::files {

namespace {

constexpr Length kName = {1, 1'024};
constexpr Length kPath = {1, 4'096};
constexpr Length kDescription = {0, 2'000};
constexpr Length kAction = {1, 500};
constexpr size_t kMaxActions = 20;

// What every reader of JSON holds exactly, and more than any store.
constexpr uint64_t kMaxSize = 999'999'999'999'999;

constexpr uint64_t kMaxHours = 8'760;
constexpr uint64_t kDefaultHours = 72;

constexpr std::array<std::string_view, 5> kViewers = {"image", "pdf", "html", "code", "data"};
constexpr std::array<std::string_view, 4> kReasons = {"needs_editing", "draft", "incomplete",
                                                      "awaiting_approval"};

void keep_name(Record& record, Names& names) {
  const std::optional<std::string> name = record.need_text("name", kName);
  if (!name) return;
  if (!names.insert(*name)) {
    return record.refuse("name", "must differ from every other name in this result");
  }
  record.out().text("name", *name);
}

void keep_path(Record& record) {
  const std::optional<std::string> path = record.need_text("path", kPath);
  if (!path) return;
  if (path->find('\0') != std::string::npos) {
    return record.refuse("path", "must be a path without null characters");
  }
  record.out().text("path", *path);
}

void keep_media_type(Record& record) {
  constexpr std::string_view kWhat = "a media type such as text/csv";
  const std::optional<size_t> node = record.need("mime", kWhat);
  if (!node) return;
  const std::optional<std::string> type = media_type(record.tape().string(*node));
  if (!type) return record.refuse("mime", "must be " + std::string(kWhat));
  record.out().text("mime", *type);
}

void keep_base64(Record& record, size_t node) {
  std::string text = record.tape().string(node);
  if (!is_reference(text)) {
    std::optional<std::string> base64;
    if (record.tape()[node].type == Type::string) base64 = standard_base64(text);
    if (!base64) return record.refuse("b64", "must be base64 (RFC 4648)");
    text = std::move(*base64);
  }
  record.out().text("b64", text);
}

/// The bytes are here or in a file; where they are stored is for the client to say.
void keep_content(Record& record) {
  if (record.find("s3_ref")) {
    return record.refuse("s3_ref", "must be left out: the client sets it");
  }
  const std::optional<size_t> base64 = record.find("b64");
  if (base64.has_value() == record.find("path").has_value()) {
    return record.refuse("", "must have exactly one of b64 and path");
  }
  if (base64) return keep_base64(record, *base64);
  keep_path(record);
}

void keep_actions(Record& record) {
  std::string actions;
  size_t index = 0;
  for (const size_t node : record.elements("next_actions", kMaxActions, "strings")) {
    const std::string line = one_line(record.tape().string(node));
    const size_t chars = count_chars(line);
    if (chars < kAction.least || chars > kAction.most) {
      return record.refuse(element_path("next_actions", index), "must be " + string_of(kAction));
    }
    actions += index++ == 0 ? "[\"" : ",\"";
    append_escaped(actions, line);
    actions += '"';
  }
  if (index > 0) record.out().source("next_actions", actions + ']');
}

}  // namespace

bool Names::insert(std::string name) {
  const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), name);
  if (place != sorted_.end() && *place == name) return false;
  sorted_.insert(place, std::move(name));
  return true;
}

bool Names::has(std::string_view name) const {
  return std::binary_search(sorted_.begin(), sorted_.end(), name);
}

void read_artifact(Record& record, Names& names) {
  keep_name(record, names);
  keep_content(record);
  keep_media_type(record);
  record.number("size", 0, kMaxSize);
  record.keep_line("description", kDescription);
  record.keep_word("viewer", kViewers);
  record.keep_word("category", kCategories);
  record.keep_flag("auto_open", false);
}

void read_deferred(Record& record, Names& names) {
  keep_name(record, names);
  keep_path(record);
  keep_media_type(record);
  record.keep_line("description", kDescription);
  record.keep_word("reason", kReasons);
  keep_actions(record);
  record.keep_word("category", kCategories);
  const uint64_t hours = record.number("expires_hours", 1, kMaxHours).value_or(kDefaultHours);
  record.out().number("expires_hours", hours);
}

}  // namespace sluice::files
