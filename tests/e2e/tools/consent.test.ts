/** Users who are asked for their consent: once, however many calls wait for it, and no others wait with them. */
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import type { ToolContext, ToolNodeError } from "../../../web/src/tools-node.js";
import { ERAS } from "./faulty-server.js";
import { useUsers, type Person, type UserConfig, type UserSetting } from "./users.js";

const users = useUsers();

describe.each(ERAS)("%s", (era) => {
  const setting = (config?: UserConfig): Promise<UserSetting> => users.setting(era, config);

  test("while somebody is asked, others are answered, and no time limit runs", async () => {
    const { front, person } = await setting({ max_concurrency: 1, timeout_s: 5 });
    const [ada, bob] = [person("ada"), person("bob")];
    const decided = new AbortController();
    const asked = new AbortController();
    const pause: ToolContext["pause"] = async (reason, payload) => {
      asked.abort();
      await once(decided.signal, "abort");
      await ada.context.pause?.(reason, payload);
    };
    const waiting = front.node.call("whoami", {}, { ...ada.context, pause });
    await once(asked.signal, "abort");
    expect((await front.node.call("whoami", {}, bob.context)).value).toBe("bob@acme");
    await new Promise((resolve) => setTimeout(resolve, 5100));
    decided.abort();
    expect((await waiting).value).toBe("ada@acme");
    expect(front.events.map(({ kind }) => kind)).toEqual([]);
  });

  test("five calls at once of one user wait for one consent", async () => {
    const { server, front, person } = await setting();
    const ada = person("ada");
    const answers = await Promise.all(Array.from({ length: 5 }, () => front.node.call("whoami", {}, ada.context)));
    expect(answers.map(({ value }) => value)).toEqual(Array.from({ length: 5 }, () => "ada@acme"));
    expect([ada.asked.length, server.arrived]).toEqual([1, 5]);
  });

  test("users are asked at once, each of them once, and one who refuses refuses for their own calls alone", async () => {
    const { front, person } = await setting();
    const [ada, bob, eve] = [person("ada"), person("bob"), person("eve", { refuses: true })];
    const outcome = ({ context }: Person): Promise<unknown> =>
      front.node.call("whoami", {}, context).then(
        ({ value }) => value,
        ({ code, message }: ToolNodeError) => [code, message],
      );
    const refusal = ["E_TOOL_AUTH", "The user did not give access to far: call again to ask once more."];
    expect(await Promise.all([ada, eve, bob, ada, eve, bob, eve].map(outcome))).toEqual([
      "ada@acme",
      refusal,
      "bob@acme",
      "ada@acme",
      refusal,
      "bob@acme",
      refusal,
    ]);
    expect([ada, bob, eve].map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
  });

  test("the call that asks gives up, and the next one asks for all who wait", async () => {
    const { front, person } = await setting();
    const [first, second] = [person("ada"), person("ada")];
    const caller = new AbortController();
    const asked = new AbortController();
    const pause: ToolContext["pause"] = () => {
      asked.abort();
      return new Promise(() => undefined);
    };
    const given = front.node.call("whoami", {}, { ...first.context, pause, signal: caller.signal });
    await once(asked.signal, "abort");
    const others = [second, second, first].map(({ context }) => front.node.call("whoami", {}, context));
    caller.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    expect((await Promise.all(others)).map(({ value }) => value)).toEqual(["ada@acme", "ada@acme", "ada@acme"]);
    expect(first.asked.length + second.asked.length).toBe(1);
  });

  test("who gives up while asked has given up", async () => {
    const { front, person } = await setting();
    const ada = person("ada");
    const caller = new AbortController();
    const pause: ToolContext["pause"] = () => {
      queueMicrotask(() => caller.abort(new Error("enough")));
      return new Promise(() => undefined);
    };
    const given = front.node.call("whoami", {}, { ...ada.context, pause, signal: caller.signal });
    await expect(given).rejects.toThrow("enough");
    expect((await front.node.call("whoami", {}, ada.context)).value).toBe("ada@acme");
  });
});
