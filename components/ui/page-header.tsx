import type { ReactNode } from "react";

/** The first line of every page: its name, what stands beside it, and its filters below. */
export function PageHeader({
  title,
  aside,
  children,
}: {
  title: ReactNode;
  aside?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <header className="border-b border-line bg-panel px-4 py-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="max-w-full min-w-0 text-title font-semibold">{title}</h1>
        {aside}
      </div>
      {children === undefined ? null : (
        <div className="mt-2 flex flex-wrap items-center gap-2">{children}</div>
      )}
    </header>
  );
}
