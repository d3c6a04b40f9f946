import { useCaller } from '../data/queries.ts';
import { changeSettings, settings } from '../data/settings.ts';
import type { Settings } from '../data/settings.ts';
import { useStore } from '../data/store.ts';
import { t } from '../i18n/t.ts';
import { Copy } from '../parts/copy.tsx';
import { Choice } from '../parts/field.tsx';
import { FactList } from '../parts/facts.tsx';

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')];

function Identity() {
  const { data } = useCaller();
  if (data === undefined) return null;
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    [t('Organization'), data.organization],
    [t('Signed in as'), data.user?.name ?? data.user?.email ?? (data.keyId === null ? '' : <Copy text={data.keyId} />)],
    [t('May'), data.scopes.join(', ')],
    [t('Requests a minute'), data.requestsPerMinute.toLocaleString()],
    [t('Server version'), data.version],
  ];
  return <FactList facts={facts} isWide />;
}

/** Preferences, stored only in this browser. */
export function SettingsPage() {
  const current = useStore(settings);
  return (
    <div className="page page-narrow">
      <header className="page-head">
        <h1>{t('Settings')}</h1>
      </header>
      <Choice
        label={t('Theme')}
        value={current.theme}
        options={[
          ['system', t('As the system')],
          ['light', t('Light')],
          ['dark', t('Dark')],
        ]}
        onChange={(theme) => changeSettings({ theme: theme as Settings['theme'] })}
      />
      <Choice
        label={t('Rows')}
        value={current.density}
        options={[
          ['normal', t('Normal')],
          ['compact', t('Compact')],
        ]}
        onChange={(density) => changeSettings({ density: density as Settings['density'] })}
      />
      <Choice
        label={t('Time zone')}
        value={current.timeZone}
        options={[['', t('As the browser')], ...ZONES.map((zone) => [zone, zone] as const)]}
        onChange={(timeZone) => changeSettings({ timeZone })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={current.shortcuts}
          onChange={(event) => changeSettings({ shortcuts: event.target.checked })}
        />
        {t('Single-key shortcuts')}
      </label>
      <h2>{t('Signed in')}</h2>
      <Identity />
    </div>
  );
}
