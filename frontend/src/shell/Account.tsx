import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LogOut } from "lucide-react";
import { meQuery, signOut } from "@/api/session";
import { IconButton } from "@/components/Button";
import { useT } from "@/i18n";
import { noteSignedOut } from "@/lib/expiry";
import { lettersOf } from "@/lib/letters";

const ranks = ["viewer", "operator", "editor", "admin"];

/** Who is signed in, with their highest role, and the way out. */
export function Account() {
  const t = useT();
  const client = useQueryClient();
  const me = useQuery(meQuery).data;
  if (!me) return null;
  const name = me.display_name || me.user;
  const role = me.access.map((a) => a.role).sort((a, b) => ranks.indexOf(b) - ranks.indexOf(a))[0];
  const leave = () =>
    void signOut().finally(() => {
      client.clear();
      noteSignedOut(true);
      if (me.sign_out_at) window.location.assign(me.sign_out_at);
    });
  return (
    <section className="me" aria-label={t.signIn.account}>
      <span className="av" aria-hidden>
        {lettersOf(name)}
      </span>
      <Link to="/settings" className="trunc grow plain">
        {name}
      </Link>
      <span className="mut">{role && t.signIn.roles[role]}</span>
      {me.how === "session" && <IconButton icon={LogOut} size={14} label={t.signIn.out} onClick={leave} />}
    </section>
  );
}
