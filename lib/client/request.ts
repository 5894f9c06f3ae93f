import * as Schema from "effect/Schema";
import { ApiFailure, failureOfAnswer } from "./api-failure.ts";
import type { EarlyRead } from "./early-reads.ts";
import type { ServerClock } from "./server-clock.ts";

/** What the client takes from its surroundings, so that a test can stand in for each. */
export interface Surroundings {
  readonly fetch: typeof fetch;
  /** Local milliseconds since 1970. */
  readonly now: () => number;
  readonly clock: ServerClock;
  /** At least 20 characters from `[A-Za-z0-9]` that nobody can guess. */
  readonly randomId: () => string;
  /** An answer to a GET of this path that was asked for before, at most once. */
  readonly early?: (path: string) => EarlyRead | undefined;
  /** Told of every request that was answered with what it asked for. */
  readonly onSuccess?: () => void;
}

/** A success: the decoded value, and the text it was read from where exact numbers matter. */
export interface Answer<A> {
  readonly value: A;
  readonly text: string;
}

export interface RequestOptions<S extends Schema.ConstraintDecoder<unknown>> {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly answer: S;
  /** Seconds until `NoAnswerInTime`; reads 20, commands 12 unless told. */
  readonly seconds?: number;
  readonly signal?: AbortSignal | undefined;
}

export type QueryValue = string | number | ReadonlyArray<string> | undefined;

const prefix = "/api/v1";

/** The query text of a route; absent and empty values are left out, a list repeats its key. */
export const queryText = (query: Readonly<Record<string, QueryValue>> = {}): string => {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(key, String(one));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
};

const serverTimeOf = (value: unknown): number | undefined => {
  if (typeof value !== "object" || value === null || !("serverTime" in value)) return undefined;
  return typeof value.serverTime === "number" ? value.serverTime : undefined;
};

const parsed = (text: string): unknown => {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * One request. Rejects with `ApiFailure`, or with the caller's own `AbortError` when its signal fired.
 * Never repeated here: reading again is the query's business, and a command is never sent twice.
 */
export const request = async <S extends Schema.ConstraintDecoder<unknown>>(
  surroundings: Surroundings,
  options: RequestOptions<S>,
): Promise<Answer<S["Type"]>> => {
  const method = options.method ?? "GET";
  const seconds = options.seconds ?? (method === "GET" ? 20 : 12);
  const deadline = AbortSignal.timeout(seconds * 1_000);
  const signal =
    options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline]);
  const early =
    method === "GET" && options.query === undefined
      ? surroundings.early?.(options.path)
      : undefined;
  let sentAt = early?.sentAt ?? surroundings.now();
  let receivedAt: number | undefined;
  let status: number;
  let text: string;
  try {
    const answer = early === undefined ? undefined : await orAborted(early.answer, signal);
    if (answer !== undefined) ({ status, text, receivedAt } = answer);
    else {
      sentAt = surroundings.now();
      const response = await surroundings.fetch(
        `${prefix}${options.path}${queryText(options.query)}`,
        {
          method,
          signal,
          credentials: "same-origin",
          cache: "no-store",
          redirect: "error",
          headers: {
            accept: "application/json",
            ...(options.body === undefined ? {} : { "content-type": "application/json" }),
            ...options.headers,
          },
          ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
        },
      );
      status = response.status;
      text = await response.text();
    }
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw deadline.aborted
      ? new ApiFailure({
          _tag: "NoAnswerInTime",
          seconds,
          message: `The server has not answered ${method} ${options.path}.`,
        })
      : new ApiFailure({
          _tag: "NetworkFailed",
          message: `${method} ${options.path} did not get through.`,
        });
  }
  const body = parsed(text);
  if (status < 200 || status > 299) throw failureOfAnswer(status, body);
  const decoded = Schema.decodeUnknownResult(options.answer)(body);
  if (decoded._tag === "Failure") {
    throw new ApiFailure({
      _tag: "UnreadableAnswer",
      status,
      message: `The answer to ${method} ${options.path} is not what this console expects: ${firstLine(String(decoded.failure))}`,
    });
  }
  surroundings.onSuccess?.();
  const serverTime = serverTimeOf(body);
  if (serverTime !== undefined)
    surroundings.clock.observe(serverTime, sentAt, receivedAt ?? surroundings.now());
  return { value: decoded.success, text };
};

/** The promise's value, unless the signal fires first. */
const orAborted = <A>(promise: Promise<A>, signal: AbortSignal): Promise<A> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });

const firstLine = (text: string): string => text.slice(0, 300).split("\n").slice(0, 3).join(" ");
