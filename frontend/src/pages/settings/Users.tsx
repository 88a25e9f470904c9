import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Ellipsis, KeyRound, Link2, MonitorSmartphone, Pencil, Plus, Trash2, UserX } from "lucide-react";
import { useState } from "react";
import { deleteUser, inviteUser, putUser, usersKey, usersQuery } from "@/api/access";
import type { Access, UserItem } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { FormDialog } from "@/components/FormDialog";
import { Check, TextField } from "@/components/fields";
import { Menu, MenuItem, MenuLine } from "@/components/Menu";
import { Letters } from "@/components/Owner";
import { Card } from "@/components/Panel";
import { Reveal } from "@/components/Reveal";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useComplain } from "@/shell/actions";
import { RemoveDialog } from "@/shell/RemoveDialog";
import { useSave } from "@/shell/useSave";
import { AccessRows, isWhole, newAccess } from "./AccessRows";
import { AccessTags } from "./AccessTags";
import { SessionsDialog } from "./SessionsDialog";

/** Who may sign in, and what each may do. */
export default function Users() {
  const t = usePageT();
  const s = t.settings;
  const list = useQuery(usersQuery);
  const [editing, setEditing] = useState<UserItem | "new">();
  const [link, setLink] = useState<{ user: string; link: string; expires_at: string }>();
  const [removing, setRemoving] = useState<UserItem>();
  if (!list.data) return <Waiting on={list} />;
  return (
    <>
      <Card
        title={s.tabs.users}
        note={s.usersHint}
        aside={
          <Button look="primary" icon={Plus} onClick={() => setEditing("new")}>
            {s.newUser}
          </Button>
        }
      >
        <Table heads={[s.user, s.access, s.signsIn, s.updated]} actions={t.act.more}>
          {list.data.items.map((u) => (
            <UserRow
              key={u.user}
              user={u}
              onEdit={() => setEditing(u)}
              onLink={setLink}
              onRemove={() => setRemoving(u)}
            />
          ))}
        </Table>
        {list.data.items.length === 0 && <p className="b sec">{s.noUsers}</p>}
      </Card>
      {editing && (
        <UserDialog
          user={editing === "new" ? undefined : editing}
          onClose={() => setEditing(undefined)}
          onLink={setLink}
        />
      )}
      {link && (
        <Reveal
          title={s.linkFor(link.user)}
          hint={s.linkHint}
          secret={link.link}
          expires={link.expires_at}
          onClose={() => setLink(undefined)}
        />
      )}
      {removing && (
        <RemoveDialog
          name={removing.user}
          title={s.removeUser(removing.user)}
          hint={s.removeUserHint}
          act={() => deleteUser(removing.user)}
          stale={usersKey}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </>
  );
}

interface UserRowProps {
  user: UserItem;
  onEdit(): void;
  onLink(link: { user: string; link: string; expires_at: string }): void;
  onRemove(): void;
}

function UserRow({ user: u, onEdit, onLink, onRemove }: UserRowProps) {
  const t = usePageT();
  const s = t.settings;
  const invite = useInvite(onLink);
  const [showing, setShowing] = useState(false);
  return (
    <tr>
      <td>
        <span className="row g2">
          <Letters name={u.display_name || u.user} />
          <span className="two-lines">
            <b>{u.user}</b>
            <span className="mut">{u.display_name}</span>
          </span>
          {u.disabled && (
            <span className="tag c-warn">
              <UserX size={12} aria-hidden /> {s.disabled}
            </span>
          )}
        </span>
      </td>
      <td>
        <AccessTags access={u.access} />
      </td>
      <td className="sec">{s.ways[u.signs_in]}</td>
      <td className="mut">
        <Ago at={u.updated_at} />
      </td>
      <td className="r">
        <Menu
          trigger={
            <button type="button" className="ic" aria-label={`${t.act.more}: ${u.user}`}>
              <Ellipsis size={16} aria-hidden />
            </button>
          }
        >
          <MenuItem icon={Pencil} onSelect={onEdit}>
            {t.act.edit}
          </MenuItem>
          <MenuItem icon={Link2} onSelect={() => invite.mutate(u.user)}>
            {s.makeLink}
          </MenuItem>
          <MenuItem icon={MonitorSmartphone} onSelect={() => setShowing(true)}>
            {s.showSessions}
          </MenuItem>
          <MenuLine />
          <MenuItem icon={Trash2} danger onSelect={onRemove}>
            {t.act.remove}
          </MenuItem>
        </Menu>
        {showing && <SessionsDialog user={u.user} onClose={() => setShowing(false)} />}
      </td>
    </tr>
  );
}

function useInvite(onLink: UserRowProps["onLink"]) {
  const complain = useComplain();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (user: string) => inviteUser(user),
    onError: complain,
    onSuccess: (made, user) => {
      onLink({ user, ...made });
      // The link is a part of the user: edits need the new revision.
      return client.invalidateQueries({ queryKey: usersKey });
    },
  });
}

interface UserDialogProps {
  user: UserItem | undefined;
  onClose(): void;
  onLink: UserRowProps["onLink"];
}

/** Creates a user, who then gets a link to choose a password by, or edits one. */
function UserDialog({ user, onClose, onLink }: UserDialogProps) {
  const t = usePageT();
  const s = t.settings;
  const [name, setName] = useState(user?.user ?? "");
  const [display, setDisplay] = useState(user?.display_name ?? "");
  const [access, setAccess] = useState<Access[]>(user?.access ?? [newAccess]);
  const [disabled, setDisabled] = useState(user?.disabled ?? false);
  const [program, setProgram] = useState(false);
  const invite = useInvite(onLink);
  const save = useSave({
    act: () => putUser(name, { display_name: display, access, disabled }, user?.revision),
    stale: usersKey,
    onSaved: () => {
      onClose();
      if (!user && !program) invite.mutate(name);
    },
  });
  return (
    <FormDialog
      title={user ? s.editUser(user.user) : s.newUser}
      wide
      verb={user ? s.saveUser : program ? s.create : s.createAndInvite}
      {...save}
      disabled={name === "" || !isWhole(access)}
      onClose={onClose}
    >
      <div className="two">
        <TextField
          label={s.user}
          value={name}
          disabled={user !== undefined}
          spellCheck={false}
          placeholder="lin.wei"
          onChange={(v) => setName(v.trim())}
        />
        <TextField label={s.name} optional value={display} maxLength={200} onChange={setDisplay} />
      </div>
      <AccessRows value={access} onChange={setAccess} />
      {user ? (
        <Check label={s.disableHint} checked={disabled} onChange={setDisabled} />
      ) : (
        <Check
          label={
            <>
              <KeyRound size={13} aria-hidden /> {s.program}
            </>
          }
          checked={program}
          onChange={setProgram}
        />
      )}
    </FormDialog>
  );
}
