import { t } from '../i18n/t.ts';
import { settings } from '../data/settings.ts';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

function zone(): { timeZone?: string } {
  const { timeZone } = settings.get();
  return timeZone === '' ? {} : { timeZone };
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** Cached, because creating a format is slow and a transcript uses one per row. */
function getFormat(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${name} ${settings.get().timeZone}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat(undefined, { ...options, ...zone() });
  } catch {
    format = new Intl.DateTimeFormat(undefined, options);
  }
  formats.set(key, format);
  return format;
}

/** 24 hours in every language: the column of the transcript is narrow. */
export function formatTime(at: string | number): string {
  return getFormat('time', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }).format(
    new Date(at),
  );
}

export function formatDateTime(at: string | number): string {
  return getFormat('both', { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at));
}

export function formatDate(at: string | number): string {
  return getFormat('date', { dateStyle: 'medium' }).format(new Date(at));
}

export function formatDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, {
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  });
}

export function formatAge(at: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < MINUTE) return t('{n} s', { n: seconds });
  if (seconds < HOUR) return t('{n} min', { n: Math.floor(seconds / MINUTE) });
  if (seconds < DAY) return t('{n} h', { n: Math.floor(seconds / HOUR) });
  return t('{n} d', { n: Math.floor(seconds / DAY) });
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return t('{n} ms', { n: Math.round(ms) });
  const seconds = ms / 1000;
  if (seconds < 10) return t('{n} s', { n: seconds.toFixed(1) });
  if (seconds < MINUTE) return t('{n} s', { n: Math.round(seconds) });
  const rest = Math.floor(seconds % MINUTE);
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}:${String(rest).padStart(2, '0')}`;
  return t('{h} h {m} min', { h: Math.floor(seconds / HOUR), m: Math.floor((seconds % HOUR) / MINUTE) });
}

export function formatCount(count: number): string {
  if (count < 10_000) return count.toLocaleString();
  return count.toLocaleString(undefined, { notation: 'compact', maximumFractionDigits: 1 });
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}
