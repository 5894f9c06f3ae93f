import type { ComponentPropsWithRef } from "react";

/** One primary per surface; `danger` for what ends or refuses something; `plain` for the rest. */
export type ButtonKind = "primary" | "danger" | "plain" | "quiet";

const kinds: Record<ButtonKind, string> = {
  primary: "border-active bg-active text-on-fill hover:brightness-110",
  danger: "border-danger bg-panel text-danger hover:bg-raised",
  plain: "border-edge bg-panel text-ink hover:bg-raised",
  quiet: "border-transparent bg-transparent text-soft hover:bg-raised hover:text-ink",
};

const base =
  "inline-flex h-8 items-center justify-center gap-1.5 whitespace-nowrap rounded-sm border px-3 font-medium disabled:opacity-60";

export function Button({
  kind = "plain",
  className = "",
  type = "button",
  ...rest
}: ComponentPropsWithRef<"button"> & { kind?: ButtonKind }) {
  return <button type={type} className={`${base} ${kinds[kind]} ${className}`} {...rest} />;
}

/** The look of a button for a link that goes somewhere. */
export const buttonClass = (kind: ButtonKind = "plain"): string => `${base} ${kinds[kind]}`;
