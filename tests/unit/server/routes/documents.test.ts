/** Documents of tools over HTTP: read, queried, taken out of archives, edited and passed on, each session for itself. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { listen } from "../../../../web/src/serve.js";
import { office, PRICES, shownIn, urisIn, type Office } from "../../../support/office.js";
import { asked, modelOf } from "../chat/chatting.js";
import { calledOnce, listening, program, served, type Serving } from "../sources/serving.js";
import { Visitor, type ShownArtifact } from "../visitor.js";

const encoder = new TextEncoder();

interface Called {
  readonly observation: string;
  readonly artifacts: readonly ShownArtifact[];
  readonly is_error: boolean;
}

let place: Office;

beforeEach(async () => {
  place = await office();
});

function serving(more: Parameters<typeof served>[0] = {}): Serving {
  return served({ sources: [program("office", place.connection)], ...more });
}

/** A session of somebody, over a real connection. */
async function connected({ server }: Serving, user = "ada"): Promise<Visitor> {
  const listener = await listen(server, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => listener[Symbol.asyncDispose]());
  return Visitor.at(listener.port, { user });
}

async function called(by: Visitor, tool: string, args: object): Promise<Called> {
  const answer = await calledOnce(by, `office.${tool}`, args);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return JSON.parse(text) as Called;
}

/** Has the source give a file; gives the URI of what was stored of it. */
async function fileOf(by: Visitor, name: string): Promise<string> {
  const { artifacts } = await called(by, "file", { name });
  return `artifact://${artifacts[0]?.id}`;
}

async function bytesOf(by: Visitor, id: string): Promise<Uint8Array> {
  return new Uint8Array(await (await by.ask(`/artifacts/${id}`)).arrayBuffer());
}

test("a page, a sheet and a file of an archive are read, and an edit goes to the next tool, byte for byte", async () => {
  const ada = await connected(serving());
  const pdf = await fileOf(ada, "report.pdf");
  const page = await called(ada, "artifact_read", { uri: pdf, pages: "2" });
  expect(shownIn(page.observation)).toBe("Section 2\nThe warranty lasts 42 months.\n");
  const query = "SELECT city, SUM(amount) AS total FROM rows GROUP BY city";
  const uri = await fileOf(ada, "sales.xlsx");
  expect(shownIn((await called(ada, "artifact_read", { uri, sheet: "Q2", query })).observation)).toBe(
    "city,total\nBern,35\nOslo,25",
  );

  const zip = await fileOf(ada, "bundle.zip");
  const entry = await called(ada, "artifact_read", { uri: zip, entry: "data/prices.csv" });
  expect(entry.artifacts).toMatchObject([{ filename: "prices.csv", mime_type: "text/csv", size_bytes: PRICES.length }]);
  const taken = entry.artifacts[0]?.id ?? "";
  const edited = await called(ada, "artifact_edit", { uri: taken, add_rows: [{ item: "Tea", price: "4.20" }] });
  const copy = edited.artifacts[0]?.id ?? "";
  await called(ada, "save", { name: "out.csv", data: `artifact://${copy}` });
  const wanted = encoder.encode(`${PRICES}Tea,4.20\n`);
  expect(await place.read("out.csv")).toEqual(wanted);
  expect(await bytesOf(ada, copy)).toEqual(wanted);
  expect(await bytesOf(ada, taken)).toEqual(encoder.encode(PRICES));
  expect([page, entry, edited].map(({ is_error }) => is_error)).toEqual([false, false, false]);
  expect(JSON.stringify([page, entry, edited])).not.toMatch(/scope|ada|stored_at/);

  // The session is told of what the tools returned, of the file and of the edit, in that order; of texts of documents it is not.
  await using events = await listening(ada);
  const told: string[] = [];
  while (told.length < 5) {
    const { artifact } = (await events.next("artifact_stored")) as unknown as { readonly artifact: ShownArtifact };
    told.push(artifact.id);
  }
  expect(told.slice(3)).toEqual([taken, copy]);
  expect(told.slice(0, 3).map((id) => `artifact://${id}`)).toEqual([pdf, uri, zip]);
});

test("a request for an expired artifact says not to retry", async () => {
  let now = 1_800_000_000_000;
  const store = new MemoryArtifactStore({ clock: () => now, retention: { ttl_seconds: 60 } });
  const ada = await connected(serving({ store }));
  const uri = await fileOf(ada, "report.pdf");
  await called(ada, "artifact_read", { uri, pages: "1" });
  now += 3_600_000;
  for (const [tool, args] of [
    ["artifact_read", { uri, pages: "1" }],
    ["artifact_edit", { uri, old_string: "a", new_string: "b" }],
  ] as const) {
    const answer = await called(ada, tool, args);
    expect(answer).toMatchObject({ is_error: true, artifacts: [] });
    expect(answer.observation).toContain("has expired. Do not retry; call the tool that made it.");
  }
});

describe("the text of a document", () => {
  test("that was made in one session is found in no other, whoever asks by whichever id", async () => {
    const both = serving();
    const ada = await connected(both);
    const pdf = await fileOf(ada, "report.pdf");
    const zip = await fileOf(ada, "bundle.zip");
    const read = await called(ada, "artifact_read", { uri: pdf });
    const entry = await called(ada, "artifact_read", { uri: zip, entry: "notes.txt" });
    const uris = [...new Set([read, entry].flatMap(({ observation }) => urisIn(observation)))];
    expect(uris).toHaveLength(4);
    for (const user of ["bob", "ada"]) {
      const other = await connected(both, user);
      for (const uri of uris) {
        const answer = await called(other, "artifact_read", { uri });
        expect(answer).toMatchObject({ is_error: true, artifacts: [] });
        expect(answer.observation).toContain("There is no artifact");
        expect((await other.ask(`/artifacts/${uri.slice("artifact://".length)}`)).status).toBe(404);
      }
      expect((await other.list()).artifacts).toEqual([]);
    }
  });

  test("is made again for another user of the same document, and outlives the first one's session", async () => {
    const both = serving();
    const [ada, bob] = [await connected(both), await connected(both, "bob")];
    const page = async (by: Visitor): Promise<string> => {
      const uri = await fileOf(by, "report.pdf");
      return shownIn((await called(by, "artifact_read", { uri, pages: "2" })).observation);
    };
    for (const by of [ada, bob]) expect(await page(by)).toContain("42 months");
    const ids = async (by: Visitor): Promise<readonly string[]> => (await by.list()).artifacts.map(({ id }) => id);
    expect(await ids(ada)).toHaveLength(2);
    expect((await ids(bob)).toSorted()).toEqual((await ids(ada)).toSorted());
    expect(await ada.end()).toBe(2);
    expect(await page(bob)).toContain("42 months");
    expect(await ids(bob)).toHaveLength(2);
  });
});

test("a chat tells of the files and the edits of its run", async () => {
  const steps = [
    () => ({ name: "office_file", args: { name: "bundle.zip" } }),
    (last: string) => ({ name: "office_artifact_read", args: { uri: urisIn(last)[0], entry: "data/prices.csv" } }),
    (last: string) => ({ name: "office_artifact_edit", args: { uri: urisIn(last)[1], delete_rows: [2] } }),
    (last: string) => ({ name: "office_save", args: { name: "out.csv", data: urisIn(last)[0] } }),
  ];
  const llm = modelOf(({ messages, last }) => {
    const step = steps[messages.filter(({ role }) => role === "tool").length];
    return step === undefined ? { text: "Done." } : { calls: [step(last.content)] };
  });
  const ada = await connected(serving({ llm }));
  const { telling } = await asked(ada, "Drop the water.");
  const told = await telling.rest();
  expect(told.at(-1)).toMatchObject({ kind: "result", answer: "Done." });
  const stored = told.filter(({ kind }) => kind === "artifact_stored");
  expect(stored).toMatchObject([
    { tool: "office.file", artifacts: [{ mime_type: "application/zip" }] },
    { tool: "office.artifact_read", artifacts: [{ filename: "prices.csv" }] },
    { tool: "office.artifact_edit", artifacts: [{ filename: "prices.csv" }] },
  ]);
  expect(JSON.stringify(told)).not.toMatch(/"scope"|"stored_at"/);
  expect(await place.read("out.csv")).toEqual(encoder.encode("item,price\nCoffee,4.50\n"));
});
