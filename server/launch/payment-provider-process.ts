/**
 * The payment provider as a child of the launcher. Its own program ends in order when its parent does; this makes
 * sure that it ends at all, whatever it waits for, so that no killed launcher leaves a process behind.
 */
import { isAlive } from "#server/postgres/embedded/postmaster-pid.ts";

const patienceMillis = 1_000;
const parent = Number(process.argv[2]);

const endSoon = () => {
  setTimeout(() => process.exit(1), patienceMillis);
};

const watch = setInterval(() => {
  if (isAlive(parent)) return;
  clearInterval(watch);
  endSoon();
}, 500);
watch.unref();
process.once("SIGTERM", endSoon);

await import("#server/demo/payment-provider/main.ts");
