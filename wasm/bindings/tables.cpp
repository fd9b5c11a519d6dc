// The boundary to JavaScript of the module that answers questions of tables: Embind only, no logic.
// Bytes cross as views into the module's memory, which die when memory grows.
#include "sluice/tables.h"

#include <emscripten/bind.h>

#include <string>
#include <vector>

#include "sluice/tape.h"

namespace {

using emscripten::typed_memory_view;
using emscripten::val;

/// What a table is made of, in the order of `TableKind` in JavaScript.
enum class Kind : unsigned { kCsv, kNdjson, kRows, kRow, kLines };

/// What JavaScript holds: a question, a buffer in and a buffer out.
class TableQuery {
 public:
  /// `read` gives the number of bytes that it wrote to a view: `read(artifact, offset, view)`.
  TableQuery(val read, double milliseconds, double memory, double groups)
      : read_(std::move(read)),
        query_([this](uint32_t artifact, uint64_t offset,
                      std::span<char> into) { return pull(artifact, offset, into); },
               {milliseconds, static_cast<uint64_t>(memory), static_cast<uint64_t>(groups)}) {}

  val input(size_t size) {
    in_.resize(size);
    return val(typed_memory_view(size, reinterpret_cast<const uint8_t*>(in_.data())));
  }
  val output() const {
    return val(typed_memory_view(out_.size(), reinterpret_cast<const uint8_t*>(out_.data())));
  }

  /// The input is the table's name and then the keys that lead to it, with NUL between them.
  bool add(unsigned kind, unsigned artifact, double start, unsigned delimiter, unsigned newline,
           bool commas) {
    const std::vector<std::string> parts = split(in_);
    const std::string& name = parts.front();
    const std::span<const std::string> tokens(parts.data() + 1, parts.size() - 1);
    switch (static_cast<Kind>(kind)) {
      case Kind::kCsv:
        return query_.add_csv(name, artifact, static_cast<uint64_t>(start),
                              static_cast<char>(delimiter), static_cast<char>(newline), commas);
      case Kind::kNdjson:
        return query_.add_ndjson(name, artifact);
      case Kind::kLines:
        return query_.add_lines(name, artifact);
      case Kind::kRows:
        return query_.add_json(name, artifact, tokens, false);
      default:
        return query_.add_json(name, artifact, tokens, true);
    }
  }
  /// The input is the name of the table that is called `rows`, or nothing.
  bool open_database(unsigned artifact, double size, bool is_known) {
    return query_.open_database(artifact, static_cast<uint64_t>(size), is_known, in_);
  }
  /// The input is names of members, with NUL between them.
  void want_members() { query_.want_members(split(in_)); }
  /// The input is the question.
  bool prepare() { return query_.prepare(in_); }
  /// The output is cells.
  bool read_rows(size_t bytes) {
    out_.clear();
    return query_.read_rows(out_, bytes);
  }
  bool is_over() const { return query_.is_over(); }

  /// The output is JSON: the names of the columns, the tables, or why it failed.
  void columns() {
    out_ = "[";
    for (const std::string& name : query_.columns()) {
      out_ += out_.size() > 1 ? ",\"" : "\"";
      sluice::append_escaped(out_, name);
      out_ += '"';
    }
    out_ += ']';
  }
  void describe() { out_ = query_.describe(); }
  void failure() {
    const sluice::QueryFailure& failure = query_.failure();
    out_ = "{\"fault\":" + std::to_string(static_cast<unsigned>(failure.fault)) +
           ",\"row\":" + std::to_string(failure.row) +
           ",\"rowsRead\":" + std::to_string(failure.rows_read) +
           ",\"groups\":" + std::to_string(failure.groups) + ",\"message\":\"";
    sluice::append_escaped(out_, failure.message);
    out_ += "\",\"table\":\"";
    sluice::append_escaped(out_, failure.table);
    out_ += "\"}";
  }

 private:
  ptrdiff_t pull(uint32_t artifact, uint64_t offset, std::span<char> into) {
    const val view(typed_memory_view(into.size(), reinterpret_cast<const uint8_t*>(into.data())));
    return static_cast<ptrdiff_t>(
        read_(static_cast<double>(artifact), static_cast<double>(offset), view).as<double>());
  }
  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (size_t from = 0; from <= text.size();) {
      const size_t end = std::min(text.find('\0', from), text.size());
      parts.push_back(text.substr(from, end - from));
      from = end + 1;
    }
    return parts;
  }

  val read_;
  std::string in_;
  std::string out_;
  sluice::TableQuery query_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(sluice_tables) {
  emscripten::class_<TableQuery>("TableQuery")
      .constructor<val, double, double, double>()
      .function("input", &TableQuery::input)
      .function("output", &TableQuery::output)
      .function("add", &TableQuery::add)
      .function("openDatabase", &TableQuery::open_database)
      .function("wantMembers", &TableQuery::want_members)
      .function("prepare", &TableQuery::prepare)
      .function("readRows", &TableQuery::read_rows)
      .function("isOver", &TableQuery::is_over)
      .function("columns", &TableQuery::columns)
      .function("describe", &TableQuery::describe)
      .function("failure", &TableQuery::failure);
}
