/** What an operator chooses for this browser. Kept in cookies, so the first paint already knows them. */
export interface Settings {
  readonly theme: "system" | "light" | "dark";
  readonly density: "regular" | "compact";
  /** An IANA zone, or `system` for the browser's own. */
  readonly zone: string;
}

export const defaultSettings: Settings = { theme: "system", density: "regular", zone: "system" };

export const settingCookie = (name: keyof Settings): string => `console_${name}`;

/** Reads a cookie's text; anything unknown is the default. */
export const readSettings = (cookie: (name: string) => string | undefined): Settings => {
  const theme = cookie(settingCookie("theme"));
  const zone = cookie(settingCookie("zone"));
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    density: cookie(settingCookie("density")) === "compact" ? "compact" : "regular",
    zone: zone !== undefined && isZone(zone) ? zone : "system",
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
