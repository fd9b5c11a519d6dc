/** Nothing of one session is ever told to another: not a byte, not an id, not a name, and not that it is there. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/index.js";
import { SluiceServer } from "../../../web/src/serve.js";
import { byHeaders, Visitor, type Person, type ShownArtifact } from "./visitor.js";
import { amount } from "../../support/full.js";
import { addressesWith } from "./ways-in/register.js";

const LIMITS = { requestsPerMinute: 1_000_000, sessionsPerMinute: 100_000, listeners: 1000, concurrentRequests: 1000 };

interface Other {
  readonly visitor: Visitor;
  readonly artifact: ShownArtifact;
  readonly traced: ShownArtifact;
  readonly file: { readonly id: string };
  /** What nobody else may ever see. */
  readonly secrets: readonly string[];
}

/** Somebody who has stored something in every place there is. */
async function settled(server: SluiceServer, person: Person, mark: string): Promise<Other> {
  const visitor = await Visitor.of(server, person);
  const artifact = await visitor.upload(`content ${mark}`, `?filename=name-${mark}.txt&namespace=space-${mark}`);
  const traced = await visitor.upload(`traced ${mark}`, `?filename=traced-${mark}.txt&trace=trace-${mark}`);
  const put = { method: "POST", body: `file ${mark}` };
  const { file } = await visitor.json<{ file: { id: string } }>(`/files?filename=file-${mark}.txt`, put);
  const ids = [artifact, traced].flatMap(({ id, sha256 }) => [id, sha256]);
  return { visitor, artifact, traced, file, secrets: [mark, visitor.id, visitor.token, file.id, ...ids] };
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** Addresses with something of somebody in them; `{id}` and others stand for what one of them has. */
const ADDRESSES = [
  "/artifacts",
  "/artifacts?trace=*",
  "/artifacts?trace={trace}",
  "/artifacts/{id}",
  "/artifacts/{id}?download",
  "/artifacts/{id}?trace={trace}",
  "/artifacts/{id}/meta",
  "/artifacts/{id}/meta?trace={trace}",
  "/files",
  "/files?filename={name}",
  "/files/{file}",
  "/files/{file}/meta",
  "/files/{file}/versions",
  "/sessions/{session}",
  "/resources/{space}",
  "/resources/{space}/templates",
  "/resources/{space}/completions",
  "/resources/{space}/artifact%3A%2F%2F{id}",
  "/resources/{space}/artifact%3A%2F%2F{id}/subscription",
  "/tools",
  "/tools/{space}_artifact_read",
  "/tools/{space}_artifact_edit",
  "/sources",
  "/sources/{space}/connection",
  "/events",
  "/usage",
  "/sessions",
  "/calls/{session}",
  "/chat/resume",
  "/chat/{session}",
  "/pauses/{session}",
  "/mcp/{space}",
  "/raw/{space}",
  "/{id}",
] as const;
const BODIES = ["", "{}", '{"filename":"mine.txt"}', '{"answer":null}', '{"args":{},"trace":null}', "bytes"] as const;

/** A request of one session, with what another has in its address. */
const asked = fc.record({
  address: fc.constantFrom(...ADDRESSES),
  method: fc.constantFrom(...METHODS),
  body: fc.constantFrom(...BODIES),
  isTraced: fc.boolean(),
  range: fc.constantFrom("", "bytes=0-3", "bytes=999-"),
});
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;

function initOf({ method, body, range }: Asked): RequestInit {
  const headers: Record<string, string> = { "content-type": "application/json", ...(range !== "" && { range }) };
  const hasBody = method !== "GET" && method !== "HEAD" && body !== "";
  return { method, headers, ...(hasBody && { body }) };
}

function filled(address: string, values: Readonly<Record<string, string>>): string {
  return address.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** Status, headers and beginning of an answer, however long it would last. */
async function answered(visitor: Visitor, path: string, init: RequestInit): Promise<string> {
  const response = await visitor.ask(path, init);
  const head = `${response.status} ${JSON.stringify([...response.headers])}`;
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true)
    return head + (await response.text());
  await response.body?.cancel();
  return head;
}

/** What the one whom `settled` made has, for addresses. */
function theirsOf(theirs: Other, isTraced = false): Record<string, string> {
  return {
    id: (isTraced ? theirs.traced : theirs.artifact).id,
    trace: "trace-k7Qz2Xw9",
    file: theirs.file.id,
    name: "file-k7Qz2Xw9.txt",
    session: theirs.visitor.id,
    space: "space-k7Qz2Xw9",
  };
}

function another(id = ""): string {
  return id.replace(/[0-9a-f]$/, (digit) => (digit === "0" ? "1" : "0"));
}

/** The same of what nobody has. */
function nobodysOf(said: Record<string, string>): Record<string, string> {
  return {
    ...said,
    id: another(said["id"]),
    trace: "trace-z0Zz0Zz0",
    file: another(said["file"]),
    session: crypto.randomUUID(),
    space: "space-z0Zz0Zz0",
  };
}

/** An address without what it is of: `/files/*`. */
const shapeOf = (address: string): string => address.replace(/\?.*/, "").replaceAll(/\/[^/]*[{%][^/]*/g, "/*");

test("every address that has something of a session is asked for", () => {
  const driven = new Set(ADDRESSES.map(shapeOf));
  const had = addressesWith("isolation").map((address) => shapeOf(address.split(" ")[1] ?? ""));
  expect(had.filter((each) => !driven.has(each))).toEqual([]);
});

const PEOPLE: readonly (readonly [string, Person, Person])[] = [
  ["two people", { user: "ada" }, { user: "bob" }],
  ["two tenants with one user id", { user: "ada", tenant: "one" }, { user: "ada", tenant: "two" }],
  ["no tenant and one called null", { user: "ada" }, { user: "ada", tenant: "null" }],
];

test.each(PEOPLE)("of %s, neither finds anything of the other, whatever is asked", async (_, one, other) => {
  const retention = { max_artifacts_per_session: 100 };
  await using server = new SluiceServer({
    store: new MemoryArtifactStore({ retention: null }),
    filesStore: new MemoryArtifactStore({ retention: null }),
    retention,
    authenticate: byHeaders,
    limits: LIMITS,
  });
  const theirs = await settled(server, one, "k7Qz2Xw9");
  const mine = (await settled(server, other, "p4Vn8Lr3")).visitor;
  await fc.assert(
    fc.asyncProperty(asked, async (request) => {
      const init = initOf(request);
      const said = theirsOf(theirs, request.isTraced);
      const answer = await answered(mine, filled(request.address, said), init);
      // What it named itself is told back where it has stored something by that name.
      const told = theirs.secrets.filter((secret) => answer.includes(secret));
      const own = Object.values(said).join(" ");
      expect(told.filter((secret) => !own.includes(secret))).toEqual([]);
      // Nothing is changed by looking: one that there is not, anywhere, looks the same.
      const isLook = request.method === "GET" || request.method === "HEAD";
      const isCompared = isLook && /\{(?:id|file|session|space)\}/.test(request.address);
      const nowhere = filled(request.address, nobodysOf(said));
      expect(isCompared ? await answered(mine, nowhere, init) : answer).toBe(answer);
    }),
    { numRuns: amount(80, 400) },
  );

  const { artifacts } = await theirs.visitor.list("?trace=*");
  expect(artifacts.map(({ id }) => id).toSorted()).toEqual([theirs.artifact.id, theirs.traced.id].toSorted());
  expect(await (await theirs.visitor.ask(`/artifacts/${theirs.artifact.id}`)).text()).toBe("content k7Qz2Xw9");
  expect(await (await theirs.visitor.ask(`/files/${theirs.file.id}`)).text()).toBe("file k7Qz2Xw9");
});

test("every address with something of another is answered to the byte as one with something that is nowhere", async () => {
  await using server = new SluiceServer({
    store: new MemoryArtifactStore(),
    filesStore: new MemoryArtifactStore(),
    authenticate: byHeaders,
    limits: LIMITS,
  });
  const theirs = await settled(server, { user: "ada", tenant: "one" }, "k7Qz2Xw9");
  const mine = (await settled(server, { user: "ada", tenant: "two" }, "p4Vn8Lr3")).visitor;
  const told: string[] = [];
  for (const address of ADDRESSES.filter((each) => /\{(?:id|file|session|space)\}/.test(each))) {
    for (const method of METHODS) {
      for (const body of method === "GET" || method === "HEAD" ? BODIES.slice(0, 1) : BODIES) {
        const init = initOf({ address, method, body, isTraced: false, range: "" });
        const [there, nowhere] = [theirsOf(theirs), nobodysOf(theirsOf(theirs))];
        const answers = [
          await answered(mine, filled(address, there), init),
          await answered(mine, filled(address, nowhere), init),
        ];
        if (answers[0] !== answers[1]) told.push(`${method} ${address} ${body}: ${answers.join(" but ")}`);
      }
    }
  }
  expect(told).toEqual([]);
  expect(await theirs.visitor.end()).toBe(2);
});

test("two sessions of one person share files, and nothing else", async () => {
  await using server = new SluiceServer({
    store: new MemoryArtifactStore(),
    filesStore: new MemoryArtifactStore(),
    authenticate: byHeaders,
  });
  const one = await settled(server, { user: "ada" }, "k7Qz2Xw9");
  const other = await Visitor.of(server, { user: "ada" });
  expect((await other.list("?trace=*")).artifacts).toEqual([]);
  expect((await other.ask(`/artifacts/${one.artifact.id}`)).status).toBe(404);
  expect((await other.ask(`/files/${one.file.id}`)).status).toBe(200);
});

test("events of one session are heard in no other", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), authenticate: byHeaders });
  const ada = await Visitor.of(server, { user: "ada", tenant: "one" });
  const other = await Visitor.of(server, { user: "ada", tenant: "two" });
  const events = await other.ask("/events");
  const heard = events.text();
  for (let at = 0; at < 20; at++) await ada.upload(`k7Qz2Xw9 ${at}`);
  await other.upload("own");
  await other.end();
  const text = await heard;
  expect(text.match(/^event: artifact_stored$/gm)).toHaveLength(1);
  expect(text).not.toContain(ada.id);
});

test("a token opens one session, and none where it was changed", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  await using stranger = new SluiceServer({ store: new MemoryArtifactStore() });
  const { token } = await Visitor.of(server);
  const status = async (said: string, at = server): Promise<number> => {
    const headers = { authorization: `Bearer ${said}` };
    return (await at.fetch(new Request("http://127.0.0.1:8080/artifacts", { headers }))).status;
  };
  expect([await status(token), await status(token, stranger)]).toEqual([200, 401]);
  const [head = "", body = "", sign = ""] = token.split(".");
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
  for (const forged of [
    `${none}.${body}.`,
    `${none}.${body}.${sign}`,
    `${head}.${body}.`,
    `${head}.${sign}.${body}`,
    body,
  ]) {
    expect(await status(forged)).toBe(401);
  }
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: body.length - 2 }),
      fc.constantFrom("A", "Z", "a", "z", "0", "9", "-", "_"),
      async (at, letter) => {
        const changed = body.slice(0, at) + letter + body.slice(at + 1);
        fc.pre(changed !== body);
        expect(await status([head, changed, sign].join("."))).toBe(401);
      },
    ),
  );
});
