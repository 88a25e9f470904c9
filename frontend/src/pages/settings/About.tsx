import { useMutation, useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { collectDiagnostics, healthQuery, versionQuery } from "@/api/cluster";
import { Button } from "@/components/Button";
import { CopyIconButton } from "@/components/Copy";
import { Card } from "@/components/Panel";
import { Refusal } from "@/components/Refusal";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { base } from "@/lib/base";
import { saveFile } from "@/lib/saving";
import { useMay } from "@/shell/may";

/** What this is, and where programs reach it. */
export default function About() {
  const t = usePageT();
  const version = useQuery(versionQuery).data;
  const health = useQuery(healthQuery).data;
  const admin = useMay()("admin", "*");
  return (
    <div className="grid two-up">
      <Card title={t.product}>
        <dl className="dl b">
          <dt>{t.settings.version}</dt>
          <dd className="mono">{version?.version ?? "—"}</dd>
          <dt>{t.settings.builtWith}</dt>
          <dd className="mono">{version?.go ?? "—"}</dd>
          <dt>{t.settings.licence}</dt>
          <dd>Apache-2.0</dd>
          {health?.checks.map((c) => (
            <div className="pairrow" key={c.name}>
              <dt>{t.health.part(c.name)}</dt>
              <dd className={c.ok ? "" : "c-bad"}>
                {c.ok ? t.cluster.answers : (c.detail ?? t.cluster.doesNot)}
              </dd>
            </div>
          ))}
        </dl>
      </Card>
      <Card title={t.settings.api} note={t.settings.apiHint}>
        <div className="b">
          <span className="row g1 command">
            <code className="pre">{`curl -H "Authorization: Bearer $TOKEN" ${base}/api/v1/jobs`}</code>
            <CopyIconButton text={`curl -H "Authorization: Bearer $TOKEN" ${base}/api/v1/jobs`} />
          </span>
        </div>
      </Card>
      {admin && <Diagnostics />}
    </div>
  );
}

/** One file with what a maintainer asks for. */
function Diagnostics() {
  const t = usePageT();
  const collect = useMutation({
    mutationFn: collectDiagnostics,
    onSuccess: ({ name, data }) => {
      saveFile(name, [data], data.type);
      toast({ text: t.settings.diagnosticsDone(name) });
    },
  });
  return (
    <Card title={t.settings.diagnostics}>
      <div className="b stack">
        <p className="sec">{t.settings.diagnosticsHint}</p>
        <Refusal error={collect.error} />
        <span>
          <Button icon={Download} busy={collect.isPending} onClick={() => collect.mutate()}>
            {t.settings.diagnosticsGet}
          </Button>
        </span>
      </div>
    </Card>
  );
}
