import { buildStore } from './store.ts';

export type Settings = {
  theme: 'system' | 'light' | 'dark';
  density: 'compact' | 'normal';
  /** an IANA name, or empty for the browser's */
  timeZone: string;
  /** single keys; Ctrl-K works always */
  shortcuts: boolean;
};

const KEY = 'capstan.settings';
const DEFAULTS: Settings = { theme: 'system', density: 'normal', timeZone: '', shortcuts: true };

function read(): Settings {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>;
    return { ...DEFAULTS, ...stored };
  } catch {
    return DEFAULTS;
  }
}

export const settings = buildStore(read());

/** The style sheet selects colours and row heights by these attributes. */
export function applySettings(): void {
  const { theme, density } = settings.get();
  const { dataset } = document.documentElement;
  dataset['theme'] = theme;
  dataset['density'] = density;
}

export function changeSettings(change: Partial<Settings>): void {
  const next = { ...settings.get(), ...change };
  settings.set(next);
  localStorage.setItem(KEY, JSON.stringify(next));
  applySettings();
}
