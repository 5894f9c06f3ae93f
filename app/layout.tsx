import type { Metadata, Viewport } from "next";
import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { readSettings } from "#components/shell/read-settings.ts";
import { SettingsProvider } from "#components/shell/settings.tsx";
import "./globals.css";

export const metadata: Metadata = { title: "Effect Agent", robots: "noindex" };
export const viewport: Viewport = { width: "device-width", initialScale: 1 };

/** Reading the cookies makes every page dynamic, which the nonce of its scripts needs anyway. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const jar = await cookies();
  const settings = readSettings((name) => jar.get(name)?.value);
  return (
    <html
      lang="en"
      data-density={settings.density}
      {...(settings.theme === "system" ? {} : { "data-theme": settings.theme })}
    >
      <body>
        <SettingsProvider initial={settings}>{children}</SettingsProvider>
      </body>
    </html>
  );
}
