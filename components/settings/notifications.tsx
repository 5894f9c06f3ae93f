"use client";
import { useId, useState, useSyncExternalStore } from "react";
import { useSettings } from "#components/shell/settings.tsx";
import { Section } from "#components/ui/facts.tsx";

type Permission = NotificationPermission | "unsupported";

const permissionNow = (): Permission =>
  typeof Notification === "undefined" || typeof navigator.locks === "undefined"
    ? "unsupported"
    : Notification.permission;

const never = (): (() => void) => () => {};

const words: Record<Permission, string> = {
  granted: "The browser shows them.",
  default: "The browser asks you once when you switch them on.",
  denied:
    "The browser blocks them for this address. Allow notifications in its site settings, then switch them on here.",
  unsupported: "This browser cannot show them, or the address is not a secure one.",
};

/** The only place where the browser's permission is asked for, and only by the switch (CONSOLE, notifications). */
export function Notifications() {
  const { notifications, change } = useSettings();
  const id = useId();
  const first = useSyncExternalStore(never, permissionNow, () => "default" as const);
  const [asked, setAsked] = useState<Permission>();
  const permission = asked ?? first;
  const on = notifications === "on" && permission === "granted";
  const blocked = permission === "denied" || permission === "unsupported";
  const toggle = async (wanted: boolean): Promise<void> => {
    if (!wanted) return change({ notifications: "off" });
    const answer = await Notification.requestPermission();
    setAsked(answer);
    change({ notifications: answer === "granted" ? "on" : "off" });
  };
  return (
    <Section title="Notifications">
      <div className="flex items-start gap-2">
        <input
          id={id}
          type="checkbox"
          checked={on}
          disabled={blocked && !on}
          aria-describedby={`${id}-about`}
          onChange={(event) => void toggle(event.target.checked)}
          className="mt-1"
        />
        <div>
          <label htmlFor={id} className="font-medium">
            Notify me of new approvals and effects in doubt
          </label>
          <p id={`${id}-about`} className="text-soft">
            Only while no tab of this console is in view, once per browser. They show the tool and
            the words that its list shows, names and amounts in them included, also on a locked
            screen. {words[permission]}
          </p>
        </div>
      </div>
    </Section>
  );
}
