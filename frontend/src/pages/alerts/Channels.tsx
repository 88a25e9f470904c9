import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { List, Megaphone, Plus, Send, TriangleAlert } from "lucide-react";
import { useState } from "react";
import {
  alertsKey,
  channelsQuery,
  deleteChannel,
  deliveriesKey,
  putChannel,
  testChannel,
} from "@/api/alerts";
import type { Channel, ChannelHealth, ChannelItem } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { FormDialog } from "@/components/FormDialog";
import { Check, Choice, Field, TextField } from "@/components/fields";
import { Empty } from "@/components/Panel";
import { RowActions } from "@/components/RowActions";
import { Mark } from "@/components/Status";
import { Table } from "@/components/Table";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { isZone, localZone, relative } from "@/lib/format";
import { useNow } from "@/lib/now";
import { reasonOf, useSentence } from "@/lib/sentence";
import { useComplain } from "@/shell/actions";
import { RemoveDialog } from "@/shell/RemoveDialog";
import { useSave } from "@/shell/useSave";
import { Deliveries } from "./Deliveries";
import { MonthMail } from "./MonthMail";
import { QuietHours } from "./QuietHours";

const kinds = ["webhook", "email", "slack", "teams", "dingtalk", "wecom", "feishu", "pagerduty"] as const;
type Kind = (typeof kinds)[number];

/** The secrets that a channel of a kind may have. */
const secretsOf: Record<Kind, string[]> = {
  webhook: ["secret"],
  email: ["password"],
  slack: ["url"],
  teams: ["url"],
  dingtalk: ["url", "secret"],
  wecom: ["url"],
  feishu: ["url", "secret"],
  pagerduty: ["routing_key"],
};

/** The notification channels. */
export default function Channels() {
  const t = usePageT();
  const a = t.alerts;
  const complain = useComplain();
  const list = useQuery(channelsQuery);
  const [editing, setEditing] = useState<ChannelItem | "new">();
  const [removing, setRemoving] = useState<string>();
  const { channel: looking } = useSearch({ strict: false });
  const navigate = useNavigate();
  const look = (channel?: string) => void navigate({ to: ".", search: { channel } });
  const client = useQueryClient();
  const test = useMutation({
    mutationFn: testChannel,
    onError: complain,
    onSuccess: (_, channel) => {
      void client.invalidateQueries({ queryKey: deliveriesKey(channel) });
      void client.invalidateQueries({ queryKey: channelsQuery.queryKey });
    },
  });
  const create = (
    <Button look="primary" icon={Plus} onClick={() => setEditing("new")}>
      {a.newChannel}
    </Button>
  );
  if (!list.data) return <Waiting on={list} />;
  return (
    <>
      {list.data.items.length === 0 ? (
        <Empty icon={Megaphone} title={a.noChannels} hint={a.noChannelsHint}>
          {create}
        </Empty>
      ) : (
        <>
          <div className="filters">
            <span className="right">{create}</span>
          </div>
          <Table heads={[a.name, a.columns.kind, a.columns.delivery, a.columns.secrets]} actions={t.act.more}>
            {list.data.items.map((item) => {
              const c = item.definition;
              return (
                <tr key={c.channel}>
                  <td>
                    <span className="two-lines">
                      <b>
                        {c.channel} {c.disabled && <span className="tag">{a.off}</span>}
                      </b>
                      <span className="mut trunc">{c.description || c.url || c.email?.to.join(", ")}</span>
                    </span>
                  </td>
                  <td className="sec">{c.kind}</td>
                  <td>
                    <Health of={item.health} />
                  </td>
                  <td className={item.missing.length > 0 ? "c-warn" : "sec"}>
                    {item.missing.length > 0
                      ? a.missing(item.missing.map((s) => a.secretNames[s] ?? s).join(", "))
                      : item.secrets.map((s) => a.secretNames[s] ?? s).join(", ") || "—"}
                  </td>
                  <td className="r">
                    <Button
                      small
                      icon={Send}
                      busy={test.isPending && test.variables === c.channel}
                      disabled={item.missing.length > 0}
                      onClick={() => test.mutate(c.channel, { onSuccess: () => look(c.channel) })}
                    >
                      {a.tryIt}
                    </Button>
                    <IconButton
                      icon={List}
                      size={14}
                      label={a.deliveriesOf(c.channel)}
                      onClick={() => look(c.channel)}
                    />
                    <RowActions
                      name={c.channel}
                      edit={a.editRule(c.channel)}
                      onEdit={() => setEditing(item)}
                      onRemove={() => setRemoving(c.channel)}
                    />
                  </td>
                </tr>
              );
            })}
          </Table>
        </>
      )}
      {editing && (
        <ChannelDialog item={editing === "new" ? undefined : editing} onClose={() => setEditing(undefined)} />
      )}
      {looking && <Deliveries channel={looking} onClose={() => look()} />}
      {removing && (
        <RemoveDialog
          name={removing}
          title={a.remove(removing)}
          hint={a.removeChannelHint}
          act={() => deleteChannel(removing)}
          stale={alertsKey}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </>
  );
}

/** Whether messages get through to a channel. */
function Health({ of: h }: { of: ChannelHealth }) {
  const t = usePageT();
  const a = t.alerts;
  const say = useSentence();
  const now = useNow();
  const reached = h.sent_at ? a.reached(relative(h.sent_at, now, t)) : a.neverReached;
  if (h.failures === 0) return <span className="sec">{reached}</span>;
  const reason = say(reasonOf(h));
  return (
    <span className="two-lines">
      <Mark tone="bad" icon={TriangleAlert}>
        {a.fails(h.failures)}
      </Mark>
      <span className="mut trunc" title={reason}>
        {[reason, reached].filter(Boolean).join(" · ")}
      </span>
    </span>
  );
}

function ChannelDialog({ item, onClose }: { item: ChannelItem | undefined; onClose(): void }) {
  const t = usePageT();
  const a = t.alerts;
  const [channel, setChannel] = useState<Channel>(
    item?.definition ?? { channel: "", kind: "webhook", language: t.lang, zone: localZone },
  );
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const [to, setTo] = useState((item?.definition.email?.to ?? []).join("\n"));
  const set = (change: Partial<Channel>) => setChannel({ ...channel, ...change });
  const email = channel.email ?? { host: "", from: "", to: [] };
  const save = useSave({
    act: () => {
      const { url, ...rest } = channel;
      const whole: Channel = {
        ...rest,
        ...(url ? { url } : {}),
        ...(channel.kind === "email" ? { email: { ...email, to: to.split(/\s+/).filter(Boolean) } } : {}),
      };
      return putChannel(whole, item?.revision, secrets);
    },
    stale: alertsKey,
    onSaved: onClose,
  });
  return (
    <FormDialog
      title={item ? a.editRule(item.definition.channel) : a.newChannel}
      drawer
      verb={a.save}
      {...save}
      disabled={
        channel.channel === "" || ![channel.zone, channel.quiet_hours?.zone].every((z) => isZone(z ?? "UTC"))
      }
      onClose={onClose}
    >
      <div className="two">
        <TextField
          label={a.name}
          mono
          value={channel.channel}
          disabled={item !== undefined}
          placeholder="ops-chat"
          onChange={(v) => set({ channel: v.trim() })}
        />
        <Choice
          label={a.columns.kind}
          value={channel.kind}
          options={kinds.map((k) => ({ value: k, label: k }))}
          onChange={(kind) =>
            setChannel({
              channel: channel.channel,
              description: channel.description,
              quiet_hours: channel.quiet_hours,
              language: channel.language,
              zone: channel.zone,
              disabled: channel.disabled,
              kind,
            })
          }
        />
      </div>
      <TextField
        label={a.description}
        value={channel.description ?? ""}
        onChange={(v) => set({ description: v || undefined })}
      />
      {channel.kind === "webhook" && (
        <TextField
          label={a.url}
          mono
          value={channel.url ?? ""}
          placeholder="https://example.com/hook"
          onChange={(url) => set({ url: url.trim() })}
        />
      )}
      {channel.kind === "email" && (
        <>
          <div className="two">
            <TextField
              label={a.host}
              mono
              value={email.host}
              onChange={(host) => set({ email: { ...email, host } })}
            />
            <TextField
              label={a.port}
              type="number"
              value={email.port ? String(email.port) : ""}
              placeholder="587"
              onChange={(v) => set({ email: { ...email, port: v === "" ? undefined : Number(v) } })}
            />
            <TextField
              label={a.from}
              value={email.from}
              onChange={(from) => set({ email: { ...email, from } })}
            />
            <TextField
              label={a.user}
              value={email.user ?? ""}
              onChange={(user) => set({ email: { ...email, user: user || undefined } })}
            />
          </div>
          <Field label={a.to}>
            {(ids) => (
              <textarea
                {...ids}
                className="area"
                rows={3}
                value={to}
                onChange={(e) => setTo(e.target.value)}
              />
            )}
          </Field>
        </>
      )}
      {secretsOf[channel.kind].map((s) => (
        <TextField
          key={s}
          label={
            <>
              {a.secretNames[s] ?? s} {item?.secrets.includes(s) && <span className="mut">{a.kept}</span>}
            </>
          }
          type="password"
          value={secrets[s] ?? ""}
          onChange={(v) => setSecrets({ ...secrets, [s]: v })}
        />
      ))}
      <div className="two">
        <Choice
          label={a.language}
          value={channel.language ?? "en"}
          options={[
            { value: "en", label: "English" },
            { value: "zh", label: "中文" },
          ]}
          onChange={(language) => set({ language })}
        />
        <TextField
          label={a.zone}
          mono
          value={channel.zone ?? ""}
          placeholder="UTC"
          error={isZone(channel.zone ?? "UTC") ? undefined : a.noZone}
          onChange={(zone) => set({ zone: zone.trim() || undefined })}
        />
      </div>
      {channel.kind === "email" && (
        <MonthMail value={channel.month_report} onChange={(month_report) => set({ month_report })} />
      )}
      <QuietHours value={channel.quiet_hours} onChange={(quiet_hours) => set({ quiet_hours })} />
      <Check label={a.enabled} checked={!channel.disabled} onChange={(on) => set({ disabled: !on })} />
    </FormDialog>
  );
}
