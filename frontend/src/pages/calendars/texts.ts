import { usePage } from "@/i18n";
import { calendars as en } from "@/i18n/en/calendars";
import { calendars as zh } from "@/i18n/zh/calendars";

const texts = { en: { calendars: en }, zh: { calendars: zh } };

export const useCalendarT = () => usePage(texts);
