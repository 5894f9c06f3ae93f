"use client";
import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { useState } from "react";
import { RunStateBadge } from "#components/status/status-badge.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { useConsole } from "./console-context.tsx";
import { pages } from "./pages.ts";

const rowClass =
  "flex min-h-8 cursor-pointer items-center gap-2 rounded-sm px-2 py-1 data-[selected=true]:bg-chosen";

/** Finds a page or a run and goes there. It never decides anything. */
export default function CommandPalette({
  open,
  onOpenChange,
  goTo,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  goTo: (href: string) => void;
}) {
  const { api } = useConsole();
  const [text, setText] = useState("");
  const wanted = text.trim();
  const runs = useQuery({
    queryKey: ["palette", wanted],
    queryFn: ({ signal }) => api.runs({ text: wanted, limit: 8 }, signal),
    enabled: open && wanted.length >= 2,
    staleTime: 5_000,
  });
  const go = (href: string): void => {
    onOpenChange(false);
    setText("");
    goTo(href);
  };
  return (
    <Command.Dialog
      open={open}
      onOpenChange={onOpenChange}
      label="Find a page or a run"
      overlayClassName="fixed inset-0 z-40 bg-ink/40"
      contentClassName="fixed top-[12vh] left-1/2 z-50 w-[min(94vw,560px)] -translate-x-1/2 rounded-md border border-edge bg-panel p-2"
    >
      <Command.Input
        value={text}
        onValueChange={setText}
        placeholder="Page, run id, or words of a run's title"
        className="h-9 w-full rounded-sm border border-edge bg-panel px-2"
      />
      <Command.List className="mt-2 max-h-[50vh] overflow-auto">
        <Command.Empty className="px-2 py-3 text-soft">
          {runs.isFetching ? "Looking…" : "Nothing found."}
        </Command.Empty>
        <Command.Group
          heading="Pages"
          className="text-soft [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1"
        >
          {pages.map((page) => (
            <Command.Item
              key={page.href}
              value={`${page.name} ${page.about}`}
              onSelect={() => go(page.href)}
              className={rowClass}
            >
              <page.icon aria-hidden size={15} className="text-soft" />
              <span className="text-ink">{page.name}</span>
              <span className="truncate text-soft">{page.about}</span>
            </Command.Item>
          ))}
        </Command.Group>
        {runs.data === undefined || runs.data.items.length === 0 ? null : (
          <Command.Group
            heading="Runs"
            forceMount
            className="text-soft [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1"
          >
            {runs.data.items.map((run) => (
              <Command.Item
                key={run.runId}
                value={`${wanted} ${run.runId}`}
                onSelect={() => go(`/runs/${run.runId}`)}
                className={rowClass}
              >
                <RunStateBadge state={run.state} compact />
                <span className="min-w-0 flex-1 truncate text-ink">
                  <VisibleText text={run.title} line />
                </span>
                <code className="text-table text-soft">{run.runId.slice(0, 12)}</code>
              </Command.Item>
            ))}
          </Command.Group>
        )}
      </Command.List>
    </Command.Dialog>
  );
}
