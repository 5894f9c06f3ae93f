import { Dialog as Primitive } from "radix-ui";
import type { ReactNode } from "react";

/** A question or a sheet over the page; focus stays inside and returns where it came from. */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  children,
  wide = false,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: string;
  children: ReactNode;
  wide?: boolean;
}) {
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 bg-[light-dark(oklch(0.235_0.015_260/0.4),oklch(0.08_0.01_260/0.65))]" />
        <Primitive.Content
          className={`fixed top-[10vh] left-1/2 z-50 flex max-h-[80vh] w-[min(94vw,var(--width))] -translate-x-1/2 flex-col gap-3 overflow-auto rounded-md border border-edge bg-panel p-4 ${
            wide ? "[--width:720px]" : "[--width:460px]"
          }`}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
        >
          <Primitive.Title className="text-title font-semibold">{title}</Primitive.Title>
          {description === undefined ? null : (
            <Primitive.Description className="text-soft">{description}</Primitive.Description>
          )}
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
