import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, Download, Info, Printer } from "lucide-react";
import { jobFacets } from "@/api/jobs";
import { monthExport, monthQuery } from "@/api/reports";
import { IconButton } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { Waiting } from "@/components/Waiting";
import { tags } from "@/i18n";
import { usePageWords } from "@/lib/format";
import { addMonths, dateIn, isMonth } from "@/lib/month";
import { useNow } from "@/lib/now";
import { Page } from "@/shell/Page";
import { Changes } from "./Changes";
import { Figures } from "./Figures";
import { Failures, Reasons, Slowest, Targets } from "./Lists";
import "./month.css";

/** The server knows days of time zones but UTC for so long. */
const zonesKnown = 98 * 86_400_000;

const dimensions = ["group", "owner", "tag"] as const;

/** A month beside the month before: of a group, an owner or a tag, to read, print or save. */
export default function MonthPage() {
  const { t, f } = usePageWords();
  const m = t.month;
  const navigate = useNavigate({ from: "/reports/month" });
  const search = useSearch({ from: "/reports/month" });
  const present = dateIn(f.zone, useNow()).slice(0, 7);
  const month = isMonth(search.month) && search.month <= present ? search.month : addMonths(present, -1);
  const isKnown = Date.parse(`${addMonths(month, -1)}-01`) > useNow() - zonesKnown;
  const { group, owner, tag } = search;
  const asked = { month, zone: isKnown ? f.zone : "UTC", group, owner, tag };
  const report = useQuery(monthQuery(asked));
  const facets = useQuery(jobFacets({})).data?.items ?? {};
  const set = (change: typeof search) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const name = new Intl.DateTimeFormat(tags[f.lang], {
    year: "numeric",
    month: "long",
    timeZone: "UTC",
  }).format(Date.parse(`${month}-01`));
  const chosen = dimensions.filter((d) => search[d]).map((d) => `${m.of[d]} ${search[d]}`);
  const { data } = report;
  return (
    <Page
      crumbs={[{ text: t.overview.title, to: "/" }, { text: m.title }]}
      actions={
        <>
          <a
            className="btn sm"
            href={monthExport(asked)}
            download={`month-${month}.csv`}
            aria-label={`${t.logs.export} CSV`}
          >
            <Download size={14} aria-hidden />
            <span className="hide-s">CSV</span>
          </a>
          <IconButton icon={Printer} label={m.print} onClick={() => window.print()} />
        </>
      }
    >
      <div className="pad monthreport">
        <div className="row g3 wrap monthhead">
          <IconButton
            icon={ChevronLeft}
            label={t.job.month.prev}
            onClick={() => set({ month: addMonths(month, -1) })}
          />
          <h2>{name}</h2>
          <IconButton
            icon={ChevronRight}
            label={t.job.month.next}
            disabled={month >= present}
            onClick={() => set({ month: addMonths(month, 1) })}
          />
          {dimensions.map((d) => (
            <FilterChip
              key={d}
              name={m.of[d]}
              options={(facets[d] ?? [])
                .filter((v) => v.value !== "none")
                .map((v) => ({ value: v.value, label: v.value, n: v.count }))}
              chosen={[search[d] ?? []].flat()}
              onChange={([next]) => set({ [d]: next })}
            />
          ))}
        </div>
        {!data || report.isError ? (
          <Waiting on={report} rows={12} />
        ) : (
          <div className={report.isPlaceholderData ? "stale" : ""}>
            <p className="mut">
              {[chosen.length > 0 ? chosen.join(", ") : m.all, m.jobs(data.jobs), data.zone].join(" · ")}
            </p>
            {month === present && <Note text={m.open} />}
            {data.runs_since && <Note text={m.since(f.full(data.runs_since))} />}
            <div className="grid halves steady">
              <Figures report={data} />
              <Targets report={data} />
              <Reasons report={data} />
              <Failures report={data} />
              <Slowest report={data} />
              <Changes report={data} />
            </div>
          </div>
        )}
      </div>
    </Page>
  );
}

function Note({ text }: { text: string }) {
  return (
    <p className="note spaced">
      <Info size={15} aria-hidden />
      {text}
    </p>
  );
}
