import { t } from '../i18n/t.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

type Props = {
  title: string;
  text: string;
  action: string;
  isDanger?: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

export function Confirm({ title, text, action, isDanger = false, onConfirm, onClose }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div className="dialog-foot">
        <Button onClick={onClose}>{t('Cancel')}</Button>
        <Button
          kind={isDanger ? 'danger' : 'primary'}
          autoFocus
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
