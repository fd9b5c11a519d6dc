/** A model that works with what tools return: reads a page, asks a sheet, takes a file out of an archive, edits it, passes it on. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { PlannerEvent } from "../../../web/src/planner/event.js";
import type { ScriptedCall } from "../../../web/src/planner/llm/scripted-model.js";
import { tool } from "../../../web/src/planner/tool.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { office, PRICES, shownIn, urisIn, type Office } from "../../support/office.js";
import { pdfOf } from "../../support/pdf.js";
import { answered, planned, type Planned } from "./planned.js";

const ADA = { user_id: "ada" };
const BOB = { user_id: "bob" };
const encoder = new TextEncoder();

/** A step of a model: what it calls, once it was told these results. */
type Step = (told: readonly string[]) => readonly ScriptedCall[];

interface AtOffice extends Planned {
  readonly place: Office;
}

/** A planner with the office's tools, whose model takes these steps. */
async function atOffice(steps: readonly Step[], store = new MemoryArtifactStore()): Promise<AtOffice> {
  const place = await office();
  const node = new ToolNode({ name: "office", transport: "mcp", connection: place.connection }, { store });
  await node.connect();
  onTestFinished(() => node.close());
  return { ...stepping(steps, [node], store), place };
}

function stepping(
  steps: readonly Step[],
  catalog: Parameters<typeof planned>[1],
  store = new MemoryArtifactStore(),
): Planned {
  const run = planned(
    ({ messages }) => {
      const step = steps[messages.filter(({ role }) => role === "assistant").length];
      const told = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
      return step === undefined ? { text: "Done." } : { calls: step(told) };
    },
    catalog,
    { artifactStore: store },
  );
  return { ...run, store };
}

const file = (name: string): ScriptedCall => ({ name: "office_file", args: { name } });
const read = (args: object): ScriptedCall => ({ name: "office_artifact_read", args: { ...args } });
const edit = (args: object): ScriptedCall => ({ name: "office_artifact_edit", args: { ...args } });

/** The URI that a result begins with: of the artifact that was read, or of the one that was made. */
const uriOf = (observation = ""): string => urisIn(observation)[0] ?? "";

/** The URI of what was read in place of that. */
const readAs = (observation = ""): string => /\(read as (artifact:\/\/\w+)\)/.exec(observation)?.[1] ?? "";

/** What events tell was stored, by tool. */
function storedBy(events: readonly PlannerEvent[]): readonly (readonly [tool: string, id: string])[] {
  return events.flatMap((event) =>
    event.kind === "artifact_stored" ? event.artifacts.map(({ id }) => [event.tool, id] as const) : [],
  );
}

test("a model reads a page of a PDF, asks a sheet, and hands an edited file of an archive to the next tool", async () => {
  const { planner, place, store, events, turns } = await atOffice([
    () => [file("report.pdf"), file("sales.xlsx"), file("bundle.zip")],
    ([pdf, sheets, zip]) => [
      read({ uri: uriOf(pdf), pages: "2" }),
      read({ uri: uriOf(sheets), sheet: "Q2", query: "SELECT city, SUM(amount) AS total FROM rows GROUP BY city" }),
      read({ uri: uriOf(zip), entry: "data/prices.csv" }),
    ],
    (told) => [edit({ uri: readAs(told[5]), add_rows: [{ item: "Tea", price: "4.20" }] })],
    (told) => [{ name: "office_save", args: { name: "prices.csv", data: uriOf(told[6]) } }],
  ]);
  const { answer, trajectory } = answered(await planner.run("Bring the prices up to date.", { scope: ADA }));
  expect(answer).toBe("Done.");
  expect(turns[0]?.tools).toEqual(expect.arrayContaining(["office_artifact_read", "office_artifact_edit"]));

  const calls = trajectory.steps.flatMap((step) => step.calls);
  const told = calls.map(({ observation }) => observation);
  expect(calls.filter(({ isError }) => isError)).toEqual([]);
  expect(shownIn(told[3] ?? "")).toBe("Section 2\nThe warranty lasts 42 months.\n");
  expect(shownIn(told[4] ?? "")).toBe("city,total\nBern,35\nOslo,25");
  expect(shownIn(told[5] ?? "")).toBe(PRICES);
  expect(shownIn(told[6] ?? "")).toContain("Water,3.00\nTea,4.20");

  // The next tool is given the bytes of the edit, which are those in the store. What was edited is as it was.
  const wanted = encoder.encode(`${PRICES}Tea,4.20\n`);
  const [entry, edited] = [readAs(told[5]), uriOf(told[6])].map((uri) => uri.replace("artifact://", ""));
  expect(told[7]).toBe(`"${wanted.length} bytes are in prices.csv"`);
  expect(await place.read("prices.csv")).toEqual(wanted);
  expect(await store.get(edited ?? "", ADA)).toEqual(wanted);
  expect(await store.get(entry ?? "", ADA)).toEqual(encoder.encode(PRICES));

  // The host is told of each file of an archive and of each edit, as of what a tool returned; of texts of documents it is not.
  const [pdf, sheets, zip] = told.map((text) => uriOf(text).replace("artifact://", ""));
  const listed = [
    ["office.file", pdf],
    ["office.file", sheets],
    ["office.file", zip],
    ["office.artifact_read", entry],
    ["office.artifact_edit", edited],
  ];
  expect(new Set(storedBy(events).map(String))).toEqual(new Set(listed.map(String)));
  expect(calls.flatMap(({ tool: name, artifacts }) => artifacts.map(({ id }) => [name, id]))).toEqual(listed);
  expect(JSON.stringify(turns)).not.toMatch(/ada|user_id/);
});

test("what was stored for one user is not found for another, nor what became of it", async () => {
  const first = await atOffice([
    () => [file("report.pdf"), file("bundle.zip")],
    ([pdf, zip]) => [read({ uri: uriOf(pdf) }), read({ uri: uriOf(zip), entry: "notes.txt" })],
    (told) => [edit({ uri: readAs(told[3]), old_string: "hello", new_string: "hello, Ada" })],
  ]);
  const told = answered(await first.planner.run("Read.", { scope: ADA }))
    .trajectory.steps.flatMap(({ calls }) => calls)
    .map(({ observation }) => observation);
  const uris = [...new Set(told.flatMap((text) => urisIn(text)))];
  expect(uris).toHaveLength(5);

  const second = await atOffice(
    [
      () => uris.map((uri) => read({ uri })),
      () => [
        edit({ uri: uris[0], old_string: "a", new_string: "b" }),
        { name: "office_save", args: { data: uris[0] } },
      ],
    ],
    first.store,
  );
  const { trajectory } = answered(await second.planner.run("Read what Ada read.", { scope: BOB }));
  const calls = trajectory.steps.flatMap((step) => step.calls);
  expect(calls).toHaveLength(7);
  for (const { isError, observation, artifacts } of calls) {
    expect([isError, artifacts]).toEqual([true, []]);
    expect(observation).toMatch(/[Tt]here is no (such )?artifact/);
    expect(observation).not.toMatch(/warranty|hello/);
  }
  for await (const { scope } of first.store.list()) expect(scope).toMatchObject(ADA);
});

test("a user who has the same document has its text made anew, as an artifact of their own", async () => {
  const steps: Step[] = [() => [file("report.pdf")], ([pdf]) => [read({ uri: uriOf(pdf), pages: "2" })]];
  const { planner, store } = await atOffice(steps);
  for (const scope of [ADA, BOB, ADA]) {
    const { trajectory } = answered(await planner.run("Read.", { scope }));
    expect(shownIn(trajectory.steps[1]?.calls[0]?.observation ?? "")).toContain("42 months");
  }
  const owners: unknown[] = [];
  for await (const { id, scope } of store.list()) owners.push([id, scope.user_id]);
  const [ids, users] = [0, 1].map((at) => new Set(owners.map((owner) => (owner as unknown[])[at])));
  expect([owners.length, ids?.size, users]).toEqual([4, 2, new Set(["ada", "bob"])]);
});

test("a model is told not to try again what has expired", async () => {
  let now = 1_800_000_000_000;
  const store = new MemoryArtifactStore({ clock: () => now, retention: { ttl_seconds: 60 } });
  const { planner } = await atOffice(
    [
      () => [file("bundle.zip")],
      ([zip]) => {
        now += 3_600_000;
        return [
          read({ uri: uriOf(zip), entry: "notes.txt" }),
          edit({ uri: uriOf(zip), old_string: "a", new_string: "b" }),
        ];
      },
    ],
    store,
  );
  const { trajectory } = answered(await planner.run("Read, late.", { scope: ADA }));
  expect(trajectory.steps[1]?.calls).toHaveLength(2);
  for (const { isError, observation } of trajectory.steps[1]?.calls ?? []) {
    expect(isError).toBe(true);
    expect(observation).toContain("has expired. Do not retry; call the tool that made it.");
  }
});

test("what a function returns is read in the same way, and given to the next function", async () => {
  const taken: string[] = [];
  const report = tool({
    name: "report",
    description: "Gives a report.",
    input: z.object({}),
    run: () => ({ report: pdfOf([{ lines: ["One"] }, { lines: ["Two"] }]), rows: encoder.encode(PRICES) }),
  });
  const take = tool({
    name: "take",
    description: "Takes a table.",
    input: z.object({ table: z.string() }),
    run: ({ table }) => void taken.push(table),
  });
  const { planner, events } = stepping(
    [
      () => [{ name: "report", args: {} }],
      ([both]) => [
        { name: "native_artifact_read", args: { uri: urisIn(both ?? "")[0], pages: "2" } },
        {
          name: "native_artifact_read",
          args: { uri: urisIn(both ?? "")[1], query: "SELECT MAX(price) AS most FROM rows" },
        },
        { name: "native_artifact_edit", args: { uri: urisIn(both ?? "")[1], delete_rows: [1] } },
      ],
      (told) => [{ name: "take", args: { table: `${uriOf(told[3])}?as=text` } }],
    ],
    [report, take],
  );
  const { trajectory } = answered(await planner.run("Read.", { scope: ADA }));
  const [page, most, edited] = trajectory.steps[1]?.calls ?? [];
  expect(shownIn(page?.observation ?? "")).toBe("Two\n");
  expect(shownIn(most?.observation ?? "")).toBe("most\n4.5");
  expect(taken).toEqual(["item,price\nWater,3.00\n"]);
  expect(storedBy(events)).toContainEqual(["native.artifact_edit", edited?.artifacts[0]?.id]);
});
