"use client";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { defaultSettings, settingCookie, type Settings } from "./read-settings.ts";

interface SettingsControl extends Settings {
  readonly change: (change: Partial<Settings>) => void;
}

const SettingsContext = createContext<SettingsControl>({ ...defaultSettings, change: () => {} });

export const useSettings = (): SettingsControl => useContext(SettingsContext);

const keep = (name: keyof Settings, value: string): void => {
  document.cookie = `${settingCookie(name)}=${encodeURIComponent(value)}; path=/; max-age=31536000; samesite=strict`;
};

export function SettingsProvider({
  initial,
  children,
}: {
  initial: Settings;
  children: ReactNode;
}) {
  const [settings, setSettings] = useState(initial);
  const change = useCallback((wanted: Partial<Settings>) => {
    setSettings((before) => ({ ...before, ...wanted }));
    if (wanted.theme !== undefined) {
      keep("theme", wanted.theme);
      if (wanted.theme === "system") delete document.documentElement.dataset["theme"];
      else document.documentElement.dataset["theme"] = wanted.theme;
    }
    if (wanted.density !== undefined) {
      keep("density", wanted.density);
      document.documentElement.dataset["density"] = wanted.density;
    }
    if (wanted.zone !== undefined) keep("zone", wanted.zone);
    if (wanted.notifications !== undefined) keep("notifications", wanted.notifications);
  }, []);
  const control = useMemo(() => ({ ...settings, change }), [settings, change]);
  return <SettingsContext value={control}>{children}</SettingsContext>;
}
