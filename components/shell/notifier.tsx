"use client";
import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { notificationsOf, type NotificationText } from "#lib/client/notification-text.ts";
import { useLiveStore } from "./live.tsx";
import { useMe } from "./me.ts";

/** Held by the one tab that shows notifications, and shared by every tab that somebody looks at. */
const lockNames = (operatorId: string) => ({
  notifier: `effect-agent-notifier:${operatorId}`,
  watched: `effect-agent-watched:${operatorId}`,
});

/** Holds a lock until the signal fires; asks for nothing where the browser has none. */
const holdWhile = (name: string, mode: LockMode, signal: AbortSignal, held: () => void): void => {
  navigator.locks
    ?.request(name, { mode, signal }, () => {
      held();
      return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    })
    .catch(() => {
      // It was given up before it was had.
    });
};

/** True while any tab of this operator's console is in view. */
const isWatched = async (name: string): Promise<boolean> => {
  const { held = [] } = await navigator.locks.query();
  return held.some((lock) => lock.name === name);
};

const show = ({ tag, title, body, href }: NotificationText, goTo: (href: string) => void): void => {
  try {
    const shown = new Notification(title, { tag, body });
    shown.onclick = () => {
      window.focus();
      goTo(href);
      shown.close();
    };
  } catch {
    // Some phones show them only through a service worker, which this console has none of.
  }
};

/**
 * Shows browser notifications for new approvals and effects in doubt while no tab of the console is in view:
 * one per browser, by the tab that leads. Mounted only where the operator has switched them on.
 */
export default function Notifier() {
  const store = useLiveStore();
  const { operatorId } = useMe();
  const router = useRouter();
  const { notifier, watched } = lockNames(operatorId);

  useEffect(() => {
    let view = new AbortController();
    const watch = (): void => {
      view.abort();
      view = new AbortController();
      if (document.visibilityState === "visible")
        holdWhile(watched, "shared", view.signal, () => {});
    };
    watch();
    document.addEventListener("visibilitychange", watch);
    return () => {
      document.removeEventListener("visibilitychange", watch);
      view.abort();
    };
  }, [watched]);

  useEffect(() => {
    const lead = new AbortController();
    let leads = false;
    holdWhile(notifier, "exclusive", lead.signal, () => (leads = true));
    const stop = store.onEvents((events) => {
      if (!leads || Notification.permission !== "granted") return;
      const texts = notificationsOf(events);
      if (texts.length === 0) return;
      void isWatched(watched).then((seen) => {
        if (seen) return;
        for (const text of texts) show(text, (href) => router.push(href));
      });
    });
    return () => {
      stop();
      lead.abort();
    };
  }, [store, notifier, watched, router]);

  return null;
}
