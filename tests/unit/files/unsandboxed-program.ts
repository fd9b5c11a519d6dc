/**
 * Opens files of a user's folder as tools name them, empties the folder, and uses a store. Prints what came of it as JSON.
 *
 * node program ROOT NAME…
 */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { Workspace } from "../../../web/src/files/workspace/workspace.js";

const [root = "", ...names] = process.argv.slice(2);
const workspace = await Workspace.open({ root, name: "ada" });

async function outcomeOf(name: string): Promise<string> {
  try {
    await using file = await workspace.openOutput(`/tmp/ada/${name}`);
    return await new Response(file.stream() as ReadableStream<Uint8Array<ArrayBuffer>>).text();
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
}

const outcomes: string[] = [];
for (const name of names) outcomes.push(await outcomeOf(name));
await workspace.clear();
const left = (await readdir(join(root, "ada"))).filter((name) => name !== "input_files");
const store = new FileArtifactStore(join(root, "store"));
const { id } = await store.putText("kept");
const stored = new TextDecoder().decode((await store.get(id)) ?? undefined);
process.stdout.write(JSON.stringify({ isProcHidden: !existsSync("/proc/self"), outcomes, left, stored }));
