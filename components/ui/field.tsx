import type { ComponentPropsWithRef, ReactNode } from "react";
import { useId } from "react";

const box =
  "w-full rounded-sm border border-edge bg-panel px-2 text-ink disabled:opacity-60 aria-invalid:border-danger";

/** A label, its control, a hint and what is wrong, tied together for screen readers. */
export function Field({
  label,
  hint,
  problem,
  children,
}: {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
  children: (ids: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}) {
  const id = useId();
  const described = hint !== undefined || problem !== undefined ? `${id}-about` : undefined;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({
        id,
        ...(described === undefined ? {} : { "aria-describedby": described }),
        ...(problem === undefined ? {} : { "aria-invalid": true as const }),
      })}
      {described === undefined ? null : (
        <p id={described} className={problem === undefined ? "text-soft" : "text-danger"}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

export const Input = ({ className = "", ...rest }: ComponentPropsWithRef<"input">) => (
  <input className={`${box} h-8 ${className}`} {...rest} />
);
export const TextArea = ({ className = "", ...rest }: ComponentPropsWithRef<"textarea">) => (
  <textarea className={`${box} min-h-16 py-1.5 ${className}`} {...rest} />
);
export const Select = ({ className = "", ...rest }: ComponentPropsWithRef<"select">) => (
  <select className={`${box} h-8 ${className}`} {...rest} />
);
