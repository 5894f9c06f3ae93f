/** Rows with the geometry of what is coming, shown only when it takes longer than 150 ms. */
export function SkeletonRows({
  rows = 8,
  height = 32,
  label,
}: {
  rows?: number;
  height?: number;
  label: string;
}) {
  return (
    <output aria-label={`Loading ${label}`} className="appear-late block">
      {Array.from({ length: rows }, (_, index) => (
        // Placeholders have no identity of their own.
        // oxlint-disable-next-line react/no-array-index-key
        <div
          key={index}
          aria-hidden
          className="flex items-center gap-3 border-b border-line px-4"
          style={{ height }}
        >
          <span className="h-2.5 w-4 rounded-sm bg-raised" />
          <span
            className="h-2.5 rounded-sm bg-raised"
            style={{ width: `${[38, 52, 30, 46][index % 4]}%` }}
          />
          <span className="ml-auto h-2.5 w-16 rounded-sm bg-raised" />
        </div>
      ))}
    </output>
  );
}
