"use client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { useMe } from "#components/shell/me.ts";
import { useSettings } from "#components/shell/settings.tsx";
import { useNow } from "#components/shell/use-now.ts";
import { Button } from "#components/ui/button.tsx";
import { Fact, Facts, Section } from "#components/ui/facts.tsx";
import { Field, Input, Select } from "#components/ui/field.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Notifications } from "./notifications.tsx";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";

/** What an operator sets for this browser, and their own way to sign in. */
export function SettingsPage() {
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <PageHeader title="Settings" />
      <div className="min-h-0 flex-1 overflow-auto bg-panel">
        <div className="max-w-[560px]">
          <Looks />
          <Notifications />
          <Password />
          <Account />
        </div>
      </div>
    </div>
  );
}

const themes = ["system", "light", "dark"] as const;
const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];

function Looks() {
  const settings = useSettings();
  const now = useNow();
  return (
    <Section title="This browser">
      <div className="flex flex-col gap-3">
        <Field label="Theme">
          {(ids) => (
            <Select
              {...ids}
              value={settings.theme}
              onChange={(event) =>
                settings.change({
                  theme: themes.find((one) => one === event.target.value) ?? "system",
                })
              }
            >
              <option value="system">as the system</option>
              <option value="light">light</option>
              <option value="dark">dark</option>
            </Select>
          )}
        </Field>
        <Field label="Density">
          {(ids) => (
            <Select
              {...ids}
              value={settings.density}
              onChange={(event) =>
                settings.change({
                  density: event.target.value === "compact" ? "compact" : "regular",
                })
              }
            >
              <option value="regular">regular</option>
              <option value="compact">compact</option>
            </Select>
          )}
        </Field>
        <Field
          label="Time zone"
          hint={
            <>
              Every time on every page; now it is <At at={now} />.
            </>
          }
        >
          {(ids) => (
            <Select
              {...ids}
              value={settings.zone}
              onChange={(event) => settings.change({ zone: event.target.value })}
            >
              <option value="system">the browser's own</option>
              {zones.map((zone) => (
                <option key={zone} value={zone}>
                  {zone}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
    </Section>
  );
}

const leastCharacters = 12;

function Password() {
  const { api } = useConsole();
  const me = useMe();
  const [password, setPassword] = useState("");
  const save = useMutation({
    mutationFn: () => api.setPassword(password),
    onSuccess: () => setPassword(""),
  });
  const short = password.length < leastCharacters;
  return (
    <Section title={me.hasPassword ? "Change your password" : "Set a password"}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (!short && !save.isPending) save.mutate();
        }}
      >
        <Field label="New password" hint={`At least ${leastCharacters} characters.`}>
          {(ids) => (
            <Input
              {...ids}
              type="password"
              autoComplete="new-password"
              value={password}
              maxLength={1_024}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        {save.isError ? <ErrorPanel error={save.error} small /> : null}
        <div className="flex items-center gap-3">
          <Button type="submit" disabled={short || save.isPending}>
            {save.isPending ? "Saving…" : "Save the password"}
          </Button>
          {save.isSuccess ? <output>Saved, confirmed by the server.</output> : null}
        </div>
      </form>
    </Section>
  );
}

function Account() {
  const { api } = useConsole();
  const me = useMe();
  const out = useMutation({
    mutationFn: () => api.signOut(),
    onSuccess: () => window.location.assign("/sign-in"),
  });
  return (
    <Section title="Signed in as">
      <Facts>
        <Fact name="Name">
          <VisibleText text={me.name} line />
        </Fact>
        <Fact name="E-mail">
          <VisibleText text={me.email} line />
        </Fact>
        <Fact name="Role">{me.role}</Fact>
        <Fact name="Model">
          <code>{me.modelId}</code>
          {me.rehearsal ? " (the rehearsal model, no AI)" : ""}
        </Fact>
      </Facts>
      {out.isError ? <ErrorPanel error={out.error} small /> : null}
      <Button className="mt-3" onClick={() => out.mutate()} disabled={out.isPending}>
        Sign out
      </Button>
    </Section>
  );
}
