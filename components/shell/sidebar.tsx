"use client";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { useEffect, useRef } from "react";
import { countText } from "#components/ui/durations.ts";
import type { Counts } from "#lib/contract/shell-views.ts";
import { pageOf, pages } from "./pages.ts";

/** The pages with their badges: a column at the side, a row that scrolls where it is narrow. */
export function Sidebar({ counts }: { counts: Counts | undefined }) {
  const pathname = usePathname();
  const here = pageOf(pathname);
  const isCounted = counts !== undefined;
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    // Where the row scrolls, the page that is open is among what it shows.
    const link = row.current?.querySelector<HTMLElement>("[aria-current=page]");
    if (row.current !== null && link !== undefined && link !== null)
      row.current.scrollLeft = link.offsetLeft - (row.current.clientWidth - link.offsetWidth) / 2;
    // Badges that come later move what stands behind them.
  }, [here, isCounted]);
  return (
    <nav
      ref={row}
      aria-label="Pages"
      className="relative flex shrink-0 gap-0.5 overflow-x-auto border-line bg-panel p-1.5 max-md:border-b md:w-44 md:flex-col md:overflow-y-auto md:border-r md:p-2"
    >
      {pages.map((page) => {
        const badge = counts === undefined ? 0 : (page.badge?.(counts) ?? 0);
        const urgent = badge > 0 && page.href !== "/runs";
        return (
          <Link
            key={page.href}
            href={page.href}
            prefetch={false}
            aria-current={here === page ? "page" : undefined}
            className="flex h-8 shrink-0 items-center gap-2 rounded-sm px-2 text-soft hover:bg-raised hover:text-ink aria-[current=page]:bg-chosen aria-[current=page]:font-semibold aria-[current=page]:text-ink"
          >
            <page.icon aria-hidden size={15} />
            <span>{page.name}</span>
            {badge === 0 ? null : (
              <span
                className={`mono ml-auto rounded-sm px-1 text-xs ${urgent ? "tone-attention border border-attention text-attention" : "text-soft"}`}
              >
                {countText(badge)}
                <span className="sr-only"> {page.href === "/runs" ? "active" : "open"}</span>
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}
