/** A ToolNode in front of a server that gives documents: what is read of them, and what its results and events list. */
import { expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/node.js";
import { ToolNode, type ToolNodeEvent } from "../../../../web/src/tools-node.js";
import { office, PRICES, shownIn, urisIn } from "../../../support/office.js";

const scope = { user_id: "ada" };

test("documents are read by whoever they were stored for; files of archives are listed as edits are, and passed on", async () => {
  const place = await office();
  const store = new MemoryArtifactStore();
  const events: ToolNodeEvent[] = [];
  const node = new ToolNode(
    { name: "office", transport: "mcp", connection: place.connection },
    { store, onEvent: (event) => void events.push(event) },
  );
  await node.connect();
  onTestFinished(() => node.close());
  const call = (tool: string, args: object): ReturnType<ToolNode["call"]> => node.call(tool, { ...args }, { scope });
  const fileOf = async (name: string): Promise<string> => (await call("file", { name })).artifacts[0]?.id ?? "";

  const [pdf, sheets, zip] = [await fileOf("report.pdf"), await fileOf("sales.xlsx"), await fileOf("bundle.zip")];
  const page = await call("artifact_read", { uri: pdf, pages: "2" });
  expect(shownIn(page.text)).toBe("Section 2\nThe warranty lasts 42 months.\n");
  const asked = await call("artifact_read", { uri: sheets, query: "SELECT amount FROM q2 ORDER BY amount LIMIT 1" });
  expect(shownIn(asked.text)).toBe("amount\n5");
  expect([page.artifacts, asked.artifacts]).toEqual([[], []]);

  const entry = await call("artifact_read", { uri: zip, entry: "data/prices.csv" });
  const [taken] = entry.artifacts;
  expect(taken).toMatchObject({ filename: "prices.csv", mime_type: "text/csv", scope, source: { derived_from: zip } });
  expect(Object.keys(taken ?? {})).not.toContain("stored_at");
  const edited = await call("artifact_edit", { uri: taken?.id, old_string: "3.00", new_string: "3.10" });
  await call("save", { name: "out.csv", data: `artifact://${edited.artifacts[0]?.id}` });
  expect(new TextDecoder().decode(await place.read("out.csv"))).toBe(PRICES.replace("3.00", "3.10"));

  const stored = events.flatMap((event) =>
    event.kind === "stored" ? event.artifacts.map(({ id }) => [event.tool, id]) : [],
  );
  expect(stored).toEqual([
    ["office.file", pdf],
    ["office.file", sheets],
    ["office.file", zip],
    ["office.artifact_read", taken?.id],
    ["office.artifact_edit", edited.artifacts[0]?.id],
  ]);

  // A file that was taken out before is found, and listed again.
  expect((await call("artifact_read", { uri: zip, entry: "data/prices.csv" })).artifacts).toEqual([taken]);
  for (const uri of urisIn(page.text)) {
    const other = await node.call("artifact_read", { uri }, { scope: { user_id: "bob" } });
    expect([other.isError, other.text]).toEqual([true, expect.stringContaining("There is no artifact")]);
  }
});

test("an answer that is too long to be shown is listed, whole", async () => {
  const store = new MemoryArtifactStore();
  const node = new ToolNode({ name: "shell", transport: "cli", connection: "cat" }, { store });
  await node.connect();
  onTestFinished(() => node.close());
  const csv = `id,name\n${Array.from({ length: 3000 }, (_, at) => `${at},name ${at}`).join("\n")}\n`;
  const names = csv.replaceAll(/^(?:id|\d+),/gm, "");
  const { id } = await store.putText(csv, { mime_type: "text/csv", namespace: "shell", scope });
  const args = { uri: id, query: "SELECT name FROM rows" };
  const { artifacts, text } = await node.call("artifact_read", args, { scope });
  expect(artifacts).toMatchObject([{ filename: "answer.csv", size_bytes: names.length }]);
  expect(text).toContain(`All are artifact://${artifacts[0]?.id}`);
  expect(await store.get(artifacts[0]?.id ?? "", scope)).toEqual(new TextEncoder().encode(names));
});
