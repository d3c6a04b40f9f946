import { t } from '../i18n/t.ts';
import { Dialog } from '../parts/dialog.tsx';
import { NAVIGATION_ITEMS } from './navigation.ts';

const KEYS: readonly (readonly [keys: string, meaning: string])[] = [
  ['Ctrl K', 'Go to a page, an agent or a session'],
  ['/', 'Search'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['a s A', 'Inbox: allow once, for the session, always'],
  ['d', 'Inbox: deny with a reason'],
  ['1 – 9', 'Inbox: answer a question'],
  ['e', 'Inbox: open the session'],
  ['[ ]', 'Session: previous and next turn'],
  ['x', 'Session: next error'],
  ['o', 'Session: expand the row'],
  ['.', 'Session: interrupt'],
  ['?', 'This list'],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t('Keyboard')} onClose={onClose}>
      <table className="keys-table">
        <tbody>
          {NAVIGATION_ITEMS.map(({ to, name, chord }) => (
            <tr key={to}>
              <td>
                <kbd>g</kbd> <kbd>{chord}</kbd>
              </td>
              <td>{t(name)}</td>
            </tr>
          ))}
          {KEYS.map(([keys, meaning]) => (
            <tr key={keys}>
              <td>
                <kbd>{keys}</kbd>
              </td>
              <td>{t(meaning)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="meta">{t('Single keys can be switched off in the settings.')}</p>
    </Dialog>
  );
}
