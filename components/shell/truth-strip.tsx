"use client";
import { LoaderCircle, Monitor, Moon, Pause, Play, Sun, Wifi, WifiOff } from "lucide-react";
import { countText, secondsText } from "#components/ui/durations.ts";
import type { Me } from "#lib/contract/shell-views.ts";
import { useLiveStatus, useLiveStore } from "./live.tsx";
import { useSettings } from "./settings.tsx";
import { useNow } from "./use-now.ts";

const behindText = (millis: number): string =>
  millis < 60_000 ? `${(Math.max(0, millis) / 1_000).toFixed(1)} s` : secondsText(millis);

function ConnectionPill() {
  const { connection } = useLiveStatus();
  const look = {
    connecting: { tone: "tone-neutral", Icon: LoaderCircle, word: "connecting" },
    live: { tone: "tone-success", Icon: Wifi, word: "live" },
    retrying: { tone: "tone-attention", Icon: WifiOff, word: "connection broken" },
  }[connection.phase];
  return (
    <span
      className={`${look.tone} tone-text inline-flex items-center gap-1 whitespace-nowrap`}
      data-connection={connection.phase}
    >
      <look.Icon aria-hidden size={13} />
      {look.word}
      {connection.phase === "retrying" ? `, attempt ${connection.attempt}` : ""}
    </span>
  );
}

/** The moment that everything on the page reflects, and how far behind the server it is. */
function AsOf() {
  const status = useLiveStatus();
  const now = useNow();
  const silence = status.heardAt === 0 ? 0 : now - status.heardAt;
  const behind =
    status.connection.phase === "live" && silence < 20_000
      ? status.lagMillis
      : Math.max(silence, status.lagMillis);
  return (
    <span className="whitespace-nowrap">
      as of event <span className="mono">{countText(status.sequence)}</span>
      <span className="max-sm:hidden">
        , <span className="mono">{behindText(behind)}</span> behind
      </span>
    </span>
  );
}

const themes = {
  system: { next: "light", Icon: Monitor, word: "as the system" },
  light: { next: "dark", Icon: Sun, word: "light" },
  dark: { next: "system", Icon: Moon, word: "dark" },
} as const;

export function useThemeToggle(): () => void {
  const { theme, change } = useSettings();
  return () => change({ theme: themes[theme].next });
}

const stripButton =
  "inline-flex h-6 items-center gap-1 rounded-sm px-1.5 hover:bg-raised hover:text-ink";

export function TruthStrip({ me, onSheet }: { me: Me; onSheet: () => void }) {
  const status = useLiveStatus();
  const store = useLiveStore();
  const { theme } = useSettings();
  const toggleTheme = useThemeToggle();
  const broken = status.connection.phase === "retrying" || status.resyncing || status.paused;
  const Theme = themes[theme].Icon;
  return (
    <div
      className={`flex min-h-8 flex-wrap items-center gap-x-3 border-b px-3 text-table text-soft ${broken ? "tone-attention tone-wash tone-edge" : "bg-panel"}`}
    >
      <span className="font-semibold text-ink max-sm:hidden">Effect Agent</span>
      <ConnectionPill />
      <AsOf />
      {status.resyncing ? (
        <span className="text-attention">reading everything again, decisions locked</span>
      ) : null}
      {status.paused ? (
        <span className="text-attention">
          paused, {countText(status.held)} events held, decisions locked
        </span>
      ) : null}
      <span className="ml-auto flex items-center gap-1">
        <button
          type="button"
          className={stripButton}
          aria-pressed={status.paused}
          onClick={() => store.setPaused(!status.paused)}
        >
          {status.paused ? <Play aria-hidden size={13} /> : <Pause aria-hidden size={13} />}
          {status.paused ? "Resume" : "Pause"}
        </button>
        <button
          type="button"
          className={stripButton}
          onClick={toggleTheme}
          title={`Theme: ${themes[theme].word}`}
        >
          <Theme aria-hidden size={13} />
          <span className="sr-only">Theme: {themes[theme].word}; change</span>
        </button>
        <button type="button" className={stripButton} onClick={onSheet} title="Keys (?)">
          <span aria-hidden>?</span>
          <span className="sr-only">Keys</span>
        </button>
        <span
          className="max-w-40 truncate px-1 text-ink max-sm:sr-only"
          title={`${me.email}, ${me.role}`}
        >
          {me.name}
        </span>
      </span>
      {status.changedMeanwhile === null ? null : (
        <output className="tone-attention flex w-full items-center gap-2 border-t py-1 text-ink">
          {status.changedMeanwhile}
          <button
            type="button"
            className="underline underline-offset-2"
            onClick={store.readMeanwhile}
          >
            Understood
          </button>
        </output>
      )}
    </div>
  );
}
