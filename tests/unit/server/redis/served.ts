/** State in a real Redis server, for tests. */
import { onTestFinished } from "vitest";
import { OwnConnection } from "../../../../web/src/redis/connection.js";
import { RedisKeys, RedisServer } from "../../../../web/src/redis/server.js";
import { RedisEventLog, type RedisEventLogParts } from "../../../../web/src/server/redis/event-log.js";

export { SECRET } from "./secret.js";
export { another, coded, inTime, useRedis, type Redis } from "../../redis/served.js";

const TIMEOUT = 10_000;

/** What parts of a state are made of, as one process has it. */
export interface Served {
  readonly url: string;
  readonly timeout: number;
  readonly server: RedisServer;
  readonly keys: RedisKeys;
  close(): Promise<void>;
}

/** A process's connection; nothing is made until it is used. */
export function served(url: string, timeout: number = TIMEOUT): Served {
  const connection = new OwnConnection(url, timeout);
  const keys = new RedisKeys("{sluice}");
  const server = new RedisServer(connection, timeout, keys);
  const close = async (): Promise<void> => {
    await server.close();
    connection.close();
  };
  return { url, timeout, server, keys, close };
}

/** The same, until the test is over. */
export function servedInTest(url: string, timeout: number = TIMEOUT): Served {
  const one = served(url, timeout);
  onTestFinished(() => one.close());
  return one;
}

/** A log as one process has it, until the test is over. */
export function logInTest(url: string, more: Partial<RedisEventLogParts> = {}): RedisEventLog {
  const log = new RedisEventLog({ ...servedInTest(url, more.timeout), ...more });
  onTestFinished(() => log[Symbol.asyncDispose]());
  return log;
}
