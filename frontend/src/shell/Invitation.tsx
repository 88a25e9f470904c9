import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { acceptInvitation, invitationQuery, meKey } from "@/api/session";
import { Button } from "@/components/Button";
import { Refusal } from "@/components/Refusal";
import { useT } from "@/i18n";
import { noteSignedOut } from "@/lib/expiry";
import { problemOf } from "@/lib/problem";
import { useSayer } from "@/lib/reason";
import { Door, DoorField } from "./Door";

/** What a one-time link opens: somebody chooses a password; the first administrator a name too. */
export default function Invitation({ secret, onDone }: { secret: string; onDone(): void }) {
  const t = useT();
  const { sayProblem } = useSayer();
  const client = useQueryClient();
  const invitation = useQuery(invitationQuery(secret));
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const accept = useMutation({
    mutationFn: () => acceptInvitation(secret, password, invitation.data?.administrator ? user : undefined),
    onSuccess: (me) => {
      client.clear();
      client.setQueryData(meKey, me);
      noteSignedOut(false);
      onDone();
    },
  });
  if (invitation.isPending) return null;
  if (invitation.isError) {
    const problem = problemOf(invitation.error);
    return (
      <Door title={problem.code === "not_found" ? t.signIn.used : sayProblem(problem)}>
        <Button look="primary" onClick={onDone}>
          {t.signIn.toSignIn}
        </Button>
      </Door>
    );
  }
  const submit = (e: FormEvent) => {
    e.preventDefault();
    accept.mutate();
  };
  const { administrator, user: whose = "" } = invitation.data;
  return (
    <Door title={administrator ? t.signIn.administrator : t.signIn.invited(whose)}>
      <form onSubmit={submit}>
        {administrator && (
          <DoorField label={t.signIn.user} autoComplete="username" value={user} onChange={setUser} />
        )}
        <DoorField
          label={t.signIn.password}
          type="password"
          autoComplete="new-password"
          minLength={12}
          hint={t.signIn.rule}
          value={password}
          onChange={setPassword}
        />
        <Refusal error={accept.error} />
        <Button type="submit" look="primary" busy={accept.isPending}>
          {t.signIn.choose}
        </Button>
      </form>
    </Door>
  );
}
