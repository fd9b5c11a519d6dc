/**
 * Thirty questions that people ask of tables, ten each over a JSON array, a nested JSON document and CSV, in five languages. An
 * answer is a list of rows. The tests hold ours against the same answers.
 *
 * A language that cannot say it has null.
 * @module
 */

/** An array of objects. */
export const ORDERS = [
  { id: 1, customer: "Ann Lee", city: "Paris", status: "paid", total: 120.5, created: "2026-01-03", coupon: null },
  { id: 2, customer: "Bob Ray", city: "Rome", status: "open", total: 80, created: "2026-01-04", coupon: "NEW10" },
  { id: 3, customer: "Ann Lee", city: "Paris", status: "paid", total: 45.25, created: "2026-01-17" },
  { id: 4, customer: "Cy Moss", city: "Oslo", status: "refunded", total: 300, created: "2026-02-01", coupon: "VIP" },
  { id: 5, customer: "Dana Fox", city: "Rome", status: "paid", total: 12, created: "2026-02-02", coupon: null },
  { id: 6, customer: "Joanna Poe", city: "Oslo", status: "paid", total: 99.75, created: "2026-02-11" },
  { id: 7, customer: "Bob Ray", city: "Rome", status: "open", total: 260, created: "2026-02-14", coupon: "NEW10" },
  { id: 8, customer: "Eve Orr", city: "Paris", status: "paid", total: 75, created: "2026-03-01" },
];

/** A document with its rows inside, whose members are objects and arrays. */
export const REPOSITORIES = {
  generated: "2026-03-02",
  data: {
    repositories: [
      {
        name: "gate",
        stars: 1520,
        owner: { login: "acme", type: "Organization" },
        license: { key: "mit" },
        topics: ["json", "stream"],
      },
      { name: "lens", stars: 310, owner: { login: "ada", type: "User" }, license: null, topics: [] },
      {
        name: "mill",
        stars: 2750,
        owner: { login: "acme", type: "Organization" },
        license: { key: "apache-2.0" },
        topics: ["build"],
      },
      {
        name: "node",
        stars: 98,
        owner: { login: "bo", type: "User" },
        license: { key: "mit" },
        topics: ["graph", "json", "ui"],
      },
      {
        name: "oven",
        stars: 1200,
        owner: { login: "cook", type: "Organization" },
        license: null,
        topics: ["build", "cache"],
      },
      { name: "pump", stars: 122, owner: { login: "ada", type: "User" }, license: { key: "mit" }, topics: ["stream"] },
    ],
  },
};

/** A table with empty cells and codes that look like numbers. */
export const PEOPLE = `name,team,salary,start,zip,remote
Ada,core,72000,2018-05-01,01234,true
Ben,core,65000,2021-09-15,94107,false
"Cruz, Di",sales,48000,2019-11-30,10115,true
Eli,sales,,2023-02-01,00501,false
Fay,web,58000,2020-01-01,75001,true
Gus,web,61000.50,2017-07-07,01234,true
Hal,,39000,2024-03-18,20095,false
`;

const repositories = ".data.repositories";

/** @type {readonly { ask: string, of: "orders" | "repositories" | "people", answer: unknown, sql: string, jq: string | null, jsonata: string | null, jmespath: string | null }[]} */
export const QUESTIONS = [
  {
    ask: "Which orders are paid?",
    of: "orders",
    answer: [[1], [3], [5], [6], [8]],
    sql: "SELECT id FROM orders WHERE status = 'paid'",
    jq: '.[] | select(.status == "paid") | .id',
    jsonata: '$[status = "paid"].id',
    jmespath: "[?status == 'paid'].id",
  },
  {
    ask: "How many orders are there of each status?",
    of: "orders",
    answer: [
      ["open", 2],
      ["paid", 5],
      ["refunded", 1],
    ],
    sql: "SELECT status, COUNT(*) FROM orders GROUP BY status ORDER BY status",
    jq: "group_by(.status)[] | [.[0].status, length]",
    jsonata: "$each(${status: $count(id)}, function($n, $s) {[$s, $n]})^($[0])",
    jmespath: "items(group_by(@, &status)) | sort_by(@, &[0])[*].[[0], length([1])]",
  },
  {
    ask: "What is the total of the paid orders?",
    of: "orders",
    answer: [[352.5]],
    sql: "SELECT SUM(total) FROM orders WHERE status = 'paid'",
    jq: 'map(select(.status == "paid").total) | add',
    jsonata: '$sum($[status = "paid"].total)',
    jmespath: "sum([?status == 'paid'].total)",
  },
  {
    ask: "Which are the three largest orders?",
    of: "orders",
    answer: [
      [4, 300],
      [7, 260],
      [1, 120.5],
    ],
    sql: "SELECT id, total FROM orders ORDER BY total DESC LIMIT 3",
    jq: "sort_by(-.total)[:3][] | [.id, .total]",
    jsonata: "$^(>total)[[0..2]].[id, total]",
    jmespath: "reverse(sort_by(@, &total))[:3].[id, total]",
  },
  {
    ask: "Which cities are there?",
    of: "orders",
    answer: [["Oslo"], ["Paris"], ["Rome"]],
    sql: "SELECT DISTINCT city FROM orders ORDER BY city",
    jq: "map(.city) | unique[]",
    jsonata: "$sort($distinct(city))",
    jmespath: "sort(keys(group_by(@, &city)))",
  },
  {
    ask: "What is the average order of each city?",
    of: "orders",
    answer: [
      ["Oslo", 199.88],
      ["Paris", 80.25],
      ["Rome", 117.33],
    ],
    sql: "SELECT city, ROUND(AVG(total), 2) FROM orders GROUP BY city ORDER BY city",
    jq: "group_by(.city)[] | [.[0].city, ((map(.total) | add / length) * 100 | round / 100)]",
    // $round rounds half to even.
    jsonata: "$each(${city: $average(total)}, function($a, $c) {[$c, $floor($a * 100 + 0.5) / 100]})^($[0])",
    jmespath: "items(group_by(@, &city)) | sort_by(@, &[0])[*].[[0], floor(avg([1][].total) * `100` + `0.5`) / `100`]",
  },
  {
    ask: "Which orders have no coupon?",
    of: "orders",
    answer: [[1], [3], [5], [6], [8]],
    sql: "SELECT id FROM orders WHERE coupon IS NULL",
    jq: ".[] | select(.coupon == null) | .id",
    jsonata: "$[$not($exists(coupon)) or coupon = null].id",
    jmespath: "[?coupon == null].id",
  },
  {
    ask: "How many orders are of January 2026?",
    of: "orders",
    answer: [[3]],
    sql: "SELECT COUNT(*) FROM orders WHERE created LIKE '2026-01-%'",
    jq: 'map(select(.created | startswith("2026-01-"))) | length',
    jsonata: "$count($[$substring(created, 0, 8) = '2026-01-'])",
    jmespath: "length([?starts_with(created, '2026-01-')])",
  },
  {
    ask: "Which customers ordered more than once?",
    of: "orders",
    answer: [
      ["Ann Lee", 2],
      ["Bob Ray", 2],
    ],
    sql: "SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer HAVING n > 1 ORDER BY customer",
    jq: "group_by(.customer)[] | select(length > 1) | [.[0].customer, length]",
    jsonata: "$each(${customer: $count(id)}, function($n, $c) {[$c, $n]})[$[1] > 1]^($[0])",
    jmespath: "items(group_by(@, &customer))[?length([1]) > `1`] | sort_by(@, &[0])[*].[[0], length([1])]",
  },
  {
    ask: 'Which customers have "ann" in their name, in any case?',
    of: "orders",
    answer: [["Ann Lee"], ["Joanna Poe"]],
    sql: "SELECT DISTINCT customer FROM orders WHERE customer LIKE '%ann%' ORDER BY customer",
    jq: 'map(.customer | select(ascii_downcase | contains("ann"))) | unique[]',
    jsonata: "$sort($distinct($[$contains($lowercase(customer), 'ann')].customer))",
    jmespath: "sort(keys(group_by([?contains(lower(customer), 'ann')], &customer)))",
  },
  {
    ask: "Which repositories have more than 1,000 stars?",
    of: "repositories",
    answer: [["mill"], ["gate"], ["oven"]],
    sql: "SELECT name FROM repositories WHERE stars > 1000 ORDER BY stars DESC",
    jq: `[${repositories}[] | select(.stars > 1000)] | sort_by(-.stars)[].name`,
    jsonata: "data.repositories[stars > 1000]^(>stars).name",
    jmespath: "reverse(sort_by(data.repositories[?stars > `1000`], &stars))[].name",
  },
  {
    ask: "How many stars does each owner have?",
    of: "repositories",
    answer: [
      ["acme", 4270],
      ["cook", 1200],
      ["ada", 432],
      ["bo", 98],
    ],
    sql: "SELECT owner ->> 'login' AS login, SUM(stars) AS n FROM repositories GROUP BY login ORDER BY n DESC",
    jq: `[${repositories} | group_by(.owner.login)[] | [.[0].owner.login, (map(.stars) | add)]] | sort_by(-.[1])[]`,
    jsonata: "$each(data.repositories{owner.login: $sum(stars)}, function($n, $o) {[$o, $n]})^(>$[1])",
    jmespath: "items(group_by(data.repositories, &owner.login))[*].[[0], sum([1][].stars)] | reverse(sort_by(@, &[1]))",
  },
  {
    ask: "How many repositories have no licence?",
    of: "repositories",
    answer: [[2]],
    sql: "SELECT COUNT(*) FROM repositories WHERE license IS NULL",
    jq: `[${repositories}[] | select(.license == null)] | length`,
    jsonata: "$count(data.repositories[license = null])",
    jmespath: "length(data.repositories[?license == null])",
  },
  {
    ask: "Which repository of an organisation has the most stars?",
    of: "repositories",
    answer: [["mill"]],
    sql: "SELECT name FROM repositories WHERE owner ->> 'type' = 'Organization' ORDER BY stars DESC LIMIT 1",
    jq: `[${repositories}[] | select(.owner.type == "Organization")] | max_by(.stars).name`,
    jsonata: "(data.repositories[owner.type = 'Organization']^(>stars))[0].name",
    jmespath: "max_by(data.repositories[?owner.type == 'Organization'], &stars).name",
  },
  {
    ask: 'Which repositories have the topic "json"?',
    of: "repositories",
    answer: [["gate"], ["node"]],
    sql: "SELECT name FROM repositories WHERE EXISTS (SELECT 1 FROM json_each(topics) WHERE value = 'json')",
    jq: `${repositories}[] | select(.topics | index("json")) | .name`,
    jsonata: "data.repositories['json' in topics].name",
    jmespath: "data.repositories[?contains(topics, 'json')].name",
  },
  {
    ask: "How many topics does each repository have?",
    of: "repositories",
    answer: [
      ["gate", 2],
      ["lens", 0],
      ["mill", 1],
      ["node", 3],
      ["oven", 2],
      ["pump", 1],
    ],
    sql: "SELECT name, JSON_ARRAY_LENGTH(topics) FROM repositories",
    jq: `${repositories}[] | [.name, (.topics | length)]`,
    jsonata: "data.repositories.[name, $count(topics)]",
    jmespath: "data.repositories[].[name, length(topics)]",
  },
  {
    ask: "Which licences are used, and how often?",
    of: "repositories",
    answer: [
      ["mit", 3],
      ["apache-2.0", 1],
    ],
    sql: "SELECT license ->> 'key' AS k, COUNT(*) FROM repositories WHERE license IS NOT NULL GROUP BY k ORDER BY COUNT(*) DESC",
    jq: `[${repositories} | map(select(.license)) | group_by(.license.key)[] | [.[0].license.key, length]] | sort_by(-.[1])[]`,
    jsonata:
      "$each(data.repositories[license != null]{license.key: $count(name)}, function($n, $k) {[$k, $n]})^(>$[1])",
    jmespath:
      "items(group_by(data.repositories[?license], &license.key))[*].[[0], length([1])] | reverse(sort_by(@, &[1]))",
  },
  {
    ask: "What are the stars of each in thousands, with one decimal?",
    of: "repositories",
    answer: [
      ["gate", 1.5],
      ["lens", 0.3],
      ["mill", 2.8],
      ["node", 0.1],
      ["oven", 1.2],
      ["pump", 0.1],
    ],
    sql: "SELECT name, ROUND(stars / 1000.0, 1) FROM repositories",
    jq: `${repositories}[] | [.name, (.stars / 100 | round / 10)]`,
    jsonata: "data.repositories.[name, $floor(stars / 100 + 0.5) / 10]",
    jmespath: "data.repositories[].[name, floor(stars / `100` + `0.5`) / `10`]",
  },
  {
    ask: "What is on the second page of two, by name?",
    of: "repositories",
    answer: [["mill"], ["node"]],
    sql: "SELECT name FROM repositories ORDER BY name LIMIT 2 OFFSET 2",
    jq: `${repositories} | sort_by(.name)[2:4][].name`,
    jsonata: "(data.repositories^(name))[[2..3]].name",
    jmespath: "sort_by(data.repositories, &name)[2:4].name",
  },
  {
    ask: "What percentage of the stars is of organisations?",
    of: "repositories",
    answer: [[91]],
    sql: "SELECT ROUND(100.0 * SUM(CASE WHEN owner ->> 'type' = 'Organization' THEN stars ELSE 0 END) / SUM(stars)) FROM repositories",
    jq: `${repositories} | (map(select(.owner.type == "Organization").stars) | add) / (map(.stars) | add) * 100 | round`,
    jsonata: "$round($sum(data.repositories[owner.type = 'Organization'].stars) / $sum(data.repositories.stars) * 100)",
    jmespath:
      "floor((sum(data.repositories[?owner.type == 'Organization'].stars) / sum(data.repositories[].stars)) * `100` + `0.5`)",
  },
  {
    ask: "How many people are in each team?",
    of: "people",
    answer: [
      ["core", 2],
      ["sales", 2],
      ["web", 2],
      [null, 1],
    ],
    sql: "SELECT team, COUNT(*) AS n FROM people GROUP BY team ORDER BY n DESC, team",
    jq: "[group_by(.team)[] | [.[0].team, length]] | sort_by(-.[1])[]",
    // A key of an object cannot be null.
    jsonata: "$map($distinct(team), function($t) {[$t, $count($$[team = $t])]})^(>$[1])",
    // group_by wants text.
    jmespath: null,
  },
  {
    ask: "What is the highest salary of each team?",
    of: "people",
    answer: [
      ["core", 72000],
      ["sales", 48000],
      ["web", 61000.5],
    ],
    sql: "SELECT team, MAX(salary) FROM people WHERE team IS NOT NULL GROUP BY team ORDER BY team",
    jq: "map(select(.team)) | group_by(.team)[] | [.[0].team, (map(.salary) | max)]",
    jsonata: "$each($[team != null]{team: $max($[salary != null].salary)}, function($m, $t) {[$t, $m]})^($[0])",
    jmespath: "items(group_by([?team], &team)) | sort_by(@, &[0])[*].[[0], max([1][?salary].salary)]",
  },
  {
    ask: "Who started before 2020?",
    of: "people",
    answer: [["Gus"], ["Ada"], ["Cruz, Di"]],
    sql: "SELECT name FROM people WHERE start < '2020-01-01' ORDER BY start",
    jq: '[.[] | select(.start < "2020-01-01")] | sort_by(.start)[].name',
    jsonata: "$[start < '2020-01-01']^(start).name",
    // Its < compares numbers alone; text can be sorted, but not compared.
    jmespath: null,
  },
  {
    ask: "Who lives in 01234?",
    of: "people",
    answer: [["Ada"], ["Gus"]],
    sql: "SELECT name FROM people WHERE zip = '01234'",
    jq: '.[] | select(.zip == "01234") | .name',
    jsonata: '$[zip = "01234"].name',
    jmespath: "[?zip == '01234'].name",
  },
  {
    ask: "What is the average salary of those who work remotely?",
    of: "people",
    answer: [[59750.125]],
    sql: "SELECT AVG(salary) FROM people WHERE remote = 'true'",
    jq: 'map(select(.remote == "true" and .salary).salary) | add / length',
    jsonata: "$average($[remote = 'true' and salary != null].salary)",
    jmespath: "avg([?remote == 'true' && salary].salary)",
  },
  {
    ask: "Whose salary is missing?",
    of: "people",
    answer: [["Eli"]],
    sql: "SELECT name FROM people WHERE salary IS NULL",
    jq: ".[] | select(.salary == null) | .name",
    jsonata: "$[salary = null].name",
    jmespath: "[?salary == null].name",
  },
  {
    ask: "What do all salaries come to?",
    of: "people",
    answer: [[343000.5]],
    sql: "SELECT SUM(salary) FROM people",
    jq: "map(.salary) | add",
    jsonata: "$sum($[salary != null].salary)",
    jmespath: "sum([?salary].salary)",
  },
  {
    ask: "Which teams earn more than 50,000 on average?",
    of: "people",
    answer: [["core"], ["web"]],
    sql: "SELECT team FROM people GROUP BY team HAVING AVG(salary) > 50000 ORDER BY team",
    jq: "group_by(.team)[] | select((map(.salary | values) | add / length) > 50000) | .[0].team",
    jsonata:
      "$each($[team != null and salary != null]{team: $average(salary)}, function($a, $t) {$a > 50000 ? $t})^($)",
    jmespath: "items(group_by([?team && salary], &team))[?avg([1][].salary) > `50000`] | sort([*][0])",
  },
  {
    ask: "Who are the three that earn most?",
    of: "people",
    answer: [
      ["Ada", 72000],
      ["Ben", 65000],
      ["Gus", 61000.5],
    ],
    sql: "SELECT name, salary FROM people ORDER BY salary DESC LIMIT 3",
    jq: "sort_by(-(.salary // 0))[:3][] | [.name, .salary]",
    jsonata: "($[salary != null]^(>salary))[[0..2]].[name, salary]",
    jmespath: "reverse(sort_by([?salary], &salary))[:3].[name, salary]",
  },
  {
    ask: "How many earn below 50,000, below 65,000, and more?",
    of: "people",
    answer: [
      ["high", 2],
      ["low", 2],
      ["middle", 2],
    ],
    sql: "SELECT CASE WHEN salary < 50000 THEN 'low' WHEN salary < 65000 THEN 'middle' ELSE 'high' END AS band, COUNT(*) FROM people WHERE salary IS NOT NULL GROUP BY band ORDER BY band",
    jq: 'map(select(.salary) | if .salary < 50000 then "low" elif .salary < 65000 then "middle" else "high" end) | group_by(.)[] | [.[0], length]',
    jsonata:
      "$each($[salary != null]{(salary < 50000 ? 'low' : salary < 65000 ? 'middle' : 'high'): $count(name)}, function($n, $b) {[$b, $n]})^($[0])",
    jmespath:
      "[['high', length([?salary && salary >= `65000`])], ['low', length([?salary && salary < `50000`])], ['middle', length([?salary && salary >= `50000` && salary < `65000`])]]",
  },
];
