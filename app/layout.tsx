import type { Metadata, Viewport } from "next";
import { cookies, headers } from "next/headers";
import type { ReactNode } from "react";
import { readSettings } from "#components/shell/read-settings.ts";
import { SettingsProvider } from "#components/shell/settings.tsx";
import { earlyReadsScript } from "#lib/client/early-reads.ts";
import "./globals.css";

export const metadata: Metadata = { title: "Effect Agent", robots: "noindex" };
export const viewport: Viewport = { width: "device-width", initialScale: 1 };

const nonceOf = (policy: string | null): string | undefined =>
  policy === null ? undefined : /'nonce-([^']+)'/.exec(policy)?.[1];

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
      <head>
        {/* The server's policy lets only scripts with this request's nonce run. */}
        <script
          nonce={nonceOf((await headers()).get("content-security-policy"))}
          suppressHydrationWarning
          dangerouslySetInnerHTML={{ __html: earlyReadsScript }}
        />
      </head>
      <body>
        <SettingsProvider initial={settings}>{children}</SettingsProvider>
      </body>
    </html>
  );
}
