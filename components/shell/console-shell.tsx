"use client";
import { useQuery } from "@tanstack/react-query";
import { Bot } from "lucide-react";
import dynamic from "next/dynamic";
import { usePathname, useRouter } from "next/navigation";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { Retrying } from "#components/feedback/retrying.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { ApiFailure } from "#lib/client/api-failure.ts";
import { keys } from "#lib/client/query-keys.ts";
import type { Counts, Me } from "#lib/contract/shell-views.ts";
import { ConsoleProvider, useConsole } from "./console-context.tsx";
import { KeyProvider, useKeys } from "./keys.tsx";
import { LiveProvider } from "./live.tsx";
import { LiveRegion } from "./live-region.tsx";
import { MeContext } from "./me.ts";
import { pageOf } from "./pages.ts";
import { useSettings } from "./settings.tsx";
import { Sidebar } from "./sidebar.tsx";
import { TruthStrip, useThemeToggle } from "./truth-strip.tsx";

// None of them belongs to the first page: each is fetched when it is first asked for.
const CommandPalette = dynamic(() => import("./command-palette.tsx"), { ssr: false });
const Notifier = dynamic(() => import("./notifier.tsx"), { ssr: false });
const ShortcutSheet = dynamic(() => import("./shortcut-sheet.tsx"), { ssr: false });

export function ConsoleShell({ children }: { children: ReactNode }) {
  return (
    <ConsoleProvider>
      <LiveRegion>
        <SignedIn>{children}</SignedIn>
      </LiveRegion>
    </ConsoleProvider>
  );
}

/** Who I am comes first: without it nothing else may be asked. */
function SignedIn({ children }: { children: ReactNode }) {
  const { api } = useConsole();
  const router = useRouter();
  const me = useQuery({ queryKey: keys.me, queryFn: ({ signal }) => api.me(signal) });
  const signedOut = me.error instanceof ApiFailure && me.error.tag === "Unauthenticated";
  useEffect(() => {
    if (!signedOut) return;
    const here = window.location.pathname + window.location.search;
    router.replace(`/sign-in?next=${encodeURIComponent(here)}`);
  }, [signedOut, router]);
  if (signedOut) return <p className="p-4 text-soft">Going to sign-in…</p>;
  if (me.data === undefined) {
    if (me.error !== null) return <ErrorPanel error={me.error} onRetry={() => void me.refetch()} />;
    return (
      <Frame
        me={undefined}
        counts={undefined}
        strip={<div className="h-8 border-b border-line bg-panel" />}
      >
        <Retrying failure={me.failureReason} />
        <SkeletonRows rows={12} label="the console" />
      </Frame>
    );
  }
  return (
    <LiveProvider operatorId={me.data.operatorId}>
      <MeContext value={me.data}>
        <Framed me={me.data}>{children}</Framed>
      </MeContext>
    </LiveProvider>
  );
}

function Framed({ me, children }: { me: Me; children: ReactNode }) {
  const router = useRouter();
  const { api } = useConsole();
  const goTo = useCallback((href: string) => router.push(href), [router]);
  const counts = useQuery({ queryKey: keys.counts, queryFn: ({ signal }) => api.counts(signal) });
  const { notifications } = useSettings();
  const [sheet, setSheet] = useState(false);
  const [palette, setPalette] = useState(false);
  useTitle(counts.data);
  return (
    <KeyProvider goTo={goTo}>
      <GlobalKeys onSheet={() => setSheet(true)} onPalette={() => setPalette((open) => !open)} />
      <Frame
        me={me}
        counts={counts.data}
        strip={<TruthStrip me={me} onSheet={() => setSheet(true)} />}
      >
        {children}
      </Frame>
      {notifications === "on" ? <Notifier /> : null}
      {sheet ? <ShortcutSheet open onOpenChange={setSheet} /> : null}
      {palette ? <CommandPalette open onOpenChange={setPalette} goTo={goTo} /> : null}
    </KeyProvider>
  );
}

function GlobalKeys({ onSheet, onPalette }: { onSheet: () => void; onPalette: () => void }) {
  const theme = useThemeToggle();
  useKeys({ sheet: onSheet, palette: onPalette, theme });
  return null;
}

/** The tab says how many calls wait for a person. */
function useTitle(counts: Counts | undefined): void {
  const name = pageOf(usePathname())?.name ?? "Console";
  const waiting = (counts?.pendingApprovals ?? 0) + (counts?.openUnknowns ?? 0);
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${name} · Effect Agent`;
  }, [waiting, name]);
}

function Frame({
  me,
  counts,
  strip,
  children,
}: {
  me: Me | undefined;
  counts: Counts | undefined;
  strip: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="flex h-dvh flex-col overflow-hidden">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2"
      >
        Skip to the content
      </a>
      <header>
        {strip}
        {me?.rehearsal === true ? <RehearsalNote modelId={me.modelId} /> : null}
      </header>
      <div className="flex min-h-0 flex-1 max-md:flex-col">
        <Sidebar counts={counts} />
        <main
          id="content"
          tabIndex={-1}
          className="flex min-h-0 min-w-0 flex-1 flex-col overflow-auto outline-none"
        >
          {children}
        </main>
      </div>
    </div>
  );
}

/** Said plainly on every page while no model is configured (DESIGN 7). */
const RehearsalNote = ({ modelId }: { modelId: string }) => (
  <p
    className="tone-attention tone-wash tone-edge flex items-center gap-2 border-b px-3 py-1 text-table"
    data-rehearsal
  >
    <Bot aria-hidden size={14} className="tone-text shrink-0" />
    <span>
      No AI answers here: the rehearsal model <code>{modelId}</code> picks tools by fixed rules.
      <span className="max-md:sr-only">
        {" "}
        Set OPENAI_API_KEY, OPENAI_BASE_URL or ANTHROPIC_API_KEY to use a real one.
      </span>
    </span>
  </p>
);
