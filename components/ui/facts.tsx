import type { ReactNode } from "react";

/** Names and values in two columns; one column where it is narrow. */
export const Facts = ({ children }: { children: ReactNode }) => (
  <dl className="grid grid-cols-1 gap-x-4 gap-y-1 sm:grid-cols-[max-content_minmax(0,1fr)]">
    {children}
  </dl>
);

export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-soft">{name}</dt>
    <dd className="mb-1 min-w-0 break-words sm:mb-0">{children}</dd>
  </>
);

/** A part of a page under a hairline, with its heading. */
export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="border-t border-line px-4 py-3">
      <div className="mb-2 flex min-h-6 flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="font-semibold">{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
