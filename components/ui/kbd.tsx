/** One key as it is written on the keyboard. */
export const Kbd = ({ children }: { children: string }) => (
  <kbd className="inline-block min-w-5 rounded-sm border border-line bg-raised px-1 text-center text-xs text-soft">
    {children}
  </kbd>
);
