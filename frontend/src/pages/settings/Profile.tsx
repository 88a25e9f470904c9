import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { endSession, sessionsQuery, setPassword } from "@/api/access";
import type { Me } from "@/api/schema.gen";
import { meKey, meQuery } from "@/api/session";
import { Button } from "@/components/Button";
import { Card } from "@/components/Panel";
import { Refusal } from "@/components/Refusal";
import { SegmentsField } from "@/components/Segments";
import { toast } from "@/components/Toasts";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { isZone, localZone, useLang } from "@/lib/format";
import type { Landing } from "@/lib/landing";
import { setPrefs, type Theme, usePrefs } from "@/lib/prefs";
import { useComplain } from "@/shell/actions";
import { AccessTags } from "./AccessTags";
import { SessionList } from "./SessionList";

/** Who one is, how the console looks, and from where one is signed in. */
export default function Profile() {
  const t = usePageT();
  const me = useQuery(meQuery);
  if (!me.data) return <Waiting on={me} rows={4} />;
  return (
    <div className="grid two-up">
      <div className="grid">
        <Card title={t.settings.you}>
          <dl className="dl b">
            <dt>{t.settings.user}</dt>
            <dd>{me.data.user}</dd>
            {me.data.display_name && (
              <>
                <dt>{t.settings.name}</dt>
                <dd>{me.data.display_name}</dd>
              </>
            )}
            <dt>{t.settings.access}</dt>
            <dd>
              <AccessTags access={me.data.access} />
            </dd>
          </dl>
        </Card>
        <Display />
      </div>
      <div className="grid">
        {me.data.has_password && <Password me={me.data} />}
        {me.data.how === "session" && <Sessions />}
      </div>
    </div>
  );
}

function Display() {
  const t = usePageT();
  const lang = useLang();
  const prefs = usePrefs();
  const zonesId = useId();
  const [zone, setZone] = useState(prefs.zone === "local" ? "" : prefs.zone);
  const change = (next: string) => {
    setZone(next);
    if (next === "" || isZone(next)) setPrefs({ zone: next || "local" });
  };
  return (
    <Card title={t.settings.display} note={t.settings.displayHint}>
      <div className="b fields">
        <SegmentsField
          label={t.top.language}
          value={lang}
          options={[
            { value: "en", label: "English" },
            { value: "zh", label: "简体中文" },
          ]}
          onChange={(next) => setPrefs({ lang: next })}
        />
        <SegmentsField<Theme>
          label={t.top.theme}
          value={prefs.theme}
          options={[
            { value: "light", label: t.top.themeLight },
            { value: "dark", label: t.top.themeDark },
            { value: "system", label: t.top.themeSystem },
          ]}
          onChange={(theme) => setPrefs({ theme })}
        />
        <label className="f" htmlFor={`${zonesId}z`}>
          <span className="lab">{t.top.zone}</span>
          <span className={zone === "" || isZone(zone) ? "inp" : "inp bad"}>
            <input
              id={`${zonesId}z`}
              value={zone}
              list={zonesId}
              placeholder={`${localZone} · ${t.top.myZone}`}
              onChange={(e) => change(e.target.value.trim())}
            />
          </span>
          <datalist id={zonesId}>
            {["UTC", ...Intl.supportedValuesOf("timeZone").filter((z) => z !== "UTC")].map((z) => (
              <option key={z} value={z} />
            ))}
          </datalist>
        </label>
        <SegmentsField<"12" | "24">
          label={t.settings.hours}
          value={prefs.hours === 12 ? "12" : "24"}
          options={[
            { value: "24", label: t.settings.hours24 },
            { value: "12", label: t.settings.hours12 },
          ]}
          onChange={(hours) => setPrefs({ hours: hours === "12" ? 12 : 24 })}
        />
        <SegmentsField<"usual" | "compact">
          label={t.settings.rows}
          value={prefs.compact ? "compact" : "usual"}
          options={[
            { value: "usual", label: t.settings.rowsUsual },
            { value: "compact", label: t.settings.rowsCompact },
          ]}
          onChange={(rows) => setPrefs({ compact: rows === "compact" })}
        />
        <SegmentsField<Landing>
          label={t.settings.landing}
          value={prefs.landing}
          options={[
            { value: "overview", label: t.nav.overview },
            { value: "jobs", label: t.nav.jobs },
          ]}
          onChange={(landing) => setPrefs({ landing })}
        />
        <label className="check">
          <input
            type="checkbox"
            className="ck"
            checked={prefs.letters}
            onChange={(e) => setPrefs({ letters: e.target.checked })}
          />
          <span>{t.shortcuts.letters}</span>
        </label>
      </div>
    </Card>
  );
}

function Password({ me }: { me: Me }) {
  const t = usePageT();
  const client = useQueryClient();
  const ids = useId();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const save = useMutation({
    mutationFn: () => setPassword(current, next),
    onSuccess: (now) => {
      client.setQueryData(meKey, now);
      void client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
      setCurrent("");
      setNext("");
      toast({ text: t.settings.passwordSet });
    },
  });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    save.mutate();
  };
  return (
    <Card title={t.settings.password} note={t.settings.passwordHint}>
      <form className="b fields" onSubmit={submit}>
        <input type="hidden" autoComplete="username" value={me.user} />
        <label className="f" htmlFor={`${ids}c`}>
          <span className="lab">{t.settings.current}</span>
          <span className="inp">
            <input
              id={`${ids}c`}
              type="password"
              autoComplete="current-password"
              required
              value={current}
              onChange={(e) => setCurrent(e.target.value)}
            />
          </span>
        </label>
        <label className="f" htmlFor={`${ids}n`}>
          <span className="lab">{t.settings.next}</span>
          <span className="inp">
            <input
              id={`${ids}n`}
              type="password"
              autoComplete="new-password"
              required
              minLength={12}
              value={next}
              onChange={(e) => setNext(e.target.value)}
            />
          </span>
          <span className="hint">{t.signIn.rule}</span>
        </label>
        <Refusal error={save.error} />
        <span>
          <Button type="submit" busy={save.isPending}>
            {t.settings.setPassword}
          </Button>
        </span>
      </form>
    </Card>
  );
}

function Sessions() {
  const t = usePageT();
  const client = useQueryClient();
  const complain = useComplain();
  const list = useQuery(sessionsQuery);
  const end = useMutation({
    mutationFn: endSession,
    onError: complain,
    onSuccess: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  const others = (list.data?.items ?? []).filter((x) => !x.current);
  const endAll = useMutation({
    mutationFn: () => Promise.all(others.map((x) => endSession(x.id))),
    onError: complain,
    onSettled: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  return (
    <Card
      title={t.settings.sessions}
      aside={
        others.length > 1 && (
          <Button small busy={endAll.isPending} onClick={() => endAll.mutate()}>
            {t.settings.endOthers}
          </Button>
        )
      }
    >
      {list.data ? (
        <SessionList
          sessions={list.data.items}
          ending={end.isPending ? end.variables : undefined}
          onEnd={end.mutate}
        />
      ) : (
        <Waiting on={list} rows={2} />
      )}
    </Card>
  );
}
