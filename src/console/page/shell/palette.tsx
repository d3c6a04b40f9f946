import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { useAllAgents, useCaller, useSessions } from '../data/queries.ts';
import { changeSettings } from '../data/settings.ts';
import type { Session } from '../data/types.ts';
import { useSettled } from '../data/use-settled.ts';
import { t } from '../i18n/t.ts';
import { Dialog } from '../parts/dialog.tsx';
import { listPlaces } from './navigation.ts';
import { signOut } from './sign-in.tsx';

type Command = { id: string; text: string; note: string; run: () => void };
const MAX_SHOWN = 12;
const MAX_QUERY = 200;

function dropDoubles(sessions: readonly Session[]): Session[] {
  return [...new Map(sessions.map((session) => [session.id, session])).values()];
}

/** Pages, agents, settings, and the sessions that are recent or match the text. */
function useCommands(text: string, onClose: () => void): Command[] {
  const navigate = useNavigate();
  const { data: caller } = useCaller();
  const agents = useAllAgents();
  const recent = useSessions({});
  const matching = useSessions({ q: useSettled(text.trim()).slice(0, MAX_QUERY) });
  return useMemo(() => {
    const then = (run: () => unknown) => () => {
      onClose();
      void run();
    };
    const places = listPlaces(caller).map(({ to, name, chord }) => ({
      id: to,
      text: t(name),
      note: `g ${chord}`,
      run: then(() => navigate({ to })),
    }));
    const found = agents.map((agent) => ({
      id: agent.id,
      text: agent.name,
      note: t('agent'),
      run: then(() => navigate({ to: '/agents/$agentId', params: { agentId: agent.id } })),
    }));
    const pages = [...(recent.data?.pages ?? []), ...(matching.data?.pages ?? [])];
    const sessions = dropDoubles(pages.flatMap(({ data }) => data)).map((session) => ({
      id: session.id,
      text: session.title ?? session.id,
      note: `${t('session')} · ${session.subjectId}`,
      run: then(() => navigate({ to: '/sessions/$sessionId', params: { sessionId: session.id } })),
    }));
    const others = [
      { id: 'light', text: t('Light theme'), note: '', run: then(() => changeSettings({ theme: 'light' })) },
      { id: 'dark', text: t('Dark theme'), note: '', run: then(() => changeSettings({ theme: 'dark' })) },
      { id: 'sign-out', text: t('Sign out'), note: '', run: then(signOut) },
    ];
    return [...places, ...found, ...sessions, ...others];
  }, [caller, agents, recent.data, matching.data, navigate, onClose]);
}

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const commands = useCommands(text, onClose);
  const [selected, setSelected] = useState(0);
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const shown = commands
    .filter((command) =>
      words.every((word) => `${command.text} ${command.note} ${command.id}`.toLowerCase().includes(word)),
    )
    .slice(0, MAX_SHOWN);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setSelected((selected + step + shown.length) % Math.max(1, shown.length));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      shown[selected]?.run();
    }
  };
  return (
    <Dialog title={t('Go to')} onClose={onClose} className="palette">
      <input
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown[selected] === undefined ? undefined : `palette-${selected}`}
        aria-label={t('Search pages, agents and sessions')}
        placeholder={t('Search pages, agents and sessions')}
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setSelected(0);
        }}
      />
      <ul id="palette-list" role="listbox" aria-label={t('Results')}>
        {shown.map((command, index) => (
          <li
            key={command.id}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === selected}
            onClick={command.run}
            onPointerMove={() => setSelected(index)}
          >
            <span>{command.text}</span>
            <span className="meta">{command.note}</span>
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p className="meta">{t('Nothing found.')}</p> : null}
    </Dialog>
  );
}
