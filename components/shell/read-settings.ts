/** What an operator chooses for this browser. Kept in cookies, so the first paint already knows them. */
export interface Settings {
  readonly theme: "system" | "light" | "dark";
  readonly density: "regular" | "compact";
  /** An IANA zone, or `system` for the browser's own. */
  readonly zone: string;
  /** Browser notifications for new approvals and effects in doubt while no tab is in view. */
  readonly notifications: "off" | "on";
}

export const defaultSettings: Settings = {
  theme: "system",
  density: "regular",
  zone: "system",
  notifications: "off",
};

export const settingCookie = (name: keyof Settings): string => `console_${name}`;

/** Reads a cookie's text; anything unknown is the default. */
export const readSettings = (cookie: (name: string) => string | undefined): Settings => {
  const theme = cookie(settingCookie("theme"));
  const zone = cookie(settingCookie("zone"));
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    density: cookie(settingCookie("density")) === "compact" ? "compact" : "regular",
    zone: zone !== undefined && isZone(zone) ? zone : "system",
    notifications: cookie(settingCookie("notifications")) === "on" ? "on" : "off",
  };
};

export const isZone = (zone: string): boolean => {
  try {
    Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
};
