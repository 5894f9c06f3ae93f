"use client";
import { KeyRound } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { ConsoleProvider, useConsole } from "#components/shell/console-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field, Input } from "#components/ui/field.tsx";
import type { SignIn } from "#lib/contract/commands.ts";
import { safeNext, tokenFromAddress } from "./sign-in-address.ts";

export function SignInPage() {
  return (
    <ConsoleProvider>
      <main className="mx-auto flex min-h-dvh w-full max-w-[380px] flex-col justify-center gap-4 p-4">
        <header>
          <h1 className="text-title font-semibold">Effect Agent</h1>
          <p className="text-soft">Sign in to the operator console.</p>
        </header>
        <Ways />
      </main>
    </ConsoleProvider>
  );
}

function Ways() {
  const { api } = useConsole();
  const [token, setToken] = useState<string>();
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);

  // The link's token leaves the address at once, so that it is in no history and no screenshot.
  useEffect(() => {
    const found = tokenFromAddress(window.location);
    if (found === undefined) return;
    // The address is only known in the browser, after the page was drawn without it.
    // oxlint-disable-next-line react/set-state-in-effect
    setToken(found.token);
    window.history.replaceState(null, "", found.cleaned);
  }, []);

  const signIn = (credentials: SignIn): void => {
    setBusy(true);
    setFailure(undefined);
    api.signIn(credentials).then(
      () =>
        window.location.replace(safeNext(new URLSearchParams(window.location.search).get("next"))),
      (error: unknown) => {
        setFailure(error);
        setBusy(false);
      },
    );
  };

  return (
    <>
      {failure === undefined ? null : <Refused error={failure} />}
      {token === undefined ? null : (
        <Panel>
          <p>
            You opened a one-time link. It works once: only this button uses it, so a mail scanner
            that opened it has not used it up.
          </p>
          <Button kind="primary" disabled={busy} onClick={() => signIn({ token })}>
            <KeyRound aria-hidden size={15} /> {busy ? "Signing in…" : "Sign in with this link"}
          </Button>
        </Panel>
      )}
      <Password busy={busy} primary={token === undefined} onSignIn={signIn} />
      <p className="text-soft">
        No password yet? The server prints a one-time link at its first start, and an administrator
        can make one for you.
      </p>
    </>
  );
}

const Panel = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-col gap-3 rounded-md border border-line bg-panel p-4">{children}</div>
);

/** A refused sign-in stays on this page: its words are about the credentials, not about going to sign in. */
function Refused({ error }: { error: unknown }) {
  const refused = error instanceof Error && "tag" in error && error.tag === "Unauthenticated";
  if (!refused) return <ErrorPanel error={error} small />;
  return (
    <p role="alert" className="tone-danger tone-wash tone-edge rounded-sm border p-2">
      <strong>Not signed in.</strong> {error.message}
    </p>
  );
}

function Password({
  busy,
  primary,
  onSignIn,
}: {
  busy: boolean;
  primary: boolean;
  onSignIn: (credentials: SignIn) => void;
}) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  return (
    <form
      className="flex flex-col gap-3 rounded-md border border-line bg-panel p-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) onSignIn({ email: email.trim(), password });
      }}
    >
      <Field label="E-mail">
        {(ids) => (
          <Input
            {...ids}
            type="email"
            name="email"
            autoComplete="username"
            required
            maxLength={320}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label="Password">
        {(ids) => (
          <Input
            {...ids}
            type="password"
            name="password"
            autoComplete="current-password"
            required
            maxLength={1_024}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <Button kind={primary ? "primary" : "plain"} type="submit" disabled={busy}>
        {busy ? "Signing in…" : "Sign in"}
      </Button>
    </form>
  );
}
