import { Dialog } from "#components/ui/dialog.tsx";
import { Kbd } from "#components/ui/kbd.tsx";
import { keyTable } from "./key-table.ts";

const groups = ["Move", "Decide", "Go to", "Console"] as const;

/** The keys, from the same table that the handler acts by. */
export default function ShortcutSheet({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Keys"
      description="Off while you type in a field."
      wide
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {groups.map((group) => (
          <section key={group} aria-label={group}>
            <h3 className="mb-1 font-semibold">{group}</h3>
            <dl className="grid grid-cols-[max-content_1fr] gap-x-3 gap-y-1">
              {keyTable
                .filter((row) => row.group === group)
                .map((row) => (
                  <div key={row.does} className="contents">
                    <dt className="flex gap-1">
                      {row.withCommand === true ? <Kbd>Ctrl/⌘</Kbd> : null}
                      {row.keys.map((key) => (
                        <Kbd key={key}>{key === "Escape" ? "Esc" : key}</Kbd>
                      ))}
                    </dt>
                    <dd>{row.does}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
