import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { meKey, meQuery, signIn, waysQuery } from "@/api/session";
import { Button } from "@/components/Button";
import { useT } from "@/i18n";
import { noteSignedOut } from "@/lib/expiry";
import { problemOf } from "@/lib/problem";
import { useSayer } from "@/lib/reason";
import { Door, DoorField } from "./Door";

/** Asks for a user name and a password. The address stays, so that one arrives where the link led. */
export default function SignIn({ over }: { over?: boolean }) {
  const t = useT();
  const { sayProblem } = useSayer();
  const client = useQueryClient();
  const ways = useQuery(waysQuery).data;
  // Whoever was signed in before signs in again.
  const [user, setUser] = useState(() => client.getQueryData(meQuery.queryKey)?.user ?? "");
  const [password, setPassword] = useState("");
  const enter = useMutation({
    mutationFn: () => signIn(user, password),
    onSuccess: (me) => {
      client.setQueryData(meKey, me);
      noteSignedOut(false);
      void client.invalidateQueries({ predicate: (q) => q.queryKey[0] !== meKey[0] });
    },
    onError: () => setPassword(""),
  });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    enter.mutate();
  };
  // The provider has led here, and we have not let in whom it sent.
  const refused = new URLSearchParams(window.location.search).get("refused");
  const here = refused ? "/" : window.location.pathname + window.location.search;
  const problem = enter.error ? problemOf(enter.error) : undefined;
  const wrong =
    problem && { unauthenticated: t.signIn.wrong, too_many: t.signIn.locked }[problem.code as string];
  return (
    <Door
      title={t.signIn.title}
      over={over}
      hint={over ? t.signIn.over : ways?.needs_administrator ? t.signIn.noAdministrator : undefined}
    >
      <form onSubmit={submit}>
        <DoorField label={t.signIn.user} autoComplete="username" value={user} onChange={setUser} />
        <DoorField
          label={t.signIn.password}
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
        />
        {refused && !problem && (
          <p className="ferr" role="alert">
            {t.signIn.refused[refused] ?? t.signIn.refused.provider}
          </p>
        )}
        {problem && (
          <p className="ferr" role="alert">
            {wrong ?? sayProblem(problem)}
          </p>
        )}
        <Button type="submit" look="primary" busy={enter.isPending}>
          {t.signIn.submit}
        </Button>
        {ways?.provider && (
          <a className="btn" href={`/api/v1/sign-in/oidc?to=${encodeURIComponent(here)}`}>
            {t.signIn.at(ways.provider)}
          </a>
        )}
      </form>
    </Door>
  );
}
