import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { DoubtView } from "#lib/contract/run-views.ts";

/** A doubt about a call in words: since when, and who ended it how. */
export function Doubt({ doubt }: { doubt: DoubtView }) {
  const { actor, resolution, resolvedAt, since } = doubt;
  if (resolution === null || resolvedAt === null) {
    return (
      <>
        In doubt since <At at={since} timeOnly />: nothing says whether it happened.
      </>
    );
  }
  const who = <VisibleText text={actor?.name ?? "nobody on record"} line />;
  if (resolution === "abort-submission") {
    return (
      <>
        {who} ended the run at <At at={resolvedAt} timeOnly /> and left this doubt, from{" "}
        <At at={since} timeOnly />, as it is: whether it happened is not known.
      </>
    );
  }
  return (
    <>
      In doubt from <At at={since} timeOnly /> until {who} resolved it at{" "}
      <At at={resolvedAt} timeOnly />: <code>{resolution}</code>.
    </>
  );
}
