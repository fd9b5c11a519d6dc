/**
 * The user's files that a command works on.
 * @module
 */
import { coreDescriber, UserStorage } from "../../files/user-storage.js";
import { UsageError } from "../exit.js";
import type { Invocation } from "../spec.js";
import { openKeptStore } from "../store.js";

/** Those of `--user`, of `--tenant` where users belong to one. Throws UsageError. */
export async function openFiles(invocation: Invocation): Promise<UserStorage> {
  const user_id = invocation.value("user");
  if (user_id === undefined || user_id === "") {
    throw new UsageError("say whose files with --user NAME", invocation.command);
  }
  const store = await openKeptStore(invocation.value("store"));
  const owner = { tenant_id: invocation.value("tenant") ?? null, user_id };
  return new UserStorage(store, owner, { describer: coreDescriber(undefined) });
}
