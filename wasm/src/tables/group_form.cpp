#include "tables/group_form.h"

#include <algorithm>
#include <array>
#include <span>

#include "tables/table.h"
#include "text/ascii.h"

namespace sluice::tables {

namespace {

struct Token {
  std::string_view text;
  bool is_word = false;
  /// Brackets that are open around it.
  size_t depth = 0;
};

using Tokens = std::span<const Token>;

bool is_word_part(char character) {
  return is_alphanumeric(character) || character == '_' || character == '$' ||
         static_cast<unsigned char>(character) >= 0x80;
}

/// The end of what a quote at `at` begins, which doubles the quote for itself.
size_t find_quote_end(std::string_view sql, size_t at) {
  const char close = sql[at] == '[' ? ']' : sql[at];
  for (size_t next = at + 1;; next += 2) {
    next = sql.find(close, next);
    if (next == std::string_view::npos) return sql.size();
    if (close == ']' || next + 1 >= sql.size() || sql[next + 1] != close) return next + 1;
  }
}

std::vector<Token> read_tokens(std::string_view sql) {
  std::vector<Token> tokens;
  size_t depth = 0;
  for (size_t at = 0; at < sql.size();) {
    const std::string_view rest = sql.substr(at);
    if (is_white(sql[at]) || sql[at] == '\f') {
      ++at;
      continue;
    }
    if (rest.starts_with("--")) {
      at += std::min(rest.find('\n'), rest.size());
      continue;
    }
    if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/", 2);
      at += end == std::string_view::npos ? rest.size() : end + 2;
      continue;
    }
    Token token;
    size_t end = at + 1;
    if (is_among(sql[at], "'\"`[")) {
      end = find_quote_end(sql, at);
    } else if (is_word_part(sql[at])) {
      while (end < sql.size() && is_word_part(sql[end])) ++end;
      token.is_word = !is_digit(sql[at]);
    }
    token.text = sql.substr(at, end - at);
    if (token.text == ")" && depth > 0) --depth;
    token.depth = depth;
    if (token.text == "(") ++depth;
    tokens.push_back(token);
    at = end;
  }
  while (!tokens.empty() && tokens.back().text == ";") tokens.pop_back();
  return tokens;
}

bool is_word(const Token& token, std::string_view word) {
  return token.is_word && token.text.size() == word.size() &&
         std::equal(word.begin(), word.end(), token.text.begin(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

bool is_any(const Token& token, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return is_word(token, word); });
}

/// The source from the first token to the last one.
std::string_view join_source(Tokens tokens) {
  if (tokens.empty()) return {};
  const char* const end = tokens.back().text.data() + tokens.back().text.size();
  return {tokens.front().text.data(), static_cast<size_t>(end - tokens.front().text.data())};
}

/// Whether two expressions are written with the same words, in any case.
bool is_same(Tokens a, Tokens b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Token& one, const Token& other) {
                      return one.text == other.text || (one.is_word && is_word(other, one.text));
                    });
}

std::vector<Tokens> split_list(Tokens tokens) {
  std::vector<Tokens> parts;
  if (tokens.empty()) return parts;
  const size_t depth = tokens.front().depth;
  size_t begin = 0;
  for (size_t at = 0; at <= tokens.size(); ++at) {
    if (at < tokens.size() && (tokens[at].text != "," || tokens[at].depth != depth)) continue;
    parts.push_back(tokens.subspan(begin, at - begin));
    begin = at + 1;
  }
  return parts;
}

/// The clauses of one SELECT, without the words that begin them.
struct Clauses {
  bool is_distinct = false;
  Tokens list, from, where, group, having, order, limit;
};

constexpr std::array<std::string_view, 9> kOthers{"union", "except",  "intersect", "window", "over",
                                                  "join",  "natural", "values",    "collate"};

std::optional<Clauses> read_clauses(Tokens tokens) {
  Clauses clauses;
  if (tokens.empty() || !is_word(tokens[0], "select")) return std::nullopt;
  size_t at = 1;
  if (at < tokens.size() && is_word(tokens[at], "distinct")) {
    clauses.is_distinct = true;
    ++at;
  }
  const std::array<std::pair<std::string_view, Tokens*>, 6> order{{{"from", &clauses.from},
                                                                   {"where", &clauses.where},
                                                                   {"group", &clauses.group},
                                                                   {"having", &clauses.having},
                                                                   {"order", &clauses.order},
                                                                   {"limit", &clauses.limit}}};
  Tokens* open = &clauses.list;
  size_t begin = at;
  size_t next = 0;
  for (; at < tokens.size(); ++at) {
    if (tokens[at].depth != 0 || !tokens[at].is_word) continue;
    if (is_any(tokens[at], kOthers)) return std::nullopt;
    for (size_t clause = next; clause < order.size(); ++clause) {
      if (!is_word(tokens[at], order[clause].first)) continue;
      *open = tokens.subspan(begin, at - begin);
      open = order[clause].second;
      next = clause + 1;
      const bool has_by = open == &clauses.group || open == &clauses.order;
      if (has_by && (at + 1 >= tokens.size() || !is_word(tokens[at + 1], "by")))
        return std::nullopt;
      at += has_by ? 1 : 0;
      begin = at + 1;
      break;
    }
  }
  *open = tokens.subspan(std::min(begin, tokens.size()));
  // Several tables are joined, which is not our work.
  const bool is_one = !clauses.from.empty() && split_list(clauses.from).size() == 1;
  if (!is_one || clauses.list.empty()) return std::nullopt;
  return clauses;
}

/// An expression of the list, and the name of its column.
struct Item {
  Tokens expression;
  std::string name;
  bool has_alias = false;
};

std::string unquote_name(std::string_view text) {
  if (text.size() < 2 || !is_among(text[0], "\"`[")) return std::string(text);
  const char close = text[0] == '[' ? ']' : text[0];
  std::string name;
  for (size_t at = 1; at + 1 < text.size(); ++at) {
    name += text[at];
    if (text[at] == close) ++at;
  }
  return name;
}

bool is_name(const Token& token) {
  return token.is_word || is_among(token.text[0], "\"`[");
}

std::optional<Item> read_item(Tokens tokens) {
  if (tokens.empty()) return std::nullopt;
  Item item{tokens, {}, false};
  const size_t count = tokens.size();
  if (count > 2 && is_word(tokens[count - 2], "as") && is_name(tokens.back()) &&
      tokens.back().depth == tokens[0].depth) {
    item.expression = tokens.first(count - 2);
    item.has_alias = true;
  } else if (count > 1 && is_name(tokens.back()) && !is_word(tokens.back(), "end") &&
             tokens.back().depth == tokens[0].depth) {
    // `x AS y` without its AS; an operator or a point before the name makes it part of the
    // expression.
    const Token& before = tokens[count - 2];
    const bool ends = before.is_word || before.text == ")" || is_digit(before.text[0]) ||
                      is_among(before.text[0], "'\"`[");
    if (!ends || is_any(before, std::array<std::string_view, 8>{"not", "and", "or", "is", "like",
                                                                "in", "between", "case"})) {
      if (ends) return std::nullopt;
    } else {
      item.expression = tokens.first(count - 1);
      item.has_alias = true;
    }
  }
  if (item.has_alias) {
    item.name = unquote_name(tokens.back().text);
  } else {
    // A column is named by itself alone, without the table before it.
    const bool is_column =
        is_name(tokens.back()) && (count == 1 || (count == 3 && tokens[1].text == "."));
    item.name = is_column ? unquote_name(tokens.back().text) : std::string(join_source(tokens));
  }
  return item;
}

class Rewriter {
 public:
  Rewriter(std::vector<Tokens> keys, GroupForm& form) : keys_(std::move(keys)), form_(form) {}

  /// An expression over the groups. Nothing for what only SQLite can compute.
  std::optional<std::string> rewrite(Tokens tokens) {
    std::string text;
    bool was_replaced = false;
    for (size_t at = 0; at < tokens.size();) {
      const auto key = find_key(tokens.subspan(at), at == 0 ? nullptr : &tokens[at - 1]);
      std::string part;
      size_t length = 1;
      // Operators of two characters are two tokens.
      bool is_joined = at > 0 && tokens[at - 1].text.data() + tokens[at - 1].text.size() ==
                                     tokens[at].text.data();
      if (key) {
        part = quote(name_key(*key), '"');
        length = keys_[*key].size();
      } else if (is_aggregate(tokens.subspan(at))) {
        const auto taken = take_aggregate(tokens.subspan(at));
        if (!taken) return std::nullopt;
        part = quote(name_aggregate(taken->first), '"');
        length = taken->second;
      } else {
        if (is_any(tokens[at],
                   std::array<std::string_view, 4>{"select", "over", "filter", "collate"}))
          return std::nullopt;
        part = tokens[at].text;
      }
      is_joined = is_joined && length == 1 && part == tokens[at].text;
      if (!text.empty() && (!is_joined || was_replaced)) text += ' ';
      was_replaced = length != 1 || part != tokens[at].text;
      text += part;
      at += length;
    }
    return text;
  }

 private:
  /// The longest key that begins here.
  std::optional<size_t> find_key(Tokens tokens, const Token* before) const {
    if (before != nullptr && before->text == ".") return std::nullopt;
    std::optional<size_t> found;
    for (size_t index = 0; index < keys_.size(); ++index) {
      const Tokens key = keys_[index];
      if (key.size() > tokens.size() || !is_same(key, tokens.first(key.size()))) continue;
      // `a` is no key in `a.b`, `a(…)`.
      const bool goes_on = key.size() < tokens.size() && is_among(tokens[key.size()].text[0], ".(");
      if (!goes_on && (!found || keys_[*found].size() < key.size())) found = index;
    }
    return found;
  }

  static std::optional<Aggregate::Kind> find_kind(const Token& token) {
    constexpr std::array<std::pair<std::string_view, Aggregate::Kind>, 6> kKinds{
        {{"count", Aggregate::Kind::kCount},
         {"sum", Aggregate::Kind::kSum},
         {"total", Aggregate::Kind::kTotal},
         {"avg", Aggregate::Kind::kAverage},
         {"min", Aggregate::Kind::kMin},
         {"max", Aggregate::Kind::kMax}}};
    for (const auto& [name, kind] : kKinds) {
      if (is_word(token, name)) return kind;
    }
    return std::nullopt;
  }

  static bool is_aggregate(Tokens tokens) {
    return tokens.size() > 2 && find_kind(tokens[0]) && tokens[1].text == "(";
  }

  /// The index of the aggregate, and its tokens.
  std::optional<std::pair<size_t, size_t>> take_aggregate(Tokens tokens) {
    const size_t depth = tokens[1].depth;
    size_t end = 2;
    while (end < tokens.size() && (tokens[end].text != ")" || tokens[end].depth != depth)) ++end;
    if (end == tokens.size()) return std::nullopt;
    Tokens argument = tokens.subspan(2, end - 2);
    // A filter, or a window, makes it another function.
    if (end + 1 < tokens.size() &&
        is_any(tokens[end + 1], std::array<std::string_view, 2>{"filter", "over"}))
      return std::nullopt;
    Aggregate aggregate;
    aggregate.kind = *find_kind(tokens[0]);
    if (!argument.empty() && is_word(argument[0], "distinct")) {
      aggregate.is_distinct = true;
      argument = argument.subspan(1);
    }
    const bool is_all = argument.size() == 1 && argument[0].text == "*";
    if (is_all && (aggregate.kind != Aggregate::Kind::kCount || aggregate.is_distinct))
      return std::nullopt;
    if (!is_all && (argument.empty() || split_list(argument).size() != 1)) return std::nullopt;
    for (const Token& token : argument) {
      if (is_any(token, std::array<std::string_view, 2>{"select", "order"})) return std::nullopt;
    }
    if (!is_all) aggregate.argument = join_source(argument);
    const auto same =
        std::find_if(form_.aggregates.begin(), form_.aggregates.end(), [&](const Aggregate& some) {
          return some.kind == aggregate.kind && some.is_distinct == aggregate.is_distinct &&
                 some.argument == aggregate.argument;
        });
    const auto index = static_cast<size_t>(same - form_.aggregates.begin());
    if (same == form_.aggregates.end()) form_.aggregates.push_back(std::move(aggregate));
    return std::pair{index, end + 1};
  }

  std::vector<Tokens> keys_;
  GroupForm& form_;
};

/// The expression that a key stands for: that of an item, by its number or its name.
std::optional<Tokens> resolve_key(Tokens key, const std::vector<Item>& items,
                                  const std::function<bool(std::string_view)>& is_column) {
  if (key.empty()) return std::nullopt;
  if (key.size() > 1) return key;
  if (is_digit(key[0].text[0])) {
    const auto number = decimal(key[0].text, 5);
    if (!number || *number == 0 || *number > items.size()) return std::nullopt;
    return items[static_cast<size_t>(*number) - 1].expression;
  }
  const std::string name = unquote_name(key[0].text);
  if (is_column(name)) return key;
  for (const Item& item : items) {
    if (item.has_alias && lowered(item.name) == lowered(name)) return item.expression;
  }
  return std::nullopt;
}

}  // namespace

std::string name_key(size_t index) {
  return "sluice key " + std::to_string(index);
}

std::string name_aggregate(size_t index) {
  return "sluice aggregate " + std::to_string(index);
}

std::optional<GroupForm> read_group_form(std::string_view sql,
                                         const std::function<bool(std::string_view)>& is_column) {
  const std::vector<Token> tokens = read_tokens(sql);
  const auto clauses = read_clauses(tokens);
  if (!clauses) return std::nullopt;
  std::vector<Item> items;
  for (const Tokens part : split_list(clauses->list)) {
    auto item = read_item(part);
    // What stands for all columns is no key.
    if (!item || item->expression.back().text == "*") return std::nullopt;
    items.push_back(std::move(*item));
  }
  if (clauses->is_distinct && !clauses->group.empty()) return std::nullopt;
  std::vector<Tokens> keys;
  if (clauses->is_distinct) {
    for (const Item& item : items) keys.push_back(item.expression);
  } else {
    for (const Tokens part : split_list(clauses->group)) {
      const auto key = resolve_key(part, items, is_column);
      if (!key) return std::nullopt;
      keys.push_back(*key);
    }
  }
  GroupForm form;
  form.keys = keys.size();
  Rewriter rewriter(keys, form);
  std::string list;
  for (const Item& item : items) {
    const auto text = rewriter.rewrite(item.expression);
    if (!text) return std::nullopt;
    list += (list.empty() ? "" : ", ") + *text + " AS " + quote(item.name, '"');
  }
  form.outer = "SELECT " + list + " FROM " + quote(kGroupTable, '"');
  const std::array<std::pair<const char*, Tokens>, 3> rest{
      {{" WHERE ", clauses->having}, {" ORDER BY ", clauses->order}, {" LIMIT ", clauses->limit}}};
  for (const auto& [word, clause] : rest) {
    if (clause.empty()) continue;
    const auto text = rewriter.rewrite(clause);
    if (!text) return std::nullopt;
    form.outer += word + *text;
  }
  // Without groups SQLite is fast, unless it has to tell values apart.
  const bool is_worth =
      form.keys > 0 || std::any_of(form.aggregates.begin(), form.aggregates.end(),
                                   [](const Aggregate& some) { return some.is_distinct; });
  if (!is_worth || (clauses->is_distinct && !form.aggregates.empty())) return std::nullopt;
  const auto add = [&](std::string_view text) {
    form.list += form.list.empty() ? "" : ", ";
    form.list += text;
  };
  for (const Tokens key : keys) add(join_source(key));
  for (const Aggregate& aggregate : form.aggregates)
    add(aggregate.argument.empty() ? "1" : aggregate.argument);
  form.rest = " FROM " + std::string(join_source(clauses->from));
  if (!clauses->where.empty()) form.rest += " WHERE " + std::string(join_source(clauses->where));
  form.is_plain = std::count_if(tokens.begin(), tokens.end(),
                                [](const Token& some) { return is_word(some, "select"); }) == 1;
  return form;
}

}  // namespace sluice::tables
