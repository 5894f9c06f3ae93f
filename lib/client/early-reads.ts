/**
 * What every page of the console asks first, asked while its scripts are still on their way: who is
 * signed in, the badges, and the run of a run's page. The document begins these reads itself; the
 * first request for the same address takes the answer instead of asking again.
 */

/** An answer that was asked for before the console ran; undefined when it did not come. */
export interface EarlyRead {
  /** Local milliseconds when it was asked for. */
  readonly sentAt: number;
  readonly answer: Promise<
    { readonly status: number; readonly text: string; readonly receivedAt: number } | undefined
  >;
}

/** Where the document keeps them, by the path below `/api/v1`. */
export interface EarlyReads {
  earlyReads?: Record<string, EarlyRead>;
}

/** Older than this an early answer is left: the page waited so long that asking again is better. */
const longestMillis = 20_000;

/** Runs in the document's head, before any other script, so it is plain text and needs nothing. */
export const earlyReadsScript = `(function () {
  var path = location.pathname;
  if (path.indexOf("/sign-in") === 0) return;
  var kept = (window.earlyReads = {});
  var now = function () { return performance.timeOrigin + performance.now(); };
  var read = function (what) {
    kept[what] = {
      sentAt: now(),
      answer: fetch("/api/v1" + what, {
        credentials: "same-origin", cache: "no-store", redirect: "error",
        headers: { accept: "application/json" },
      }).then(function (answer) {
        return answer.text().then(function (text) {
          return { status: answer.status, text: text, receivedAt: now() };
        });
      }).catch(function () { return undefined; }),
    };
  };
  read("/me");
  read("/counts");
  var run = /^\\/runs\\/(run_[A-Za-z0-9_-]{1,80})$/.exec(path);
  if (run !== null && !/[?&]at=/.test(location.search)) read("/runs/" + run[1]);
})();`;

/** The early read of a path, once: whoever asks again asks the server. */
export const takeEarlyRead = (
  keeper: EarlyReads,
  path: string,
  now: number,
): EarlyRead | undefined => {
  const kept = keeper.earlyReads;
  if (kept === undefined || !Object.hasOwn(kept, path)) return undefined;
  const read = kept[path];
  delete kept[path];
  return read !== undefined && now - read.sentAt < longestMillis ? read : undefined;
};
