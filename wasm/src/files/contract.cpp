#include "sluice/contract.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/record.h"
#include "sluice/segment.h"
#include "sluice/tape.h"

namespace sluice {

// --- where a contract stands in what a tool answered ---------------------------------------------

namespace files {

/// Whether a key, a node of the tape, is one of a contract's own members.
bool is_member(const Tape& tape, size_t key);

/// Finds the object that is a contract. Owns what its tape indexes; so it stays where it is.
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// Looks through `text`, which must outlive the carrier; false when nothing there is a contract.
  bool find(std::string_view text);

  const Tape& tape() const { return inner_.empty() ? tape_ : inner_tape_; }
  size_t node() const { return node_; }

 private:
  bool find_in_text(size_t content);

  Tape tape_;
  std::string inner_;
  Tape inner_tape_;
  size_t node_ = 0;
};

namespace {

constexpr size_t kMaxDepth = 512;

constexpr std::array<std::string_view, 6> kMembers = {
    "results", "meta_data", "retryable", "artifacts", "deferred_artifacts", "display"};

bool is_text(const Tape& tape, std::optional<size_t> node) {
  return node && tape[*node].type == Type::string;
}

/// `/tmp/ada/a.csv`, `C:\a.csv`, `\\server\a.csv`: what ordinary lists of names seldom have.
bool is_absolute(std::string_view path) {
  const bool has_drive = path.size() > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
  return path.starts_with('/') || path.starts_with("\\\\") || has_drive;
}

/// How surely a list is one of a contract's files.
enum class Files : uint8_t {
  none,
  likely,  ///< an element has a name and a path
  sure,    ///< and the path is absolute, or there are bytes
};

Files files_in(const Tape& tape, std::optional<size_t> list) {
  Files found = Files::none;
  if (!list || tape[*list].type != Type::array) return found;
  for (size_t at = *list + 1; at < tape[*list].next; at = tape[at].next) {
    if (!is_text(tape, tape.find(at, "name"))) continue;
    if (is_text(tape, tape.find(at, "b64"))) return Files::sure;
    const std::optional<size_t> path = tape.find(at, "path");
    if (!is_text(tape, path)) continue;
    if (is_absolute(tape.string(*path))) return Files::sure;
    found = Files::likely;
  }
  return found;
}

bool has_only_members(const Tape& tape, size_t object) {
  for (size_t key = object + 1; key < tape[object].next; key = tape[key + 1].next) {
    if (!is_member(tape, key)) return false;
  }
  return true;
}

/// Ordinary results may have a list called `artifacts`, and `results` of any kind: what else is
/// there, or what the list holds, decides.
bool is_contract(const Tape& tape, size_t object) {
  if (tape[object].type != Type::object) return false;
  const Files files = std::max(files_in(tape, tape.find(object, "artifacts")),
                               files_in(tape, tape.find(object, "deferred_artifacts")));
  if (files == Files::sure) return true;
  const std::optional<size_t> results = tape.find(object, "results");
  const bool has_results = results && is_object(tape, *results);
  return (has_results || files == Files::likely) && has_only_members(tape, object);
}

bool says(const Tape& tape, size_t object, std::string_view key, std::string_view value) {
  const std::optional<size_t> found = tape.find(object, key);
  return found && tape.is_string(*found, value);
}

/// Whether the second block is the note that the mcp dialect adds behind what a tool said.
bool second_is_ours(const Tape& tape) {
  const std::optional<size_t> meta = tape.find(0, "_meta");
  const std::optional<size_t> refs = meta ? tape.find(*meta, kRefsKey) : std::nullopt;
  if (!refs || tape[*refs].type != Type::array) return false;
  for (size_t at = *refs + 1; at < tape[*refs].next; at = tape[at].next) {
    const std::optional<size_t> added = tape.find(at, "added");
    if (added && tape.source(*added) == "true" && says(tape, at, "at", "/content/1")) return true;
  }
  return false;
}

}  // namespace

bool is_member(const Tape& tape, size_t key) {
  return std::any_of(kMembers.begin(), kMembers.end(),
                     [&](std::string_view member) { return tape.is_string(key, member); });
}

bool Carrier::find(std::string_view text) {
  if (!Tape::parse(text, tape_, kMaxDepth, false).ok()) return false;
  const std::optional<size_t> structured = tape_.find(0, "structuredContent");
  if (structured && is_contract(tape_, *structured)) {
    node_ = *structured;
    return true;
  }
  const std::optional<size_t> content = tape_.find(0, "content");
  if (content && tape_[*content].type == Type::array) return find_in_text(*content);
  return !structured && is_contract(tape_, 0);
}

bool Carrier::find_in_text(size_t content) {
  const size_t blocks = tape_.count(content);
  if (blocks != 1 && !(blocks == 2 && second_is_ours(tape_))) return false;
  const size_t block = content + 1;
  const std::optional<size_t> text = tape_.find(block, "text");
  if (!text || !says(tape_, block, "type", "text")) return false;
  inner_ = tape_.string(*text);
  return Tape::parse(inner_, inner_tape_, kMaxDepth, false).ok() && is_contract(inner_tape_, 0);
}

namespace {

// --- files (§6.1, §7.1) ----------------------------------------------------------------------

inline constexpr std::array<std::string_view, 4> kCategories = {"report", "dataset",
                                                                "visualization", "draft"};

/// Names of the files that are taken.
class Names {
 public:
  void insert(std::string name);
  bool has(std::string_view name) const;

 private:
  std::vector<std::string> sorted_;
};

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

bool keep_path(Record& record) {
  const std::optional<std::string> path = record.need_text("path", kPath);
  if (!path) return false;
  record.out().text("path", *path);
  return true;
}

/// Where none is given the bytes tell.
void keep_media_type(Record& record) {
  const std::optional<size_t> node = record.find("mime");
  if (!node) return;
  const std::optional<std::string> type = media_type(record.tape().string(*node));
  if (!type) return record.drop("mime", "must be a media type such as text/csv");
  record.out().text("mime", *type);
}

bool keep_base64(Record& record, size_t node) {
  std::string text = record.tape().string(node);
  if (!is_reference(text)) {
    std::optional<std::string> base64;
    if (record.tape()[node].type == Type::string) base64 = standard_base64(text);
    if (!base64) {
      record.drop("b64", "must be base64 (RFC 4648)");
      return false;
    }
    text = std::move(*base64);
  }
  record.out().text("b64", text);
  return true;
}

/// The bytes are here or in a file; where they are stored is for the client to say.
bool keep_content(Record& record) {
  if (record.find("s3_ref")) record.drop("s3_ref", "must be left out: the client sets it");
  const std::optional<size_t> base64 = record.find("b64");
  const bool has_path = record.find("path").has_value();
  if (!base64 && !has_path) {
    record.drop("", "must have b64 or path");
    return false;
  }
  if (base64 && keep_base64(record, *base64)) {
    if (has_path) record.drop("path", "must be left out when b64 is given");
    return true;
  }
  return has_path && keep_path(record);
}

/// The last characters of a text, where the extension of a name stands.
std::string last_chars(std::string text, size_t most) {
  const auto begins = [](char byte) { return (byte & 0xC0) != 0x80; };
  size_t at = text.size();
  for (size_t chars = 0; at > 0 && chars < most;) {
    if (begins(text[--at])) ++chars;
  }
  return text.substr(at);
}

/// What a file is called whose name breaks the rule: the end of one that is too long, else what its
/// path ends with.
std::string other_name(Record& record) {
  const auto text_of = [&record](std::string_view key) {
    const std::optional<size_t> node = record.find(key);
    const bool is_text = node && record.tape()[*node].type == Type::string;
    return is_text ? record.tape().string(*node) : std::string();
  };
  std::string name = text_of("name");
  if (name.empty()) {
    const std::string path = text_of("path");
    name = path.substr(path.find_last_of('/') + 1);
  }
  return name.empty() ? "file" : last_chars(std::move(name), kName.most);
}

/// A file without content is left out as a whole; one without a name is not lost for that.
bool keep_file(Record& record, Names& names) {
  std::optional<std::string> said = record.need_text("name", kName);
  std::string name = said ? std::move(*said) : other_name(record);
  record.out().text("name", name);
  if (!keep_content(record)) return false;
  names.insert(std::move(name));
  keep_media_type(record);
  return true;
}

void keep_actions(Record& record) {
  std::string actions;
  record.each("next_actions", kMaxActions, "strings", [&](size_t node, const std::string& path) {
    const std::string line = one_line(record.tape().string(node));
    const size_t chars = count_chars(line);
    if (chars < kAction.least || chars > kAction.most) {
      record.drop(path, "must be " + string_of(kAction));
      return false;
    }
    actions += actions.empty() ? "[\"" : ",\"";
    append_escaped(actions, line);
    actions += '"';
    return true;
  });
  if (!actions.empty()) record.out().source("next_actions", actions + ']');
}

void Names::insert(std::string name) {
  sorted_.insert(std::lower_bound(sorted_.begin(), sorted_.end(), name), std::move(name));
}

bool Names::has(std::string_view name) const {
  return std::binary_search(sorted_.begin(), sorted_.end(), name);
}

/// Reads an artifact (§6.1): its name, where its bytes are, and what is said of it. False where it
/// has no usable content: then it is no file.
bool read_artifact(Record& record, Names& names) {
  if (!keep_file(record, names)) return false;
  record.number("size", 0, kMaxSize);
  record.keep_line("description", kDescription);
  record.keep_word("viewer", kViewers);
  record.keep_word("category", kCategories);
  record.keep_flag("auto_open", false);
  return true;
}

/// Reads a deferred artifact (§7.1); false as above.
bool read_deferred(Record& record, Names& names) {
  if (!keep_file(record, names)) return false;
  record.keep_line("description", kDescription);
  record.keep_word("reason", kReasons);
  keep_actions(record);
  record.keep_word("category", kCategories);
  const uint64_t hours = record.number("expires_hours", 1, kMaxHours).value_or(kDefaultHours);
  record.out().number("expires_hours", hours);
  return true;
}

// --- the contract ----------------------------------------------------------------------------

constexpr size_t kMaxFiles = 256;
constexpr Length kNotification = {0, 500};
constexpr std::array<std::string_view, 3> kModes = {"replace", "append", "split"};
constexpr std::array<std::string_view, 3> kActions = {"store", "store_and_open", "temporary"};

using ReadFile = bool (*)(Record& record, Names& names);

/// What is told in place of results that are no object, as their only member.
constexpr std::string_view kOtherResult = "result";

void keep_results(Record& contract) {
  const std::optional<size_t> node = contract.find("results");
  const Tape& tape = contract.tape();
  if (!node) {
    contract.out().source("results", "{}");
  } else if (is_object(tape, *node)) {
    contract.out().source("results", tape.source(*node));
  } else {
    contract.drop("results", "must be an object; it was wrapped as {\"result\": …}");
    contract.out().source("results", Object().source(kOtherResult, tape.source(*node)).end());
  }
}

/// Reads a list of files, which stands in the normalised contract even when it is empty.
void keep_files(Record& contract, std::string_view key, ReadFile read, Dropped& dropped,
                Names& names) {
  const Tape& tape = contract.tape();
  std::string list;
  contract.each(key, kMaxFiles, "objects", [&](size_t node, const std::string& path) {
    if (tape[node].type != Type::object) {
      contract.drop(path, "must be an object");
      return false;
    }
    Record file(tape, node, path, dropped);
    if (!read(file, names)) return false;
    if (!list.empty()) list += ',';
    list += file.out().end();
    return true;
  });
  contract.out().source(key, '[' + list + ']');
}

void keep_primary_file(Record& display, const Names& names) {
  const std::optional<size_t> node = display.find("primary_file");
  if (!node) return;
  const std::string name = display.tape().string(*node);
  // No file has an empty name, so what is no string is none either.
  if (!names.has(name)) {
    return display.drop("primary_file", "must be the name of a file in this result");
  }
  display.out().text("primary_file", name);
}

void read_display(Record& display, const Names& names) {
  display.keep_flag("open_canvas", false);
  keep_primary_file(display, names);
  display.keep_word("mode", kModes);
  display.keep_word("storage_action", kActions, kActions[0]);
  display.keep_word("category_hint", kCategories);
  display.keep_line("notification", kNotification);
}

/// Where no display is given its defaults are: it is read from an empty object.
void keep_display(Record& contract, Dropped& dropped, const Names& names) {
  Tape empty;
  Tape::parse("{}", empty);
  const std::optional<size_t> node = contract.find("display");
  const bool is_given = node && contract.tape()[*node].type == Type::object;
  if (node && !is_given) contract.drop("display", "must be an object");
  Record display(is_given ? contract.tape() : empty, is_given ? *node : 0, "display", dropped);
  read_display(display, names);
  contract.out().source("display", display.out().end());
}

/// Members that no contract has are named, so that whoever wrote them looks for them elsewhere.
void drop_unknown(Record& contract) {
  constexpr size_t kMaxShown = 64;
  const Tape& tape = contract.tape();
  const size_t end = tape[contract.node()].next;
  for (size_t key = contract.node() + 1; key < end; key = tape[key + 1].next) {
    if (is_member(tape, key)) continue;
    const std::string name = one_line(tape.string(key));
    contract.drop(count_chars(name) > kMaxShown ? "…" : name, "is not a member of a contract");
  }
}

std::string read(const Carrier& carrier, Dropped& dropped) {
  Record contract(carrier.tape(), carrier.node(), "", dropped);
  Names names;
  keep_results(contract);
  contract.keep_object("meta_data");
  contract.keep_flag("retryable", std::nullopt);
  keep_files(contract, "artifacts", read_artifact, dropped, names);
  keep_files(contract, "deferred_artifacts", read_deferred, dropped, names);
  keep_display(contract, dropped, names);
  drop_unknown(contract);
  return contract.out().end();
}

}  // namespace

}  // namespace files

ContractReading read_contract(std::string_view text) {
  files::Carrier carrier;
  if (!carrier.find(text)) return {};
  files::Dropped dropped;
  std::string contract = files::read(carrier, dropped);
  return {ContractReading::Kind::contract, std::move(contract), dropped.json()};
}

}  // namespace sluice
